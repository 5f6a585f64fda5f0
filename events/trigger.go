package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// TriggerRegistered adds a trigger, its cursor none (RULES 9).
type TriggerRegistered struct {
	Trigger schema.Trigger
}

// TriggerObserved records the condition of an event that did not fire a
// CONDITION trigger.
type TriggerObserved struct {
	Condition   bool
	ContentHash string
	EventID     string
	TriggerID   string
}

// TriggerFired records a firing: by an event (EventID, ContentHash, Depth and,
// for CONDITION, Condition) or by a schedule (Slot). It is followed by the
// runStarted or waitSatisfied that the firing does.
type TriggerFired struct {
	Condition   *bool
	ContentHash string
	Depth       *schema.Decimal
	EventID     string
	RunID       string
	Slot        *schema.Decimal
	TriggerID   string
}

// TriggerCursorMoved ends a tick: Cursor is the newest slot admitted or
// skipped, Admitted and Skipped are counts (RULES 9). Skipped may be large:
// slots are counted by arithmetic.
type TriggerCursorMoved struct {
	Admitted  int64
	Cursor    schema.Decimal
	Skipped   int64
	TriggerID string
}

// Kinds and actions of a trigger that rules tell apart.
const (
	TriggerScheduled         = "SCHEDULED"
	TriggerCondition         = "CONDITION"
	TriggerWorkflowLifecycle = "WORKFLOW_LIFECYCLE"
	TriggerStartRun          = "START_RUN"
	TriggerResumeWait        = "RESUME_WAIT"
	ConditionLevel           = "LEVEL"
	CatchUpSkip              = "SKIP"
	CatchUpLatest            = "LATEST"
	CatchUpAll               = "ALL"
)

// Type implements [Event].
func (*TriggerRegistered) Type() string { return "triggerRegistered" }

// Type implements [Event].
func (*TriggerObserved) Type() string { return "triggerObserved" }

// Type implements [Event].
func (*TriggerFired) Type() string { return "triggerFired" }

// Type implements [Event].
func (*TriggerCursorMoved) Type() string { return "triggerCursorMoved" }

// Members implements [schema.Record].
func (e *TriggerRegistered) Members(m *schema.Members) {
	m.Record("trigger", &e.Trigger)
	m.Const("type", "triggerRegistered")
}

// Members implements [schema.Record].
func (e *TriggerObserved) Members(m *schema.Members) {
	m.Bool("condition", &e.Condition)
	m.Text("contentHash", &e.ContentHash)
	m.ID("eventId", &e.EventID)
	m.ID("triggerId", &e.TriggerID)
	m.Const("type", "triggerObserved")
}

// Members implements [schema.Record].
func (e *TriggerFired) Members(m *schema.Members) {
	m.OptBool("condition", &e.Condition)
	m.OptText("contentHash", &e.ContentHash)
	m.OptSum("depth", &e.Depth)
	m.OptID("eventId", &e.EventID)
	m.ID("runId", &e.RunID)
	m.OptSum("slot", &e.Slot)
	m.ID("triggerId", &e.TriggerID)
	m.Const("type", "triggerFired")
}

// Members implements [schema.Record].
func (e *TriggerCursorMoved) Members(m *schema.Members) {
	m.Int("admitted", &e.Admitted)
	m.Sum("cursor", &e.Cursor)
	m.Int("skipped", &e.Skipped)
	m.ID("triggerId", &e.TriggerID)
	m.Const("type", "triggerCursorMoved")
}
