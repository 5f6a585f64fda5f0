package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Times of a submission.
const (
	refusedSoon = 250 * time.Millisecond // when the server will have said that we may not
	fullPause   = 50 * time.Millisecond  // the first pause when the reducer takes no more
	maxPause    = 10 * time.Second
)

// submission is one command under way.
type submission struct {
	client  *Client
	command Command
	subject schema.Subject
	body    []byte
	way     Way
	pending *exchange.Pending
	failed  error // it was not sent
	sent    int   // how often it was sent again
	patient bool  // wait also for a reducer that is not there yet
	turned  bool  // the other way was tried
	untaken bool  // the last sending was answered: it was not taken
}

func (c *Client) prepare(command Command) (*submission, error) {
	if command.Principal == "" {
		command.Principal = c.o.Principal
	}
	if command.ID == "" {
		command.ID = c.o.NewID()
	}
	s := &submission{client: c, command: command}
	switch {
	case command.Body == nil:
		return s, errors.New("submit: a command without a body")
	case !schema.ValidID(command.Contract):
		return s, fmt.Errorf("submit: the contract %q is no id", command.Contract)
	case !schema.ValidID(command.Principal):
		return s, fmt.Errorf("submit: the principal %q is no id", command.Principal)
	case !schema.ValidCommandID(command.ID):
		return s, fmt.Errorf("submit: the command id %q is not 1 to 128 visible ASCII characters that do not begin with seq-", command.ID)
	}
	s.body = schema.AppendRecord(nil, command.Body)
	if len(s.body) > schema.MaxBody {
		return s, fmt.Errorf("submit: the body has %d bytes, the limit is %d", len(s.body), schema.MaxBody)
	}
	s.subject = schema.Subject{Contract: command.Contract, Principal: command.Principal, Type: command.Body.Type()}
	return s, nil
}

// begin sends a command. Of a client that does not know its way yet, it waits
// until the server must have said whether this user may use the stream.
func (c *Client) begin(command Command) *submission {
	s, err := c.prepare(command)
	if err == nil {
		s.way = c.way()
		s.failed = s.send()
		if s.way == AnyWay {
			s.findWay()
		}
		return s
	}
	s.failed = err
	return s
}

// send prepares the command for its way at first.
func (s *submission) send() error {
	if s.pending == nil {
		subject, prepare := s.subject.String(), s.client.out.Prepare
		if s.way == Service {
			subject, prepare = wire.SubmitSubject(s.subject), s.client.out.PrepareSubmit
		}
		s.pending = prepare(subject, []string{s.command.ID}, s.body)
	}
	return s.pending.Send()
}

// findWay: a refusal comes before the answer to what is sent after it.
func (s *submission) findWay() {
	if s.failed != nil || s.client.nc.FlushTimeout(s.client.o.Request) != nil {
		return
	}
	if s.pending.Refusal() != nil {
		s.failed = s.turn()
		return
	}
	s.client.found.CompareAndSwap(int32(AnyWay), int32(Streams))
}

// turn sends the command the other way: it is decided once under its id.
func (s *submission) turn() error {
	s.pending.Forget()
	s.pending, s.turned = nil, true
	if s.way == Service {
		s.way = Streams
	} else {
		s.way = Service
	}
	return s.send()
}

func (s *submission) result(ctx context.Context) (Decision, error) {
	if s.failed != nil {
		return Decision{}, s.failed
	}
	return s.await(ctx)
}

func (s *submission) forget() {
	if s.pending != nil {
		s.pending.Forget()
	}
}

func (s *submission) uncertain(err error) error { return &Uncertain{Command: s.command, Err: err} }

// await waits for the decision of a command that was sent.
func (s *submission) await(ctx context.Context) (Decision, error) {
	refused := time.NewTicker(refusedSoon)
	defer refused.Stop()
	pause, full := s.client.o.Resend, fullPause
	again := time.NewTimer(pause)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return Decision{}, s.uncertain(ctx.Err())
		case <-refused.C:
			if err := s.refused(); err != nil {
				return Decision{}, err
			}
		case a := <-s.pending.Answers:
			if a.Record != nil {
				s.arrived()
				return s.decided(ctx, a.Record, a.Final)
			}
			if a.Err == nil {
				continue
			}
			wait, err := s.untook(a.Err)
			if err != nil {
				return Decision{}, err
			}
			if wait {
				again.Reset(jitter(full))
				full = min(2*full, maxPause)
			}
		case <-again.C:
			if d, ok := s.lookup(ctx); ok {
				return s.judge(d)
			}
			if err := s.send(); err != nil {
				return Decision{}, s.uncertain(err)
			}
			s.sent++
			again.Reset(pause)
			pause = min(2*pause, maxPause)
		}
	}
}

// refused looks whether the server does not let this user send the command, and
// turns to the other way once.
func (s *submission) refused() error {
	refusal := s.pending.Refusal()
	switch {
	case refusal == nil:
		return nil
	case s.client.o.Way == AnyWay && !s.turned:
		return s.turn()
	}
	return fmt.Errorf("%w: %w", ErrNotPermitted, refusal)
}

// arrived notes by which way a command of this user was decided.
func (s *submission) arrived() {
	if s.client.o.Way == AnyWay && s.turned {
		s.client.found.Store(int32(s.way))
	}
}

// untook judges why a command was not taken. wait says that it is to be sent
// again after a pause.
func (s *submission) untook(why error) (wait bool, err error) {
	var e *wire.Error
	service := errors.As(why, &e)
	switch {
	case errors.Is(why, exchange.ErrFull), service && e.Code.Temporary():
		s.untaken = !service || e.Code != wire.Timeout
		return true, nil
	case nobody(why) && (s.patient || s.sent > 0): // it is coming, or coming back
		return false, nil
	}
	return false, fmt.Errorf("submit to %s: %w", s.subject, s.client.explain(why))
}

func nobody(err error) bool {
	return errors.Is(err, exchange.ErrNoInbox) || errors.Is(err, exchange.ErrNoService)
}

// lookup finds the decision that was made meanwhile. One about another body
// under the same id is not ours: sending again brings the refusal.
func (s *submission) lookup(ctx context.Context) (Decision, bool) {
	if s.untaken {
		s.untaken = false
		return Decision{}, false
	}
	d, err := s.client.Lookup(ctx, s.command.Contract, s.command.Principal, s.command.ID)
	if err != nil {
		return d, false
	}
	hash := sha256.Sum256(s.body)
	return d, d.BodyHash == hex.EncodeToString(hash[:])
}

func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// decided reads a decision record. For a duplicate it gets the decision that
// it repeats.
func (s *submission) decided(ctx context.Context, record []byte, final bool) (Decision, error) {
	d, err := events.ParseDecision(record)
	if err != nil {
		return Decision{}, s.uncertain(err)
	}
	decision := Decision{Decision: d, Final: final}
	if d.Outcome == events.OutcomeDuplicate {
		if first, err := s.client.Decision(ctx, s.command.Contract, d.Of); err == nil {
			decision = first
		}
		decision.Repeated = true
	}
	return s.judge(decision)
}

func (s *submission) judge(d Decision) (Decision, error) {
	if d.Accepted() {
		return d, nil
	}
	return d, &Rejection{Decision: d}
}
