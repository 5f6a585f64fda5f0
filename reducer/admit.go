package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// admit admits an action of a run and reserves its amount (RULES 6).
func (q *question) admit(c *schema.Admit) ([]events.Event, *refusal) {
	run, refused := q.runningRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	fingerprint := schema.Fingerprint(&c.Action)
	refused = first(
		q.openMission,
		func() *refusal { return q.pinnedPlan(&run) },
		func() *refusal { return q.newOperation(c.OperationID) },
		func() *refusal { return q.newAttempt(c.AttemptID) },
		func() *refusal { return q.acting(c.Subject) },
		func() *refusal {
			return q.authorized(authorization{c.Policy, c.MandatoryChecksOk, c.AuthorizationCheckedAt})
		},
		func() *refusal { return q.contractCovers(&c.Action) },
		func() *refusal { return q.effectUnresolved(c.RunID, fingerprint, c.OperationID) },
		func() *refusal { return q.grantCovers(c.GrantID, c.Subject, &c.Action) },
		func() *refusal { return q.approves(c, fingerprint) },
		q.firstAttempt,
		func() *refusal { return q.capacity(c.GrantID, c.Amount) },
	)
	if refused != nil {
		return reject(refused)
	}
	return accept(
		&events.OperationAdmitted{
			RunID: c.RunID, OperationID: c.OperationID, GrantID: c.GrantID, Subject: c.Subject, ApprovalID: c.ApprovalID,
			Action: c.Action, Fingerprint: fingerprint, By: q.principal,
		},
		&events.AttemptPrepared{
			RunID: c.RunID, OperationID: c.OperationID, AttemptID: c.AttemptID, Number: 1,
			Amount: c.Amount, Epoch: run.Epoch, By: q.principal,
		},
	)
}

func (q *question) newOperation(operationID string) *refusal {
	if _, exists := q.Operation(q.contract, operationID); exists {
		return refuse(events.CodeOperationExists, "operation %q exists", operationID)
	}
	return nil
}

func (q *question) newAttempt(attemptID string) *refusal {
	if _, exists := q.Attempt(q.contract, attemptID); exists {
		return refuse(events.CodeAttemptExists, "attempt %q exists", attemptID)
	}
	return nil
}

func (q *question) contractCovers(action *schema.Action) *refusal {
	if !q.terms.HasAction(action.Capability) {
		return refuse(events.CodeActionNotAllowed, "the contract does not have the capability %q", action.Capability)
	}
	if !q.terms.HasResource(action.Resource) {
		return refuse(events.CodeResourceNotAllowed, "the contract does not have the resource %q", action.Resource)
	}
	return nil
}

func (q *question) grantCovers(grantID, subject string, action *schema.Action) *refusal {
	grant := q.GrantTerms(q.contract, grantID)
	if grant == nil {
		return refuse(events.CodeGrantNotFound, "no grant %q", grantID)
	}
	if grant.Subject != subject {
		return refuse(events.CodeGrantSubjectMismatch, "grant %q is %q's, not %q's", grantID, grant.Subject, subject)
	}
	if refused := q.grantChain(grantID); refused != nil {
		return refused
	}
	if !grant.HasAction(action.Capability) {
		return refuse(events.CodeActionNotGranted, "grant %q does not have the capability %q", grantID, action.Capability)
	}
	if !grant.HasResource(action.Resource) {
		return refuse(events.CodeResourceNotGranted, "grant %q does not have the resource %q", grantID, action.Resource)
	}
	return nil
}

// approves is the paragraph "approval" of RULES 6.
func (q *question) approves(c *schema.Admit, fingerprint string) *refusal {
	if c.ApprovalID == "" {
		if q.terms.Contract.RequiresApproval {
			return refuse(events.CodeApprovalRequired, "the contract wants an approval for each operation")
		}
		return nil
	}
	approval, ok := q.Approval(q.contract, c.ApprovalID)
	if !ok {
		return refuse(events.CodeApprovalNotFound, "no approval %q", c.ApprovalID)
	}
	if approval.RunID != c.RunID {
		return refuse(events.CodeApprovalRunMismatch, "approval %q is for run %q", c.ApprovalID, approval.RunID)
	}
	if refused := q.approvalLive(&approval, c.Subject); refused != nil {
		return refused
	}
	if approval.Fingerprint != fingerprint {
		return refuse(events.CodeApprovalFingerprintMismatch, "approval %q is for %s, the action is %s", c.ApprovalID, approval.Fingerprint, fingerprint)
	}
	return approvalUse(&approval)
}

func (q *question) firstAttempt() *refusal {
	if q.terms.Contract.MaxAttempts.IsZero() {
		return refuse(events.CodeAttemptsExhausted, "the contract allows no attempts")
	}
	return nil
}
