package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The stored states of a wait. EXPIRED is computed on reading (RULES 12).
const (
	WaitPending   = "PENDING"
	WaitSatisfied = "SATISFIED"
	WaitExpired   = "EXPIRED"
)

// Wait is a wait of a run (RULES 7).
type Wait struct {
	RunID       string
	Kind        string
	Correlation string
	Deadline    schema.Decimal
	State       string // PENDING or SATISFIED
	CreatedAt   schema.Decimal
	SatisfiedAt *schema.Decimal
	Proved      string // node that the wait proved, or ""
}

func (r *Wait) fields(c *coder) {
	c.string(&r.RunID)
	c.string(&r.Kind)
	c.string(&r.Correlation)
	c.decimal(&r.Deadline)
	c.string(&r.State)
	c.decimal(&r.CreatedAt)
	c.optDecimal(&r.SatisfiedAt)
	c.string(&r.Proved)
}

// StateAt is the state of the wait as read at now: a pending wait that is no
// TIMER expires after its deadline.
func (r *Wait) StateAt(now schema.Decimal) string {
	if r.State == WaitPending && r.Kind != events.WaitTimer && r.Deadline.Less(now) {
		return WaitExpired
	}
	return r.State
}

// Wait returns a wait; ok is false when there is none.
func (s *State) Wait(contract, waitID string) (wait Wait, ok bool) {
	if r := get[Wait](s, kindWait, contract, waitID); r != nil {
		return *r, true
	}
	return Wait{}, false
}
