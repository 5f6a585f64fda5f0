package schema

// Trigger starts runs or resumes waits, by events or by a schedule.
type Trigger struct {
	ID            string
	Revision      string
	Kind          string
	Source        string
	EventType     string
	ContractID    string
	Action        string
	WaitID        string // "" if absent
	Enabled       bool
	NotBefore     Decimal
	ExpiresAt     Decimal
	MaxAgeMs      Decimal
	MaxConcurrent Decimal
	RateLimit     Decimal
	RateWindowMs  Decimal
	MaxDepth      Decimal
	ConditionMode string // "" if absent
	Schedule      *Schedule
	Filter        *Filter
}

// Members lists the trigger.
func (t *Trigger) Members(m *Members) {
	m.Enum("action", &t.Action, TriggerActions)
	m.OptEnum("conditionMode", &t.ConditionMode, ConditionModes)
	m.ID("contractId", &t.ContractID)
	m.Bool("enabled", &t.Enabled)
	m.ID("eventType", &t.EventType)
	m.Decimal("expiresAt", &t.ExpiresAt)
	OptRecord(m, "filter", &t.Filter)
	m.ID("id", &t.ID)
	m.Enum("kind", &t.Kind, TriggerKinds)
	m.Decimal("maxAgeMs", &t.MaxAgeMs)
	m.Decimal("maxConcurrent", &t.MaxConcurrent)
	m.Decimal("maxDepth", &t.MaxDepth)
	m.Decimal("notBefore", &t.NotBefore)
	m.Decimal("rateLimit", &t.RateLimit)
	m.Decimal("rateWindowMs", &t.RateWindowMs)
	m.ID("revision", &t.Revision)
	OptRecord(m, "schedule", &t.Schedule)
	m.ID("source", &t.Source)
	m.OptID("waitId", &t.WaitID)
}

// Schedule is the slots of a SCHEDULED trigger: startMs + k * intervalMs.
type Schedule struct {
	StartMs    Decimal
	IntervalMs Decimal
	CatchUp    string
	MaxCatchUp Decimal
}

// Members lists the schedule.
func (s *Schedule) Members(m *Members) {
	m.Enum("catchUp", &s.CatchUp, CatchUps)
	m.Decimal("intervalMs", &s.IntervalMs)
	m.Decimal("maxCatchUp", &s.MaxCatchUp)
	m.Decimal("startMs", &s.StartMs)
}

// Filter admits events in whose data the field equals the value.
type Filter struct {
	Field  string
	Equals Value // any
}

// Members lists the filter.
func (f *Filter) Members(m *Members) {
	m.Any("equals", &f.Equals)
	m.ID("field", &f.Field)
}

// TriggerEvent is what happened outside that may fire a trigger.
type TriggerEvent struct {
	ID          string
	Source      string
	Type        string
	OccurredAt  Decimal
	Data        Value  // object
	Correlation string // "" if absent
	Depth       Decimal
}

// Members lists the event.
func (e *TriggerEvent) Members(m *Members) {
	m.OptID("correlation", &e.Correlation)
	m.Object("data", &e.Data)
	m.Decimal("depth", &e.Depth)
	m.ID("id", &e.ID)
	m.Decimal("occurredAt", &e.OccurredAt)
	m.ID("source", &e.Source)
	m.ID("type", &e.Type)
}

// RegisterTrigger registers a trigger.
type RegisterTrigger struct {
	Trigger Trigger
	Context *Context
}

// Type is "registerTrigger".
func (*RegisterTrigger) Type() string { return "registerTrigger" }

// Ctx returns the context, or nil.
func (c *RegisterTrigger) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *RegisterTrigger) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("trigger", &c.Trigger)
	m.Const("type", "registerTrigger")
}

// FireTrigger gives an event to a trigger.
type FireTrigger struct {
	TriggerID string
	Event     TriggerEvent
	RunID     string
	Context   *Context
}

// Type is "fireTrigger".
func (*FireTrigger) Type() string { return "fireTrigger" }

// Ctx returns the context, or nil.
func (c *FireTrigger) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *FireTrigger) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("event", &c.Event)
	m.ID("runId", &c.RunID)
	m.ID("triggerId", &c.TriggerID)
	m.Const("type", "fireTrigger")
}

// TickTrigger lets a scheduled trigger fire what is due.
type TickTrigger struct {
	TriggerID string
	Context   *Context
}

// Type is "tickTrigger".
func (*TickTrigger) Type() string { return "tickTrigger" }

// Ctx returns the context, or nil.
func (c *TickTrigger) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *TickTrigger) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("triggerId", &c.TriggerID)
	m.Const("type", "tickTrigger")
}
