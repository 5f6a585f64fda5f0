package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// settle records what a call did and cost (RULES 6). No gate but the attempt's
// own state: a reported fact is never refused for mission, run, deadline, grant
// or epoch, and never clipped.
func (q *question) settle(c *schema.Settle) ([]events.Event, *refusal) {
	attempt, ok := q.Attempt(q.contract, c.AttemptID)
	if !ok {
		return reject(refuse(events.CodeAttemptNotFound, "no attempt %q", c.AttemptID))
	}
	switch {
	case attempt.State == events.AttemptStatePrepared:
		return q.release(c, &attempt)
	case attempt.Called():
		return accept(q.settled(c, &attempt))
	}
	return q.dispute(c, &attempt)
}

// release gives back an attempt that was never called.
func (q *question) release(c *schema.Settle, attempt *state.Attempt) ([]events.Event, *refusal) {
	if c.Effect != events.EffectNotApplied || !c.ActualCost.IsZero() {
		return reject(refuse(events.CodeAttemptNotDispatched, "attempt %q was never called: only CONFIRMED_NOT_APPLIED at 0 can be true", c.AttemptID))
	}
	return accept(q.settled(c, attempt))
}

func (q *question) settled(c *schema.Settle, attempt *state.Attempt) *events.AttemptSettled {
	settled := &events.AttemptSettled{
		AttemptID: c.AttemptID, Effect: c.Effect, ActualCost: c.ActualCost, By: q.principal,
		Overrun: c.ActualCost.SubFloor(attempt.Amount),
	}
	if c.Effect == events.EffectUnknown {
		settled.Reserved, settled.Spent = attempt.Reserved.Max(c.ActualCost), attempt.Spent
		return settled
	}
	settled.Released, settled.Spent = attempt.Reserved, attempt.Spent.Add(c.ActualCost)
	return settled
}

// dispute records a report on a settled attempt that says something new.
func (q *question) dispute(c *schema.Settle, attempt *state.Attempt) ([]events.Event, *refusal) {
	known := q.Reported(q.contract, c.AttemptID, c.Effect, c.ActualCost)
	if c.Effect == events.EffectUnknown {
		known = !attempt.Spent.Less(c.ActualCost)
	}
	if known {
		return reject(refuse(events.CodeAttemptSettled, "attempt %q is %s and this report is no news", c.AttemptID, attempt.State))
	}
	return accept(&events.SettlementDisputed{
		AttemptID: c.AttemptID, Effect: c.Effect, ActualCost: c.ActualCost, By: q.principal,
		Added: c.ActualCost.SubFloor(attempt.Spent),
	})
}
