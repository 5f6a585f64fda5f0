package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// WaitCreated adds a pending wait to a run; the run's state stays (RULES 7).
type WaitCreated struct {
	Correlation string
	Deadline    schema.Decimal
	Kind        string
	RunID       string
	WaitID      string
}

// WaitSatisfied ends a wait: its answer came, or its timer is due.
type WaitSatisfied struct {
	RunID, WaitID string
}

// JoinSatisfied records that the waits of a join are satisfied (RULES 7).
type JoinSatisfied struct {
	Mode    string
	RunID   string
	WaitIDs []string
}

// WaitTimer is the kind of wait that is satisfied by time, and never expires.
const WaitTimer = "TIMER"

// The modes of a join, and of a JOIN node.
const (
	JoinAll = "ALL"
	JoinAny = "ANY"
)

// Type implements [Event].
func (*WaitCreated) Type() string { return "waitCreated" }

// Type implements [Event].
func (*WaitSatisfied) Type() string { return "waitSatisfied" }

// Type implements [Event].
func (*JoinSatisfied) Type() string { return "joinSatisfied" }

// Members implements [schema.Record].
func (e *WaitCreated) Members(m *schema.Members) {
	m.ID("correlation", &e.Correlation)
	m.Decimal("deadline", &e.Deadline)
	m.Enum("kind", &e.Kind, schema.WaitKinds)
	m.ID("runId", &e.RunID)
	m.Const("type", "waitCreated")
	m.ID("waitId", &e.WaitID)
}

// Members implements [schema.Record].
func (e *WaitSatisfied) Members(m *schema.Members) {
	m.ID("runId", &e.RunID)
	m.Const("type", "waitSatisfied")
	m.ID("waitId", &e.WaitID)
}

// Members implements [schema.Record].
func (e *JoinSatisfied) Members(m *schema.Members) {
	m.Enum("mode", &e.Mode, schema.JoinModes)
	m.ID("runId", &e.RunID)
	m.Const("type", "joinSatisfied")
	m.IDs("waitIds", &e.WaitIDs)
}
