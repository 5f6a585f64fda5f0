package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Command is one command to be decided.
type Command struct {
	Contract  string
	Principal string // Options.Principal when empty
	ID        string // a new one when empty
	Body      schema.Command
}

// Decision is the one decision of a command, as the log has it.
type Decision struct {
	*events.Decision
	// Final is false where the same id may be decided again: the ledger was not
	// open.
	Final bool
	// Repeated says that the command was decided before under its id, and this
	// is that decision; or, where that could not be read, the duplicate.
	Repeated bool
}

// String tells the decision in a line.
func (d Decision) String() string {
	if d.Decision == nil {
		return "no decision"
	}
	return d.Decision.String()
}

// Accepted says whether the command was accepted, now or before.
func (d Decision) Accepted() bool {
	return d.Outcome == events.OutcomeAccepted || d.Outcome == events.OutcomeDuplicate && d.OfOutcome == events.OutcomeAccepted
}

// RejectionCode is the code of a rejection, made now or before, or "".
func (d Decision) RejectionCode() events.Code {
	if d.Outcome == events.OutcomeDuplicate {
		return d.OfCode
	}
	return d.Code
}

// Times of a submission.
const (
	refusedSoon = 250 * time.Millisecond // when the server will have said that we may not
	fullPause   = 50 * time.Millisecond  // the first pause when the inbox is full
	maxPause    = 10 * time.Second
)

// Submit publishes a command and waits for its decision, which is durable when
// it comes. It sends the command again, under its id, when nothing comes and
// when the inbox is full, until ctx ends. The error of a command that was
// refused is a *[Rejection]; of one whose fate is not known, an *[Uncertain].
func (c *Client) Submit(ctx context.Context, command Command) (Decision, error) {
	s := c.begin(command)
	defer s.forget()
	return s.result(ctx)
}

// submitPatiently is Submit of a command that must be recorded: it waits also
// for a reducer that is not there yet.
func (c *Client) submitPatiently(ctx context.Context, command Command) (Decision, error) {
	s := c.begin(command)
	defer s.forget()
	s.patient = true
	return s.result(ctx)
}

// SubmitAll submits commands in order, with at most inFlight of them without a
// decision at a time, and gives what Submit would, in order. A rejection ends
// nothing; breaking off the loop, or the end of ctx, does. The commands are
// decided in their order, except that one which had to be sent again may come
// after its followers.
func (c *Client) SubmitAll(ctx context.Context, commands iter.Seq[Command], inFlight int) iter.Seq2[Decision, error] {
	return func(yield func(Decision, error) bool) {
		next, stop := iter.Pull(commands)
		defer stop()
		var window []*submission
		defer func() {
			for _, s := range window {
				s.forget()
			}
		}()
		for more := true; ; {
			for more && len(window) < max(inFlight, 1) && ctx.Err() == nil {
				var command Command
				if command, more = next(); more {
					window = append(window, c.begin(command))
				}
			}
			if len(window) == 0 {
				return
			}
			d, err := window[0].result(ctx)
			window[0].forget()
			window = window[1:]
			if !yield(d, err) {
				return
			}
		}
	}
}

// submission is one command under way.
type submission struct {
	client  *Client
	command Command
	subject schema.Subject
	body    []byte
	pending *exchange.Pending
	failed  error // it was not sent
	sent    int   // how often it was sent again
	patient bool  // wait also for a reducer that is not there yet
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
	if !c.o.ThroughService {
		s.pending = c.out.Prepare(s.subject.String(), []string{command.ID}, s.body)
	}
	return s, nil
}

// begin sends a command. Through the service there is nothing to send ahead:
// each command waits for its turn.
func (c *Client) begin(command Command) *submission {
	s, err := c.prepare(command)
	if err == nil && s.pending != nil {
		err = s.pending.Send()
	}
	s.failed = err
	return s
}

