package schema

// Wait makes a run wait for something.
type Wait struct {
	RunID       string
	WaitID      string
	Correlation string
	Deadline    Decimal
	Kind        string
	Context     *Context
}

// Type is "wait".
func (*Wait) Type() string { return "wait" }

// Ctx returns the context, or nil.
func (c *Wait) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Wait) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("correlation", &c.Correlation)
	m.Decimal("deadline", &c.Deadline)
	m.Enum("kind", &c.Kind, WaitKinds)
	m.ID("runId", &c.RunID)
	m.Const("type", "wait")
	m.ID("waitId", &c.WaitID)
}

// Resume satisfies a wait.
type Resume struct {
	WaitID      string
	Correlation string
	Context     *Context
}

// Type is "resume".
func (*Resume) Type() string { return "resume" }

// Ctx returns the context, or nil.
func (c *Resume) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Resume) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("correlation", &c.Correlation)
	m.Const("type", "resume")
	m.ID("waitId", &c.WaitID)
}

// Join goes on after several waits.
type Join struct {
	RunID   string
	WaitIDs []string
	Mode    string
	Context *Context
}

// Type is "join".
func (*Join) Type() string { return "join" }

// Ctx returns the context, or nil.
func (c *Join) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Join) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Enum("mode", &c.Mode, JoinModes)
	m.ID("runId", &c.RunID)
	m.Const("type", "join")
	m.IDs("waitIds", &c.WaitIDs)
}
