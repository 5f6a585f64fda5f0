package schema

// Grant gives a subject a part of the contract's, or of its parent's, authority.
type Grant struct {
	ID          string
	ParentID    string // "" for a root
	Subject     string
	Profile     string
	Actions     []string
	Resources   []string
	NotBefore   Decimal
	ExpiresAt   Decimal
	Limit       Decimal
	CanDelegate bool
	Depth       Decimal
}

// Members lists the grant.
func (g *Grant) Members(m *Members) {
	m.IDs("actions", &g.Actions)
	m.Bool("canDelegate", &g.CanDelegate)
	m.Decimal("depth", &g.Depth)
	m.Decimal("expiresAt", &g.ExpiresAt)
	m.ID("id", &g.ID)
	m.Decimal("limit", &g.Limit)
	m.Decimal("notBefore", &g.NotBefore)
	m.OptID("parentId", &g.ParentID)
	m.ID("profile", &g.Profile)
	m.IDs("resources", &g.Resources)
	m.ID("subject", &g.Subject)
}

// Approval lets an action of one fingerprint be attempted a number of times.
type Approval struct {
	ID          string
	RunID       string
	Approver    string
	Fingerprint string
	ExpiresAt   Decimal
	Uses        Decimal
}

// Members lists the approval.
func (a *Approval) Members(m *Members) {
	m.ID("approver", &a.Approver)
	m.Decimal("expiresAt", &a.ExpiresAt)
	m.ID("fingerprint", &a.Fingerprint)
	m.ID("id", &a.ID)
	m.ID("runId", &a.RunID)
	m.Decimal("uses", &a.Uses)
}

// IssueGrant issues a grant: the command "grant".
type IssueGrant struct {
	Grant   Grant
	Context *Context
}

// Type is "grant".
func (*IssueGrant) Type() string { return "grant" }

// Ctx returns the context, or nil.
func (c *IssueGrant) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *IssueGrant) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("grant", &c.Grant)
	m.Const("type", "grant")
}

// RevokeGrant revokes a grant and what was delegated from it.
type RevokeGrant struct {
	GrantID string
	Context *Context
}

// Type is "revokeGrant".
func (*RevokeGrant) Type() string { return "revokeGrant" }

// Ctx returns the context, or nil.
func (c *RevokeGrant) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *RevokeGrant) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("grantId", &c.GrantID)
	m.Const("type", "revokeGrant")
}

// Approve records an approval.
type Approve struct {
	Approval Approval
	Context  *Context
}

// Type is "approve".
func (*Approve) Type() string { return "approve" }

// Ctx returns the context, or nil.
func (c *Approve) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Approve) Members(m *Members) {
	m.Record("approval", &c.Approval)
	OptRecord(m, "context", &c.Context)
	m.Const("type", "approve")
}

// WithdrawApproval withdraws an approval.
type WithdrawApproval struct {
	ApprovalID string
	Context    *Context
}

// Type is "withdrawApproval".
func (*WithdrawApproval) Type() string { return "withdrawApproval" }

// Ctx returns the context, or nil.
func (c *WithdrawApproval) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *WithdrawApproval) Members(m *Members) {
	m.ID("approvalId", &c.ApprovalID)
	OptRecord(m, "context", &c.Context)
	m.Const("type", "withdrawApproval")
}
