package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Adapter is what can do something in the world outside, such as a shop.
type Adapter interface {
	// Call does what the attempt's action says, once. It gives the attempt's id
	// to the other side where that takes a key against repetition. An error says
	// that it is not known what happened: so does the end of ctx, which Call
	// must heed.
	Call(ctx context.Context, a Attempt) (Report, error)
	// Reconcile finds out what became of a call that may have been made, and
	// does nothing else. It may report CONFIRMED_NOT_APPLIED only where the
	// effect can no longer happen: what was not seen yet is UNKNOWN. An error
	// says that it could not find out.
	Reconcile(ctx context.Context, a Attempt) (Report, error)
}

// Attempt is what an adapter acts on: what the log says, not what a command
// said.
type Attempt struct {
	Contract    string
	RunID       string
	OperationID string
	AttemptID   string
	NodeID      string
	Number      int64
	Subject     string
	State       string // before the call
	Amount      schema.Decimal
	Action      schema.Action
	Fingerprint string // of Action
}

// Report is what a call did: one of events.EffectApplied, EffectNotApplied and
// EffectUnknown, and what it cost.
type Report struct {
	Effect     string
	ActualCost schema.Decimal
}

// Dispatch asks for the one external call of an attempt.
type Dispatch struct {
	Contract string
	schema.Dispatch
}

// Outcome is what became of a dispatched attempt.
type Outcome struct {
	Attempt    Attempt
	Dispatched Decision // zero where nothing was dispatched here
	Called     bool     // the adapter was called, or asked
	Report     Report
	Settled    Decision // zero where nothing was settled
}

// Coordinator is the boundary to the outside: it lets a call happen at most
// once, and sees that what it did is recorded (RULES 6, dispatch and settle).
//
//  1. An adapter is called only when this very call's dispatch is known to be
//     accepted and durable: not after a time-out, a refusal, or a dispatch that
//     somebody else got.
//  2. What is not known is settled UNKNOWN: an error, a panic, a time-out.
//  3. Nothing is forgotten: an attempt that this process could not settle stays
//     DISPATCHED on the log, where Recover finds it.
//
// Fields must not change while it is used.
type Coordinator struct {
	Client *Client

	// Call bounds a call of the adapter; no bound but the context when 0.
	Call time.Duration
	// Delay bounds the time from sending the dispatch to calling the adapter, 30
	// s when 0. A call that would come later is not made: the attempt is
	// settled as not applied.
	Delay time.Duration
	// Settle bounds the recording of a report, also after the context has ended;
	// 1 min when 0.
	Settle time.Duration

	mu   sync.Mutex
	busy map[string]bool // attempts under way here
}

// Unsettled is the error of a report that could not be recorded. The attempt
// is still DISPATCHED, or UNKNOWN; Recover settles it, with what the adapter
// finds out then.
type Unsettled struct {
	Outcome Outcome
	Err     error
}

// Error names the attempt and what was to be recorded.
func (u *Unsettled) Error() string {
	return fmt.Sprintf("attempt %q: the report %s is not recorded: %v", u.Outcome.Attempt.AttemptID, u.Outcome.Report.Effect, u.Err)
}

// Unwrap returns why.
func (u *Unsettled) Unwrap() error { return u.Err }

// Dispatch sends dispatch, calls the adapter if and only if it may, and
// settles. The error is a *Rejection where the dispatch was refused and an
// *Uncertain where it is not known: nothing was called then, and Recover looks
// after the attempt. After a call it is what the adapter returned, a panic as
// an error too, or *Unsettled.
func (c *Coordinator) Dispatch(ctx context.Context, d Dispatch, adapter Adapter) (Outcome, error) {
	a, err := c.attempt(ctx, d.Contract, d.AttemptID)
	if err != nil {
		return Outcome{}, fmt.Errorf("dispatch: %w", err)
	}
	a.NodeID = d.NodeID
	out := Outcome{Attempt: a}
	if !c.begin(a) {
		return out, fmt.Errorf("dispatch: attempt %q is under way in this process", a.AttemptID)
	}
	defer c.end(a)
	began := time.Now()
	// A new id: a decision that repeats another one repeats one of this call.
	decision, err := c.Client.Submit(ctx, Command{Contract: d.Contract, ID: ulid.Make().String(), Body: &d.Dispatch})
	if err != nil {
		return out, fmt.Errorf("dispatch: %w", err)
	}
	if !dispatches(decision, a.AttemptID) {
		return out, fmt.Errorf("dispatch: %w", &Uncertain{
			Command: Command{Contract: d.Contract, Principal: decision.Principal, ID: decision.CommandID, Body: &d.Dispatch},
			Err:     errors.New("the accepted decision could not be read"),
		})
	}
	out.Dispatched = decision
	late := time.Since(began) > c.delay()
	if late || ctx.Err() != nil {
		out.Report = Report{Effect: events.EffectNotApplied} // nobody else may make the call, and this one does not
		return c.settle(ctx, out, fmt.Errorf("dispatch: attempt %q was not called: its dispatch took too long", a.AttemptID))
	}
	out.Called = true
	out.Report, err = c.guarded(ctx, adapter.Call, a)
	return c.settle(ctx, out, err)
}

// dispatches says whether the decision is the one that let the attempt go.
func dispatches(d Decision, attemptID string) bool {
	if d.Outcome != events.OutcomeAccepted {
		return false
	}
	for _, e := range d.Events {
		if e, ok := e.(*events.AttemptDispatched); ok && e.AttemptID == attemptID {
			return true
		}
	}
	return false
}

