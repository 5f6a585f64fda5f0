package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/pace"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Times of the scrub.
const (
	scrubEvery = 24 * time.Hour
	scrubRetry = time.Second // after an error of the connection, and before a fault is believed
)

// scrubber reads the whole log again and again, slowly: a disk may forget what
// nobody reads, and a server passes over a damaged message without a word. A log
// that is found damaged is not extended any further (DESIGN 3).
type scrubber struct {
	rate  int64                                               // bytes a second
	open  func(ctx context.Context) (loop.Log, func(), error) // the log
	end   func() (state.Cursor, error)                        // a block that is on it
	retry time.Duration
	log   *slog.Logger

	before audit.Chain // before the last block of chain

	mu     sync.Mutex
	chain  audit.Chain
	passed time.Time
	fault  error
}

// run scrubs until ctx ends or the log is found damaged.
func (s *scrubber) run(ctx context.Context) error {
	for ctx.Err() == nil {
		pause := scrubEvery
		switch err := s.pass(ctx); {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, loop.ErrIntegrity):
			s.found(err)
			return nil
		case err != nil:
			s.log.Warn("reading the log through was interrupted", "block", s.at().Seq, "error", err)
			pause = s.retry
		}
		wait(ctx, pause)
	}
	return nil
}

// pass reads from where the last one was interrupted to the end.
func (s *scrubber) pass(ctx context.Context) error {
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
		err := s.read(ctx, log, end)
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
	if s.passed.IsZero() {
		s.log.Info("the whole log was read through and is in order", "blocks", s.chain.Seq)
	}
	s.before, s.chain, s.passed = audit.Chain{}, audit.Chain{}, time.Now()
	return nil
}

// errRead ends the reading behind the last block wanted.
var errRead = errors.New("read")

func (s *scrubber) read(ctx context.Context, log loop.Log, end state.Cursor) error {
	chain, pacer := s.at(), pace.New(s.rate)
	err := log.Read(ctx, chain.Seq+1, func(seq uint64, data []byte) error {
		if seq > end.LogSeq {
			return errRead
		}
		if err := chain.Next(seq, data); err != nil {
			return err
		}
		s.set(chain)
		return pacer.Wait(ctx, len(data))
	})
	if err != nil && !errors.Is(err, errRead) {
		return err
	}
	return chain.Ends(end.LogSeq, end.BlockHash)
}

// confirm asks the leader for the block that was not in order, and for the one
// before, whose hash it may not fit: what was lost on the way is not damage. A
// nil error has moved the chain on.
func (s *scrubber) confirm(ctx context.Context, log loop.Log, fault error) error {
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

func (s *scrubber) at() audit.Chain {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.chain
}

func (s *scrubber) set(c audit.Chain) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.chain = s.chain, c
}

func (s *scrubber) found(fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// Err is what is wrong with the log, or nil.
func (s *scrubber) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

func (s *scrubber) status() *wire.ScrubStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := &wire.ScrubStatus{Block: s.chain.Seq}
	if !s.passed.IsZero() {
		answer.Passed = s.passed.UTC().Format(time.RFC3339)
	}
	return answer
}

// passedAt is when the whole log was last found in order, in seconds since 1970;
// 0 is not yet.
func (s *scrubber) passedAt() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.passed.IsZero() {
		return 0
	}
	return float64(s.passed.UnixMilli()) / 1000
}

// wait waits for a while, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
