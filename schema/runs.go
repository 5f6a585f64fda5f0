package schema

// MissionState opens, suspends or closes the mission.
type MissionState struct {
	State   string
	Context *Context
}

// Type is "missionState".
func (*MissionState) Type() string { return "missionState" }

// Ctx returns the context, or nil.
func (c *MissionState) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *MissionState) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Enum("state", &c.State, MissionStates)
	m.Const("type", "missionState")
}

// StartRun opens a run.
type StartRun struct {
	RunID   string
	Context *Context
}

// Type is "startRun".
func (*StartRun) Type() string { return "startRun" }

// Ctx returns the context, or nil.
func (c *StartRun) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *StartRun) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("runId", &c.RunID)
	m.Const("type", "startRun")
}

// ContinueRun opens a segment of a run, with a new epoch.
type ContinueRun struct {
	RunID     string
	SegmentID string
	Context   *Context
}

// Type is "continueRun".
func (*ContinueRun) Type() string { return "continueRun" }

// Ctx returns the context, or nil.
func (c *ContinueRun) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *ContinueRun) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("runId", &c.RunID)
	m.ID("segmentId", &c.SegmentID)
	m.Const("type", "continueRun")
}

// ActivatePlan makes another plan the run's plan.
type ActivatePlan struct {
	RunID        string
	PlanID       string
	ExpectedPlan string
	Context      *Context
}

// Type is "activatePlan".
func (*ActivatePlan) Type() string { return "activatePlan" }

// Ctx returns the context, or nil.
func (c *ActivatePlan) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *ActivatePlan) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("expectedPlan", &c.ExpectedPlan)
	m.ID("planId", &c.PlanID)
	m.ID("runId", &c.RunID)
	m.Const("type", "activatePlan")
}

// Transition moves a run to another state.
type Transition struct {
	RunID   string
	To      string
	Context *Context
}

// Type is "transition".
func (*Transition) Type() string { return "transition" }

// Ctx returns the context, or nil.
func (c *Transition) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Transition) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("runId", &c.RunID)
	m.Enum("to", &c.To, RunStates)
	m.Const("type", "transition")
}
