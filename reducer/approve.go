package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// approve records an approval of one exact action of a run (RULES 5).
func (q *question) approve(c *schema.Approve) ([]events.Event, *refusal) {
	approval := &c.Approval
	if _, exists := q.Approval(q.contract, approval.ID); exists {
		return reject(refuse(events.CodeApprovalExists, "approval %q exists", approval.ID))
	}
	if _, refused := q.liveRun(approval.RunID); refused != nil {
		return reject(refused)
	}
	if approval.Approver != q.principal {
		return reject(refuse(events.CodePrincipalMismatch, "the approver is %q, the principal %q", approval.Approver, q.principal))
	}
	if !q.now.Less(approval.ExpiresAt) {
		return reject(refuse(events.CodeApprovalExpired, "the approval ends at %s, now is %s", approval.ExpiresAt, q.now))
	}
	if approval.Uses.IsZero() {
		return reject(refuse(events.CodeApprovalUsesInvalid, "an approval needs at least one use"))
	}
	return accept(&events.ApprovalRecorded{Approval: *approval})
}
