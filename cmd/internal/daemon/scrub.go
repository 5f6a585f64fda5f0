package daemon

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Times of the scrub.
const (
	scrubEvery = 24 * time.Hour
	scrubRetry = time.Second // after a failure, and before a fault is believed; longer after each more
	scrubLater = 10 * time.Minute
)

// scrubber reads the log, and all that is derived from it, again and again,
// slowly: a disk may forget what nobody reads, and a server passes over a damaged
// message without a word. A log that is found damaged is not extended any further
// (DESIGN 3); what is derived is made again.
type scrubber struct {
	parts []*part // one after the other
	retry time.Duration
	log   *slog.Logger

	mu    sync.Mutex
	fault error
}

// part is something that is read through by itself.
type part struct {
	name string
	// check reads all of it. mended is how often it found something that is made
	// again; a nil error says that by its end all was in order.
	check func(ctx context.Context) (mended int, err error)

	due      time.Time
	failures int // since it was found in order

	mu     sync.Mutex
	passed time.Time // when it was last found in order
	mended int
}

// errNotYet: something is being made, so there is nothing to check yet.
var errNotYet = errors.New("it is being made")

// run scrubs until ctx ends or the log is found damaged.
func (s *scrubber) run(ctx context.Context) error {
	for {
		next := s.next()
		wait(ctx, time.Until(next.due))
		if ctx.Err() != nil {
			return nil
		}
		err := s.pass(ctx, next)
		if errors.Is(err, loop.ErrIntegrity) {
			s.found(err)
			return nil
		}
	}
}

// next is the part that is due first.
func (s *scrubber) next() *part {
	first := s.parts[0]
	for _, p := range s.parts[1:] {
		if p.due.Before(first.due) {
			first = p
		}
	}
	return first
}

// pass checks a part, and says when it is due again.
func (s *scrubber) pass(ctx context.Context, p *part) error {
	mended, err := p.check(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if p.ended(mended, err) {
		s.log.Info("all of it was read and is in order", "what", p.name)
	}
	switch {
	case err == nil:
		p.failures, p.due = 0, time.Now().Add(scrubEvery)
		return nil
	case !errors.Is(err, errNotYet) && !errors.Is(err, loop.ErrIntegrity):
		s.log.Warn("reading it through did not come to its end; it is tried again", "what", p.name, "error", err)
	}
	p.due = time.Now().Add(min(s.retry<<min(p.failures, 20), scrubLater))
	p.failures++
	return err
}

// ended keeps how a check ended, and says whether it is the first in order.
func (p *part) ended(mended int, err error) (first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mended += mended
	if err != nil {
		return false
	}
	first, p.passed = p.passed.IsZero(), time.Now()
	return first
}

// lastPassed is when all of it was last found in order; zero is not yet.
func (p *part) lastPassed() (at time.Time, mended int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.passed, p.mended
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

// status tells when each part was last found in order.
func (s *scrubber) status(block uint64) *wire.ScrubStatus {
	answer := &wire.ScrubStatus{Block: block}
	texts := map[string]*string{partLog: &answer.Passed, partArchive: &answer.Archive, partStore: &answer.Store, partMirror: &answer.Mirror}
	for _, p := range s.parts {
		if at, _ := p.lastPassed(); !at.IsZero() {
			*texts[p.name] = at.UTC().Format(time.RFC3339)
		}
	}
	return answer
}

// wait waits for a while, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
