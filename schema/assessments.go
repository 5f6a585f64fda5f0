package schema

// Verify records an assessment of a run.
type Verify struct {
	RunID     string
	Assessor  string
	Revision  string
	Results   []Verdict
	Evidence  []string
	Rationale string
	Context   *Context
}

// Type is "verify".
func (*Verify) Type() string { return "verify" }

// Ctx returns the context, or nil.
func (c *Verify) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Verify) Members(m *Members) {
	m.ID("assessor", &c.Assessor)
	OptRecord(m, "context", &c.Context)
	m.IDs("evidence", &c.Evidence)
	m.ID("rationale", &c.Rationale)
	m.Verdicts("results", &c.Results)
	m.ID("revision", &c.Revision)
	m.ID("runId", &c.RunID)
	m.Const("type", "verify")
}

// Accept decides on an assessment.
type Accept struct {
	RunID                string
	Authority            string
	VerificationRevision string
	Decision             string
	Rationale            string
	Context              *Context
}

// Type is "accept".
func (*Accept) Type() string { return "accept" }

// Ctx returns the context, or nil.
func (c *Accept) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Accept) Members(m *Members) {
	m.ID("authority", &c.Authority)
	OptRecord(m, "context", &c.Context)
	m.Enum("decision", &c.Decision, Decisions)
	m.ID("rationale", &c.Rationale)
	m.ID("runId", &c.RunID)
	m.Const("type", "accept")
	m.ID("verificationRevision", &c.VerificationRevision)
}

// Invalidate invalidates the assessment of a run and of those that depend on it.
type Invalidate struct {
	RunID   string
	Reason  string
	Context *Context
}

// Type is "invalidate".
func (*Invalidate) Type() string { return "invalidate" }

// Ctx returns the context, or nil.
func (c *Invalidate) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Invalidate) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("reason", &c.Reason)
	m.ID("runId", &c.RunID)
	m.Const("type", "invalidate")
}
