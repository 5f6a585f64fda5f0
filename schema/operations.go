package schema

// Action is what an operation does. Fingerprint identifies it.
type Action struct {
	Capability    string
	Resource      string
	Payload       Value // object
	Preconditions Value // object
}

// Members lists the action.
func (a *Action) Members(m *Members) {
	m.ID("capability", &a.Capability)
	m.Object("payload", &a.Payload)
	m.Object("preconditions", &a.Preconditions)
	m.ID("resource", &a.Resource)
}

// Admit admits an operation and reserves its first attempt.
type Admit struct {
	RunID                  string
	OperationID            string
	AttemptID              string
	GrantID                string
	Subject                string
	ApprovalID             string // "" if absent
	Action                 Action
	Amount                 Decimal
	AuthorizationCheckedAt Decimal
	Policy                 string
	MandatoryChecksOk      bool
	Context                *Context
}

// Type is "admit".
func (*Admit) Type() string { return "admit" }

// Ctx returns the context, or nil.
func (c *Admit) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Admit) Members(m *Members) {
	m.Record("action", &c.Action)
	m.Decimal("amount", &c.Amount)
	m.OptID("approvalId", &c.ApprovalID)
	m.ID("attemptId", &c.AttemptID)
	m.Decimal("authorizationCheckedAt", &c.AuthorizationCheckedAt)
	OptRecord(m, "context", &c.Context)
	m.ID("grantId", &c.GrantID)
	m.Bool("mandatoryChecksOk", &c.MandatoryChecksOk)
	m.ID("operationId", &c.OperationID)
	m.Enum("policy", &c.Policy, PolicyResults)
	m.ID("runId", &c.RunID)
	m.ID("subject", &c.Subject)
	m.Const("type", "admit")
}

// Dispatch says that an attempt is about to be made.
type Dispatch struct {
	AttemptID              string
	NodeID                 string // "" if absent
	AuthorizationCheckedAt Decimal
	Policy                 string
	MandatoryChecksOk      bool
	Context                *Context
}

// Type is "dispatch".
func (*Dispatch) Type() string { return "dispatch" }

// Ctx returns the context, or nil.
func (c *Dispatch) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Dispatch) Members(m *Members) {
	m.ID("attemptId", &c.AttemptID)
	m.Decimal("authorizationCheckedAt", &c.AuthorizationCheckedAt)
	OptRecord(m, "context", &c.Context)
	m.Bool("mandatoryChecksOk", &c.MandatoryChecksOk)
	m.OptID("nodeId", &c.NodeID)
	m.Enum("policy", &c.Policy, PolicyResults)
	m.Const("type", "dispatch")
}

// Settle reports what became of an attempt.
type Settle struct {
	AttemptID  string
	Effect     string
	ActualCost Decimal
	Context    *Context
}

// Type is "settle".
func (*Settle) Type() string { return "settle" }

// Ctx returns the context, or nil.
func (c *Settle) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Settle) Members(m *Members) {
	m.Decimal("actualCost", &c.ActualCost)
	m.ID("attemptId", &c.AttemptID)
	OptRecord(m, "context", &c.Context)
	m.Enum("effect", &c.Effect, Effects)
	m.Const("type", "settle")
}

// Retry reserves another attempt of an operation.
type Retry struct {
	OperationID            string
	AttemptID              string
	Amount                 Decimal
	AuthorizationCheckedAt Decimal
	Policy                 string
	MandatoryChecksOk      bool
	Context                *Context
}

// Type is "retry".
func (*Retry) Type() string { return "retry" }

// Ctx returns the context, or nil.
func (c *Retry) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Retry) Members(m *Members) {
	m.Decimal("amount", &c.Amount)
	m.ID("attemptId", &c.AttemptID)
	m.Decimal("authorizationCheckedAt", &c.AuthorizationCheckedAt)
	OptRecord(m, "context", &c.Context)
	m.Bool("mandatoryChecksOk", &c.MandatoryChecksOk)
	m.ID("operationId", &c.OperationID)
	m.Enum("policy", &c.Policy, PolicyResults)
	m.Const("type", "retry")
}
