package daemon

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// logScrub reads the log through and checks that its blocks are whole and
// chained, up to the one that the store was folded from. It goes on where it was
// interrupted.
type logScrub struct {
	open  func(ctx context.Context) (loop.Log, func(), error)
	end   func() (state.Cursor, error) // a block that is on the log
	read  func(ctx context.Context, bytes int) error
	retry time.Duration

	before audit.Chain // before the last block of chain

	mu    sync.Mutex
	chain audit.Chain
}

// check reads from where the last one was interrupted to the end.
func (s *logScrub) check(ctx context.Context) (mended int, err error) { return 0, s.pass(ctx) }

func (s *logScrub) pass(ctx context.Context) error {
	log, closeLog, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer closeLog()
	end, err := s.end()
	if err != nil {
		return err
	}
	for {
		err := s.follow(ctx, log, end)
		if err == nil {
			break
		}
		if !errors.Is(err, loop.ErrIntegrity) {
			return err
		}
		if s.at().Seq >= end.LogSeq {
			return err // all was read, and it is another log than the store was folded from
		}
		if err := s.confirm(ctx, log, err); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.chain = audit.Chain{}, audit.Chain{}
	return nil
}

// errRead ends the reading behind the last block wanted.
var errRead = errors.New("read")

func (s *logScrub) follow(ctx context.Context, log loop.Log, end state.Cursor) error {
	chain := s.at()
	err := log.Read(ctx, chain.Seq+1, func(seq uint64, data []byte) error {
		if seq > end.LogSeq {
			return errRead
		}
		if err := chain.Next(seq, data); err != nil {
			return err
		}
		s.set(chain)
		return s.read(ctx, len(data))
	})
	if err != nil && !errors.Is(err, errRead) {
		return err
	}
	return chain.Ends(end.LogSeq, end.BlockHash)
}

// confirm asks the leader for the block that was not in order, and for the one
// before, whose hash it may not fit: what was lost on the way is not damage. A
// nil error has moved the chain on.
func (s *logScrub) confirm(ctx context.Context, log loop.Log, fault error) error {
	for range 2 {
		wait(ctx, s.retry)
		chain, until := s.before, s.at().Seq+1
		for chain.Seq < until {
			data, err := log.Get(ctx, chain.Seq+1)
			if err != nil && !errors.Is(err, loop.ErrAbsent) {
				return err
			}
			if err != nil || chain.Next(chain.Seq+1, data) != nil {
				break
			}
		}
		if chain.Seq == until {
			s.set(chain)
			return nil
		}
	}
	return fault
}

func (s *logScrub) at() audit.Chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chain
}

func (s *logScrub) set(c audit.Chain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.chain = s.chain, c
}
