package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// RunStarted opens a run: state READY, epoch 0, plan "none" (RULES 4).
// Origin is set when a trigger started it (RULES 9).
type RunStarted struct {
	Origin *Origin
	RunID  string
}

// Origin names what started a run: a trigger with an event or a slot, and how
// deep in a chain of triggers it is.
type Origin struct {
	Depth     schema.Decimal
	EventID   string
	Slot      *schema.Decimal
	TriggerID string
}

// RunContinued begins a new segment and epoch; what was prepared in an older
// epoch can be settled, never dispatched (RULES 4).
type RunContinued struct {
	Epoch     int64
	RunID     string
	SegmentID string
}

// RunTransitioned moves a run between states (RULES 4).
type RunTransitioned struct {
	From, RunID, To string
}

// Type implements [Event].
func (*RunStarted) Type() string { return "runStarted" }

// Type implements [Event].
func (*RunContinued) Type() string { return "runContinued" }

// Type implements [Event].
func (*RunTransitioned) Type() string { return "runTransitioned" }

// Members implements [schema.Record].
func (e *RunStarted) Members(m *schema.Members) {
	schema.OptRecord(m, "origin", &e.Origin)
	m.ID("runId", &e.RunID)
	m.Const("type", "runStarted")
}

// Members implements [schema.Record].
func (o *Origin) Members(m *schema.Members) {
	m.Sum("depth", &o.Depth)
	m.OptID("eventId", &o.EventID)
	m.OptSum("slot", &o.Slot)
	m.ID("triggerId", &o.TriggerID)
}

// Members implements [schema.Record].
func (e *RunContinued) Members(m *schema.Members) {
	m.Int("epoch", &e.Epoch)
	m.ID("runId", &e.RunID)
	m.ID("segmentId", &e.SegmentID)
	m.Const("type", "runContinued")
}

// Members implements [schema.Record].
func (e *RunTransitioned) Members(m *schema.Members) {
	m.Enum("from", &e.From, schema.RunStates)
	m.ID("runId", &e.RunID)
	m.Enum("to", &e.To, schema.RunStates)
	m.Const("type", "runTransitioned")
}

// The states of a run (RULES 4).
const (
	RunReady     = "READY"
	RunRunning   = "RUNNING"
	RunWaiting   = "WAITING"
	RunPaused    = "PAUSED"
	RunCanceling = "CANCELING"
	RunCompleted = "COMPLETED"
	RunFailed    = "FAILED"
	RunCanceled  = "CANCELED"
	RunRejected  = "REJECTED"
)

// RunTerminal says whether a run in this state is over (RULES 2 "live-run").
func RunTerminal(state string) bool {
	switch state {
	case RunCompleted, RunFailed, RunCanceled, RunRejected:
		return true
	}
	return false
}
