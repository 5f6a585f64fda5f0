package client

import (
	"context"
	"iter"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
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

// Submit publishes a command and waits for its decision, which is durable when
// it comes. It sends the command again, under its id, when nothing comes and
// when the reducer takes no more, until ctx ends. The error of a command that was
// refused is a *[Rejection]; of one whose fate is not known, an *[Uncertain].
func (c *Client) Submit(ctx context.Context, command Command) (Decision, error) {
	return c.submit(ctx, command, false)
}

// submitPatiently is Submit of a command that must be recorded: it waits also
// for a reducer that is not there yet.
func (c *Client) submitPatiently(ctx context.Context, command Command) (Decision, error) {
	return c.submit(ctx, command, true)
}

func (c *Client) submit(ctx context.Context, command Command, patient bool) (Decision, error) {
	if c.way() == Service {
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			s, err := c.prepare(command)
			if err == nil {
				err = s.uncertain(ctx.Err())
			}
			return Decision{}, err
		}
	}
	s := c.begin(command)
	defer s.forget()
	s.patient = patient
	return s.result(ctx)
}

// Commands of one client that are under way through the service at a time: those
// of Submit, and those of a SubmitAll. Together they are fewer than the 64 that
// the service takes of a principal, some of them sent again.
const (
	serviceSlots  = 24
	serviceWindow = 24
)

// SubmitAll submits commands in order, with at most inFlight of them without a
// decision at a time (through the service 24), and gives what Submit would, in
// order. A rejection ends nothing; breaking off the loop, or the end of ctx,
// does. The commands are decided in their order, except that one which had to be
// sent again may come after its followers.
func (c *Client) SubmitAll(ctx context.Context, commands iter.Seq[Command], inFlight int) iter.Seq2[Decision, error] {
	return func(yield func(Decision, error) bool) {
		next, stop := iter.Pull(commands)
		defer stop()
		w := window{client: c, size: max(inFlight, 1)}
		defer w.forget()
		command, more := next()
		for {
			for more && ctx.Err() == nil && w.takes(&command) {
				w.out = append(w.out, c.begin(command))
				command, more = next()
			}
			if len(w.out) == 0 {
				return
			}
			d, err := w.out[0].result(ctx)
			w.out[0].forget()
			w.out = w.out[1:]
			if !yield(d, err) {
				return
			}
		}
	}
}

// window is the commands under way, in order.
type window struct {
	client *Client
	size   int
	out    []*submission
}

// takes says whether a command may be sent now. The service takes commands of one
// queue in order, not of several.
func (w *window) takes(command *Command) bool {
	if len(w.out) == 0 || command.Body == nil {
		return len(w.out) < w.size
	}
	if w.client.way() != Service {
		return len(w.out) < w.size
	}
	last := w.out[len(w.out)-1].command.Body
	return len(w.out) < min(w.size, serviceWindow) &&
		(last == nil || wire.SubmitQueue(last.Type()) == wire.SubmitQueue(command.Body.Type()))
}

func (w *window) forget() {
	for _, s := range w.out {
		s.forget()
	}
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