func (c *Coordinator) delay() time.Duration {
	if c.Delay == 0 {
		return 30 * time.Second
	}
	return c.Delay
}

func (c *Coordinator) begin(a Attempt) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := a.Contract + "\x00" + a.AttemptID
	if c.busy[key] {
		return false
	}
	if c.busy == nil {
		c.busy = map[string]bool{}
	}
	c.busy[key] = true
	return true
}

func (c *Coordinator) end(a Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, a.Contract+"\x00"+a.AttemptID)
}

// attempt reads an attempt and its operation's action.
func (c *Coordinator) attempt(ctx context.Context, contract, id string) (Attempt, error) {
	d, err := c.Client.Get(ctx, contract, "attempts", id)
	if err != nil {
		return Attempt{}, err
	}
	return c.complete(ctx, contract, d)
}

// attemptRow is what is read of a document of the projection attempts.
type attemptRow struct {
	Amount      string `json:"amount"`
	AttemptID   string `json:"attemptId"`
	Fingerprint string `json:"fingerprint"`
	NodeID      string `json:"nodeId"`
	Number      int64  `json:"number"`
	OperationID string `json:"operationId"`
	RunID       string `json:"runId"`
	State       string `json:"state"`
	Subject     string `json:"subject"`
}

// complete makes an attempt of its document: it adds the action of its
// operation, which must have the fingerprint that was admitted.
func (c *Coordinator) complete(ctx context.Context, contract string, d wire.Document) (Attempt, error) {
	var row attemptRow
	if err := json.Unmarshal(d.Row, &row); err != nil {
		return Attempt{}, fmt.Errorf("attempt %q: %w", d.Key, err)
	}
	a := Attempt{
		Contract: contract, RunID: row.RunID, OperationID: row.OperationID, AttemptID: row.AttemptID, NodeID: row.NodeID,
		Number: row.Number, Subject: row.Subject, State: row.State, Fingerprint: row.Fingerprint,
	}
	var err error
	if a.Amount, err = schema.ParseDecimal(row.Amount); err != nil {
		return a, fmt.Errorf("attempt %q: %w", d.Key, err)
	}
	a.Action, err = c.action(ctx, contract, a.OperationID)
	if err != nil {
		return a, fmt.Errorf("operation %q: %w", a.OperationID, err)
	}
	if got := schema.Fingerprint(&a.Action); got != a.Fingerprint {
		return a, fmt.Errorf("operation %q: its action has the fingerprint %s, admitted was %s", a.OperationID, got, a.Fingerprint)
	}
	return a, nil
}

// action reads the action of an operation, as it was admitted.
func (c *Coordinator) action(ctx context.Context, contract, operationID string) (action schema.Action, err error) {
	d, err := c.Client.Get(ctx, contract, "operations", operationID)
	if err != nil {
		return action, err
	}
	var operation struct {
		Action json.RawMessage `json:"action"`
	}
	if err := json.Unmarshal(d.Row, &operation); err != nil {
		return action, err
	}
	return action, schema.DecodeRecord(operation.Action, &action)
}

// guarded calls the adapter beside this goroutine, so that neither a panic nor
// a call that does not come back keeps the attempt from being settled.
func (c *Coordinator) guarded(ctx context.Context, f func(context.Context, Attempt) (Report, error), a Attempt) (Report, error) {
	if c.Call > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, c.Call)
		defer cancel()
	}
	type result struct {
		report Report
		err    error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		returned := false
		defer func() {
			if cause := recover(); cause != nil {
				r = result{err: fmt.Errorf("the adapter panicked: %v\n%s", cause, debug.Stack())}
			} else if !returned {
				r = result{err: errors.New("the adapter ended its goroutine")}
			}
			done <- r
		}()
		r.report, r.err = f(ctx, a)
		returned = true
	}()
	var r result
	select {
	case r = <-done:
	case <-ctx.Done():
		select {
		case r = <-done: // it came back at that moment
		default:
			r.err = fmt.Errorf("the adapter did not come back: %w", ctx.Err())
		}
	}
	return known(r.report, r.err)
}

// known makes a report UNKNOWN unless it is one.
func known(r Report, err error) (Report, error) {
	switch {
	case err != nil:
	case r.Effect == events.EffectApplied, r.Effect == events.EffectNotApplied, r.Effect == events.EffectUnknown:
		return r, nil
	default:
		err = fmt.Errorf("the adapter reports the effect %q, which there is not", r.Effect)
	}
	return Report{Effect: events.EffectUnknown, ActualCost: r.ActualCost}, err
}

// settle records the report. It goes on for a while after ctx has ended: what
// is known now may not be known later. cause is the error so far.
func (c *Coordinator) settle(ctx context.Context, out Outcome, cause error) (Outcome, error) {
	patience := c.Settle
	if patience == 0 {
		patience = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	command := Command{Contract: out.Attempt.Contract, Body: &schema.Settle{
		AttemptID: out.Attempt.AttemptID, Effect: out.Report.Effect, ActualCost: out.Report.ActualCost,
	}}
	decision, err := c.Client.submitPatiently(ctx, command)
	var refused *Rejection
	switch {
	case err == nil:
		out.Settled = decision
		return out, cause
	case errors.As(err, &refused) && refused.Code() == events.CodeAttemptSettled: // it is recorded already
		out.Settled = decision
		return out, cause
	}
	return out, errors.Join(cause, &Unsettled{Outcome: out, Err: err})
}
