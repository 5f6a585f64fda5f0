package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// retry prepares another attempt of an operation whose attempts so far had no
// effect (RULES 6).
func (q *question) retry(c *schema.Retry) ([]events.Event, *refusal) {
	operation, ok := q.Operation(q.contract, c.OperationID)
	if !ok {
		return reject(refuse(events.CodeOperationNotFound, "no operation %q", c.OperationID))
	}
	if refused := q.newAttempt(c.AttemptID); refused != nil {
		return reject(refused)
	}
	run, refused := q.runningRun(operation.RunID)
	if refused != nil {
		return reject(refused)
	}
	refused = first(
		q.openMission,
		func() *refusal { return notApplied(c.OperationID, &operation) },
		func() *refusal { return q.newestSettled(&operation) },
		func() *refusal { return q.attemptsLeft(&operation) },
		func() *refusal { return q.acting(operation.Subject) },
		func() *refusal {
			return q.authorized(authorization{c.Policy, c.MandatoryChecksOk, c.AuthorizationCheckedAt})
		},
		func() *refusal { return q.grantChain(operation.GrantID) },
		func() *refusal { return q.approvesAgain(&operation) },
		func() *refusal { return q.capacity(operation.GrantID, c.Amount) },
	)
	if refused != nil {
		return reject(refused)
	}
	return accept(&events.AttemptPrepared{
		RunID: operation.RunID, OperationID: c.OperationID, AttemptID: c.AttemptID, Number: operation.Attempts + 1,
		Amount: c.Amount, Epoch: run.Epoch, By: q.principal,
	})
}

// notApplied refuses to repeat an effect.
func notApplied(operationID string, operation *state.Operation) *refusal {
	if operation.Applied > 0 {
		return refuse(events.CodePreviousEffectApplied, "operation %q has taken effect", operationID)
	}
	return nil
}

func (q *question) newestSettled(operation *state.Operation) *refusal {
	newest, _ := q.Attempt(q.contract, operation.Newest)
	if newest.State != events.AttemptStateNotApplied && newest.State != events.AttemptStateReleased {
		return refuse(events.CodePreviousEffectUnresolved, "attempt %q is %s", operation.Newest, newest.State)
	}
	return nil
}

func (q *question) attemptsLeft(operation *state.Operation) *refusal {
	counted := schema.DecimalOf(uint64(operation.Attempts - operation.Released))
	if limit := q.terms.Contract.MaxAttempts; !counted.Less(limit) {
		return refuse(events.CodeAttemptsExhausted, "%s attempts were made of %s", counted, limit)
	}
	return nil
}

// approvesAgain checks the operation's approval, if it has one, for another
// use.
func (q *question) approvesAgain(operation *state.Operation) *refusal {
	if operation.ApprovalID == "" {
		return nil
	}
	approval, _ := q.Approval(q.contract, operation.ApprovalID)
	if refused := q.approvalLive(&approval, operation.Subject); refused != nil {
		return refused
	}
	return approvalUse(&approval)
}
