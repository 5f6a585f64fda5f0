package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// maxSubmitted is how many commands are without a decision at a time: half of
// what the service takes of one principal, so that sending again stays below it.
const maxSubmitted = 32

// submitter sends commands as requests to the micro service, for a user that may
// not publish into the stream. Each has its decision before its flush returns.
//
// The service keeps the order of what it takes within a queue. So commands of
// another queue wait for those before them, and when the service took one not,
// the next go one at a time.
type submitter struct {
	*publisher
	out   *exchange.Exchange
	print *printer // nil: decisions are not shown

	waiting []*submitted // in the order of the file
	lives   uint64       // of the connection, when all that waits was sent
	most    int          // that may wait
	calm    int          // decided since the service last took one not
	last    uint64       // commandSeq of the last decision
	sent    int

	rejected int
	told     bool // it was said that the service takes no more
	passed   bool // it was said that the order was not kept
}

// submitted is a command that was sent to the service.
type submitted struct {
	*command
	queue   string
	pending *exchange.Pending
}

func newSubmitter(p *publisher, print *printer) (*submitter, error) {
	out, err := exchange.New(p.conn)
	if err != nil {
		return nil, err
	}
	return &submitter{publisher: p, out: out, print: print, most: maxSubmitted, lives: p.lives.Load()}, nil
}

// send implements [sender]. The first command goes alone, so that nothing else is
// sent where nobody answers.
func (s *submitter) send(ctx context.Context, command *command) error {
	subject, ok := wire.SubmitFor(command.Subject)
	if !ok {
		return fmt.Errorf("line %d: the subject %q cannot be submitted; it can be published into the stream, by who may", command.Line, command.Subject)
	}
	parsed, _ := schema.ParseSubject(command.Subject)
	next := &submitted{command: command, queue: wire.SubmitQueue(parsed.Type), pending: s.out.PrepareSubmit(subject, command.IDs, command.Body)}
	for len(s.waiting) >= s.most || len(s.waiting) > 0 && s.waiting[0].queue != next.queue {
		if err := s.take(ctx); err != nil {
			return err
		}
	}
	s.waiting = append(s.waiting, next)
	s.sent++
	if err := next.pending.Send(); err != nil && !s.temporary(command.Subject, err) {
		return fmt.Errorf("line %d: %w", command.Line, err)
	}
	if !s.met {
		return s.take(ctx)
	}
	return nil
}

// flush implements [sender].
func (s *submitter) flush(ctx context.Context) error {
	for len(s.waiting) > 0 {
		if err := s.take(ctx); err != nil {
			return err
		}
	}
	return nil
}

// finish implements [sender].
func (s *submitter) finish(ctx context.Context) error {
	if err := s.flush(ctx); err != nil {
		return err
	}
	return rejections(s.rejected, s.sent)
}

// take waits for the decision of the first command that has none, and sends it
// again as often as it takes.
func (s *submitter) take(ctx context.Context) error {
	head := s.waiting[0]
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	silence, refusals := firstSilence, 0
	again := time.NewTimer(silence)
	defer again.Stop()
	for heard := time.Now(); ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a := <-head.pending.Answers:
			if a.Record != nil {
				return s.decided(head, a)
			}
			if err := s.refused(head, a.Err); err != nil {
				return err
			}
			if !errors.Is(a.Err, exchange.ErrNoService) {
				heard = time.Now()
			}
			again.Reset(backoff(refusals))
			refusals++
		case <-look.C:
			if err := head.pending.Refusal(); err != nil {
				return fmt.Errorf("line %d: publish to %s: %w", head.Line, head.Subject, err)
			}
			if time.Since(heard) >= s.timeout {
				return s.silent(head)
			}
			if err := s.sendLost(); err != nil {
				return err
			}
		case <-again.C:
			if err := head.pending.Send(); err != nil && !s.temporary(head.Subject, err) {
				return fmt.Errorf("line %d: %w", head.Line, err)
			}
			again.Reset(silence)
			silence *= 2
		}
	}
}

func (s *submitter) silent(head *submitted) error {
	return fmt.Errorf("no decision within %s for line %d and %d more; send the file again, the same ids are decided once",
		s.timeout, head.Line, len(s.waiting)-1)
}

// sendLost sends all that waits again, in its order, when the connection was made
// again: what was under way is lost.
func (s *submitter) sendLost() error {
	lives := s.publisher.lives.Load()
	if lives == s.lives {
		return nil
	}
	s.lives = lives
	for _, w := range s.waiting {
		if err := w.pending.Send(); err != nil && !s.temporary(w.Subject, err) {
			return fmt.Errorf("line %d: again: %w", w.Line, err)
		}
	}
	return nil
}

// refused judges why a command was not decided: nil where it may be, sent again.
func (s *submitter) refused(head *submitted, err error) error {
	var e *wire.Error
	switch {
	case errors.As(err, &e) && e.Code.Temporary():
		s.most, s.calm = 1, 0
		if !s.told {
			s.told = true
			fmt.Fprintf(s.stderr, "ingest: the reducer takes no more now, waiting (%v)\n", err)
		}
		return nil
	case errors.Is(err, exchange.ErrNoService) && s.met:
		return nil // it is coming back
	case errors.Is(err, exchange.ErrNoService):
		return s.flags.Explain(fmt.Errorf("%w: %w", nats.ErrNoResponders, err), "")
	}
	return fmt.Errorf("line %d: %w", head.Line, err)
}

// decided takes the decision of the first command.
func (s *submitter) decided(head *submitted, a exchange.Answer) error {
	head.pending.Forget()
	s.waiting = s.waiting[1:]
	s.met = true
	s.published++
	if s.calm++; s.calm >= maxSubmitted {
		s.most, s.calm = min(2*s.most, maxSubmitted), 0
	}
	d, err := events.ParseDecision(a.Record)
	if err != nil {
		return fmt.Errorf("line %d: %w", head.Line, err)
	}
	if d.CommandSeq < s.last && !s.passed {
		s.passed = true
		fmt.Fprintf(s.stderr, "ingest: line %d was decided before lines that stand before it: the reducer had not taken those\n", head.Line)
	}
	s.last = max(s.last, d.CommandSeq)
	if isRejection(d) {
		s.rejected++
	}
	if s.print == nil {
		return nil
	}
	return s.print.decision(head.Line, d, a.Record, a.Final)
}
