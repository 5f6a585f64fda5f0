package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// GrantIssued adds a grant with nothing spent or reserved (RULES 5).
type GrantIssued struct {
	By    string
	Grant schema.Grant
}

// GrantRevoked revokes a grant and, in effect, all below it. Affected counts
// the descendants that this event took out of force (RULES 5).
type GrantRevoked struct {
	Affected int64
	GrantID  string
}

// ApprovalRecorded adds an approval of one exact action (RULES 5).
type ApprovalRecorded struct {
	Approval schema.Approval
}

// ApprovalWithdrawn ends an approval.
type ApprovalWithdrawn struct {
	ApprovalID string
}

// Type implements [Event].
func (*GrantIssued) Type() string { return "grantIssued" }

// Type implements [Event].
func (*GrantRevoked) Type() string { return "grantRevoked" }

// Type implements [Event].
func (*ApprovalRecorded) Type() string { return "approvalRecorded" }

// Type implements [Event].
func (*ApprovalWithdrawn) Type() string { return "approvalWithdrawn" }

// Members implements [schema.Record].
func (e *GrantIssued) Members(m *schema.Members) {
	m.ID("by", &e.By)
	m.Record("grant", &e.Grant)
	m.Const("type", "grantIssued")
}

// Members implements [schema.Record].
func (e *GrantRevoked) Members(m *schema.Members) {
	m.Int("affected", &e.Affected)
	m.ID("grantId", &e.GrantID)
	m.Const("type", "grantRevoked")
}

// Members implements [schema.Record].
func (e *ApprovalRecorded) Members(m *schema.Members) {
	m.Record("approval", &e.Approval)
	m.Const("type", "approvalRecorded")
}

// Members implements [schema.Record].
func (e *ApprovalWithdrawn) Members(m *schema.Members) {
	m.ID("approvalId", &e.ApprovalID)
	m.Const("type", "approvalWithdrawn")
}
