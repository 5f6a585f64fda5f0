package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Operation is an admitted action of a run (RULES 6).
type Operation struct {
	RunID       string
	GrantID     string
	Subject     string
	ApprovalID  string
	Capability  string
	Resource    string
	Fingerprint string
	By          string
	AdmittedAt  schema.Decimal

	Newest   string // its newest attempt
	Attempts int64
	Released int64 // attempts RELEASED: they do not count against maxAttempts
	Applied  int64 // attempts APPLIED

	NodeID      string // the node that its dispatched attempts are bound to
	NodeActive  int64  // bound attempts DISPATCHED, UNKNOWN or APPLIED
	NodeApplied int64  // bound attempts APPLIED
}

func (r *Operation) fields(c *coder) {
	c.string(&r.RunID)
	c.string(&r.GrantID)
	c.string(&r.Subject)
	c.string(&r.ApprovalID)
	c.string(&r.Capability)
	c.string(&r.Resource)
	c.string(&r.Fingerprint)
	c.string(&r.By)
	c.decimal(&r.AdmittedAt)
	c.string(&r.Newest)
	c.int(&r.Attempts)
	c.int(&r.Released)
	c.int(&r.Applied)
	c.string(&r.NodeID)
	c.int(&r.NodeActive)
	c.int(&r.NodeApplied)
}

// Operation returns an operation; ok is false when there is none.
func (s *State) Operation(contract, operationID string) (operation Operation, ok bool) {
	if r := get[Operation](s, kindOperation, contract, operationID); r != nil {
		return *r, true
	}
	return Operation{}, false
}

// Action returns the action of an operation.
func (s *State) Action(contract, operationID string) schema.Action {
	var action schema.Action
	if r := get[textRow](s, kindAction, contract, operationID); r != nil {
		s.decodeText(r, &action)
	}
	return action
}

// Attempt is one attempt of an operation (RULES 6).
type Attempt struct {
	OperationID  string
	RunID        string
	Number       int64
	State        string
	Amount       schema.Decimal
	Reserved     schema.Decimal
	Spent        schema.Decimal
	Epoch        int64
	NodeID       string
	Disputed     bool
	GrantID      string
	Subject      string
	ApprovalID   string
	Capability   string
	Resource     string
	Fingerprint  string
	PreparedAt   schema.Decimal
	DispatchedAt *schema.Decimal
	SettledAt    *schema.Decimal
}

func (r *Attempt) fields(c *coder) {
	c.string(&r.OperationID)
	c.string(&r.RunID)
	c.int(&r.Number)
	c.string(&r.State)
	c.decimal(&r.Amount)
	c.decimal(&r.Reserved)
	c.decimal(&r.Spent)
	c.int(&r.Epoch)
	c.string(&r.NodeID)
	c.bool(&r.Disputed)
	c.string(&r.GrantID)
	c.string(&r.Subject)
	c.string(&r.ApprovalID)
	c.string(&r.Capability)
	c.string(&r.Resource)
	c.string(&r.Fingerprint)
	c.decimal(&r.PreparedAt)
	c.optDecimal(&r.DispatchedAt)
	c.optDecimal(&r.SettledAt)
}

// Unsettled says whether the attempt is PREPARED, DISPATCHED or UNKNOWN.
func (r *Attempt) Unsettled() bool {
	return r.State == events.AttemptStatePrepared || r.Called()
}

// Called says whether the attempt is DISPATCHED or UNKNOWN: its effect is open.
func (r *Attempt) Called() bool {
	return r.State == events.AttemptStateDispatched || r.State == events.AttemptStateUnknown
}

// Attempt returns an attempt; ok is false when there is none.
func (s *State) Attempt(contract, attemptID string) (attempt Attempt, ok bool) {
	if r := get[Attempt](s, kindAttempt, contract, attemptID); r != nil {
		return *r, true
	}
	return Attempt{}, false
}

// Reported says whether this report of the attempt is known: an earlier settle
// said the same and was not UNKNOWN (RULES 6).
func (s *State) Reported(contract, attemptID, effect string, cost schema.Decimal) bool {
	return get[mark](s, kindReport, contract, attemptID, effect, cost.String()) != nil
}

// Unresolved returns the operation of the run with this fingerprint that has an
// attempt DISPATCHED or UNKNOWN, or "". There is at most one (RULES 11).
func (s *State) Unresolved(contract, runID, fingerprint string) string {
	if r := get[textRow](s, kindUnresolved, contract, runID, fingerprint); r != nil {
		return r.Text
	}
	return ""
}
