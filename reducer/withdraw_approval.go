package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// withdrawApproval ends an approval (RULES 5).
func (q *question) withdrawApproval(c *schema.WithdrawApproval) ([]events.Event, *refusal) {
	approval, ok := q.Approval(q.contract, c.ApprovalID)
	if !ok {
		return reject(refuse(events.CodeApprovalNotFound, "no approval %q", c.ApprovalID))
	}
	if approval.Withdrawn {
		return reject(refuse(events.CodeApprovalWithdrawn, "approval %q was withdrawn", c.ApprovalID))
	}
	return accept(&events.ApprovalWithdrawn{ApprovalID: c.ApprovalID})
}