func (s *submission) result(ctx context.Context) (Decision, error) {
	switch {
	case s.failed != nil:
		return Decision{}, s.failed
	case s.pending == nil:
		return s.throughService(ctx)
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
			if err := s.pending.Refusal(); err != nil {
				return Decision{}, fmt.Errorf("%w: %w", ErrNotPermitted, err)
			}
		case a := <-s.pending.Answers:
			switch {
			case a.Record != nil:
				return s.decided(ctx, a.Record, a.Final)
			case errors.Is(a.Err, exchange.ErrFull):
				again.Reset(jitter(full))
				full = min(2*full, maxPause)
			case errors.Is(a.Err, exchange.ErrNoInbox) && (s.patient || s.sent > 0): // it is coming, or coming back
			case a.Err != nil:
				return Decision{}, fmt.Errorf("submit to %s: %w", s.subject, s.client.explain(a.Err))
			}
		case <-again.C:
			if d, ok := s.lookup(ctx); ok {
				return s.judge(d)
			}
			if err := s.pending.Send(); err != nil {
				return Decision{}, s.uncertain(err)
			}
			s.sent++
			again.Reset(pause)
			pause = min(2*pause, maxPause)
		}
	}
}

// lookup finds the decision that was made meanwhile. One about another body
// under the same id is not ours: sending again brings the refusal.
func (s *submission) lookup(ctx context.Context) (Decision, bool) {
	d, err := s.client.Lookup(ctx, s.command.Contract, s.command.Principal, s.command.ID)
	if err != nil {
		return d, false
	}
	hash := sha256.Sum256(s.body)
	return d, d.BodyHash == hex.EncodeToString(hash[:])
}

func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d) }

// throughService sends the command to the micro service.
func (s *submission) throughService(ctx context.Context) (Decision, error) {
	m := &nats.Msg{
		Subject: wire.SubmitSubject(s.subject), Data: s.body,
		Header: nats.Header{wire.HeaderCommandID: {s.command.ID}},
	}
	for pause := fullPause; ; pause = min(2*pause, maxPause) {
		answer, err := s.request(ctx, m)
		if err == nil {
			return s.decided(ctx, answer.Data, answer.Header.Get(wire.HeaderFinal) != "false")
		}
		switch {
		case ctx.Err() != nil:
			return Decision{}, s.uncertain(ctx.Err())
		case !s.mayHelp(err):
			return Decision{}, fmt.Errorf("submit to %s: %w", m.Subject, s.client.explain(err))
		}
		s.sent++
		select {
		case <-ctx.Done():
			return Decision{}, s.uncertain(ctx.Err())
		case <-time.After(jitter(pause)):
		}
	}
}

// serviceWait is more than the service itself waits for a decision.
const serviceWait = 15 * time.Second

func (s *submission) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, serviceWait)
	defer cancel()
	answer, err := s.client.request(ctx, m)
	if err != nil {
		return nil, err
	}
	return answer, serviceError(answer)
}

// mayHelp says whether sending again can help after err.
func (s *submission) mayHelp(err error) bool {
	var e *wire.Error
	switch {
	case errors.As(err, &e):
		return e.Code.Temporary()
	case errors.Is(err, nats.ErrNoResponders):
		return s.patient || s.sent > 0
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout)
}

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

// Lookup returns the decision of a command id. That it is not found
// (ErrNotFound) is never final: the command may still wait.
func (c *Client) Lookup(ctx context.Context, contract, principal, id string) (Decision, error) {
	return c.lookup(ctx, contract, wire.DecisionRequest{Principal: principal, CommandID: id})
}

// Decision returns the decision of a command by its sequence.
func (c *Client) Decision(ctx context.Context, contract string, commandSeq uint64) (Decision, error) {
	return c.lookup(ctx, contract, wire.DecisionRequest{CommandSeq: commandSeq})
}

func (c *Client) lookup(ctx context.Context, contract string, request wire.DecisionRequest) (Decision, error) {
	var answer wire.DecisionResponse
	if err := c.ask(ctx, wire.Decision, contract, request, &answer); err != nil {
		return Decision{}, notFound(err)
	}
	d, err := events.ParseDecision(answer.Record)
	return Decision{Decision: d, Final: answer.Final}, err
}
