package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func (s *State) applyGrantIssued(c string, e *events.GrantIssued) {
	terms := create[GrantTerms](s, kindGrantTerms, c, e.Grant.ID)
	terms.text = recordText(&e.Grant)
	terms.set(e.Grant)
	grant := create[Grant](s, kindGrant, c, e.Grant.ID)
	*grant = Grant{ParentID: e.Grant.ParentID, Subject: e.Grant.Subject, Limit: e.Grant.Limit}
	s.addLiveBelow(c, e.Grant.ParentID, 1)
}

// addLiveBelow changes the count of live descendants of a grant and of all
// above it, up to the first revoked one: what is above that counts none of them.
func (s *State) addLiveBelow(c, grantID string, n int64) {
	for id := grantID; id != ""; {
		grant := existing[Grant](s, kindGrant, c, id)
		grant.LiveBelow += n
		if grant.Revoked {
			return
		}
		id = grant.ParentID
	}
}

func (s *State) applyGrantRevoked(c string, e *events.GrantRevoked) {
	grant := existing[Grant](s, kindGrant, c, e.GrantID)
	grant.Revoked = true
	s.addLiveBelow(c, grant.ParentID, -1-grant.LiveBelow)
}

func (s *State) applyApprovalRecorded(c string, e *events.ApprovalRecorded) {
	s.touchRun(c, e.Approval.RunID)
	approval := create[Approval](s, kindApproval, c, e.Approval.ID)
	*approval = Approval{Approval: e.Approval}
}

func (s *State) applyApprovalWithdrawn(c string, e *events.ApprovalWithdrawn) {
	approval := existing[Approval](s, kindApproval, c, e.ApprovalID)
	approval.Withdrawn = true
	s.touchRun(c, approval.RunID)
}

var one = schema.DecimalOf(1)

// takeUse takes one use of an approval, if there is one.
func (s *State) takeUse(c, approvalID string) {
	if approvalID != "" {
		approval := existing[Approval](s, kindApproval, c, approvalID)
		approval.Used = approval.Used.Add(one)
	}
}
