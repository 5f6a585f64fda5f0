package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// OperationAdmitted admits one action of a run under a grant (RULES 6). It is
// followed by the AttemptPrepared of its first attempt.
type OperationAdmitted struct {
	Action      schema.Action
	ApprovalID  string
	By          string
	Fingerprint string
	GrantID     string
	OperationID string
	RunID       string
	Subject     string
}

// AttemptPrepared reserves Amount in the contract, the run and every grant of
// the chain, and takes one use of the operation's approval (RULES 6).
type AttemptPrepared struct {
	Amount      schema.Decimal
	AttemptID   string
	By          string
	Epoch       int64
	Number      int64
	OperationID string
	RunID       string
}

// AttemptDispatched allows the one external call of an attempt (RULES 6).
type AttemptDispatched struct {
	AttemptID string
	By        string
	NodeID    string
}

// AttemptSettled records what the call did (RULES 6). Released is what this
// event gives back; Reserved and Spent are the attempt's figures after it.
type AttemptSettled struct {
	ActualCost schema.Decimal
	AttemptID  string
	By         string
	Effect     string
	Overrun    schema.Decimal
	Released   schema.Decimal
	Reserved   schema.Decimal
	Spent      schema.Decimal
}

// SettlementDisputed records a report that differs from what was settled; Added
// is spent everywhere on top (RULES 6).
type SettlementDisputed struct {
	ActualCost schema.Decimal
	Added      schema.Decimal
	AttemptID  string
	By         string
	Effect     string
}

// The states of an attempt (RULES 6).
const (
	AttemptStatePrepared   = "PREPARED"
	AttemptStateDispatched = "DISPATCHED"
	AttemptStateUnknown    = "UNKNOWN"
	AttemptStateApplied    = "APPLIED"
	AttemptStateNotApplied = "NOT_APPLIED"
	AttemptStateReleased   = "RELEASED"
)

// The effects that settle reports.
const (
	EffectApplied    = "CONFIRMED_APPLIED"
	EffectNotApplied = "CONFIRMED_NOT_APPLIED"
	EffectUnknown    = "UNKNOWN"
)

// Type implements [Event].
func (*OperationAdmitted) Type() string { return "operationAdmitted" }

// Type implements [Event].
func (*AttemptPrepared) Type() string { return "attemptPrepared" }

// Type implements [Event].
func (*AttemptDispatched) Type() string { return "attemptDispatched" }

// Type implements [Event].
func (*AttemptSettled) Type() string { return "attemptSettled" }

// Type implements [Event].
func (*SettlementDisputed) Type() string { return "settlementDisputed" }

// Members implements [schema.Record].
func (e *OperationAdmitted) Members(m *schema.Members) {
	m.Record("action", &e.Action)
	m.OptID("approvalId", &e.ApprovalID)
	m.ID("by", &e.By)
	m.Text("fingerprint", &e.Fingerprint)
	m.ID("grantId", &e.GrantID)
	m.ID("operationId", &e.OperationID)
	m.ID("runId", &e.RunID)
	m.ID("subject", &e.Subject)
	m.Const("type", "operationAdmitted")
}

// Members implements [schema.Record].
func (e *AttemptPrepared) Members(m *schema.Members) {
	m.Decimal("amount", &e.Amount)
	m.ID("attemptId", &e.AttemptID)
	m.ID("by", &e.By)
	m.Int("epoch", &e.Epoch)
	m.Int("number", &e.Number)
	m.ID("operationId", &e.OperationID)
	m.ID("runId", &e.RunID)
	m.Const("type", "attemptPrepared")
}

// Members implements [schema.Record].
func (e *AttemptDispatched) Members(m *schema.Members) {
	m.ID("attemptId", &e.AttemptID)
	m.ID("by", &e.By)
	m.OptID("nodeId", &e.NodeID)
	m.Const("type", "attemptDispatched")
}

// Members implements [schema.Record].
func (e *AttemptSettled) Members(m *schema.Members) {
	m.Decimal("actualCost", &e.ActualCost)
	m.ID("attemptId", &e.AttemptID)
	m.ID("by", &e.By)
	m.Enum("effect", &e.Effect, schema.Effects)
	m.Sum("overrun", &e.Overrun)
	m.Sum("released", &e.Released)
	m.Sum("reserved", &e.Reserved)
	m.Sum("spent", &e.Spent)
	m.Const("type", "attemptSettled")
}

// Members implements [schema.Record].
func (e *SettlementDisputed) Members(m *schema.Members) {
	m.Decimal("actualCost", &e.ActualCost)
	m.Sum("added", &e.Added)
	m.ID("attemptId", &e.AttemptID)
	m.ID("by", &e.By)
	m.Enum("effect", &e.Effect, schema.Effects)
	m.Const("type", "settlementDisputed")
}
