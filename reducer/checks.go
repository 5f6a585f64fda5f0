package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The shared checks of RULES 2, under the rulebook's names.

// openMission is "open-mission".
func (q *question) openMission() *refusal {
	if mission := q.Ledger(q.contract).Mission; mission != events.MissionOpen {
		return refuse(events.CodeMissionNotOpen, "the mission is %s", mission)
	}
	if deadline := q.terms.Contract.Deadline; !q.now.Less(deadline) {
		return refuse(events.CodeContractExpired, "the deadline %s has passed, now is %s", deadline, q.now)
	}
	return nil
}

// run is "run".
func (q *question) run(runID string) (state.Run, *refusal) {
	run, ok := q.Run(q.contract, runID)
	if !ok {
		return run, refuse(events.CodeRunNotFound, "no run %q", runID)
	}
	return run, nil
}

// liveRun is "live-run".
func (q *question) liveRun(runID string) (state.Run, *refusal) {
	run, refused := q.run(runID)
	if refused == nil && run.Terminal() {
		refused = refuse(events.CodeRunTerminal, "run %q is %s", runID, run.State)
	}
	return run, refused
}

// runningRun is "running-run". Whoever asks for a running run is about to act
// on its plan.
func (q *question) runningRun(runID string) (state.Run, *refusal) {
	run, refused := q.run(runID)
	if refused == nil && run.State != events.RunRunning {
		refused = refuse(events.CodeRunNotRunning, "run %q is %s", runID, run.State)
	}
	if refused == nil && run.RunPlanHash != "" {
		q.usePlan(runID, run.PlanID)
	}
	return run, refused
}

// pin is the pin of a plan of the run; ok is false when it is not pinned. The
// row is read after its use was told: what it said before may be what a damaged
// row says, and that decides nothing.
func (q *question) pin(runID, planID string) (pin state.Plan, ok bool) {
	if _, ok := q.Plan(q.contract, runID, planID); !ok {
		return state.Plan{}, false
	}
	q.usePlan(runID, planID)
	return q.Plan(q.contract, runID, planID)
}

// usePlan tells that the command concerns a pinned plan of the run.
func (q *question) usePlan(runID, planID string) {
	if q.onPlan != nil {
		q.onPlan(q.State, q.contract, runID, planID)
	}
}

// newRunID is "new-run-id".
func (q *question) newRunID(runID string) *refusal {
	if _, exists := q.Run(q.contract, runID); exists {
		return refuse(events.CodeRunExists, "run %q exists", runID)
	}
	if reservedRunID(runID) {
		return refuse(events.CodeRunIDReserved, "run ids that end in @ and digits or begin slot- belong to scheduled triggers")
	}
	return nil
}

// reservedRunID says whether the id could be that of a scheduled run.
func reservedRunID(id string) bool {
	if len(id) >= len("slot-") && id[:len("slot-")] == "slot-" {
		return true
	}
	i := len(id)
	for i > 0 && id[i-1] >= '0' && id[i-1] <= '9' {
		i--
	}
	return i < len(id) && i > 0 && id[i-1] == '@'
}

// authorization is what a host says of its own checks.
type authorization struct {
	policy    string
	checksOK  bool
	checkedAt schema.Decimal
}

// authorized is "authorized".
func (q *question) authorized(a authorization) *refusal {
	switch a.policy {
	case "DENY":
		return refuse(events.CodePolicyDenied, "the policy engine denied it")
	case "INDETERMINATE":
		return refuse(events.CodePolicyIndeterminate, "the policy engine could not decide")
	}
	if !a.checksOK {
		return refuse(events.CodeMandatoryChecksFailed, "a mandatory check failed")
	}
	if latest := q.now.Add(q.terms.Policy.ClockSkewMs); latest.Less(a.checkedAt) {
		return refuse(events.CodeAuthorizationInFuture, "checked at %s, now is %s", a.checkedAt, q.now)
	}
	if limit := q.terms.Contract.MaxAuthorizationAgeMs; limit.Less(q.now.SubFloor(a.checkedAt)) {
		return refuse(events.CodeAuthorizationStale, "checked at %s, now is %s, at most %s ms are allowed", a.checkedAt, q.now, limit)
	}
	return nil
}

// grantChain is "grant-chain".
func (q *question) grantChain(grantID string) *refusal {
	var refused *refusal
	q.Chain(q.contract, grantID, func(id string, grant *state.Grant) bool {
		terms := q.GrantTerms(q.contract, id)
		switch {
		case grant.Revoked:
			refused = refuse(events.CodeGrantRevoked, "grant %q is revoked", id)
		case q.now.Less(terms.NotBefore):
			refused = refuse(events.CodeGrantNotYetValid, "grant %q begins at %s, now is %s", id, terms.NotBefore, q.now)
		case !q.now.Less(terms.ExpiresAt):
			refused = refuse(events.CodeGrantExpired, "grant %q ended at %s, now is %s", id, terms.ExpiresAt, q.now)
		}
		return refused == nil
	})
	return refused
}

// approvalLive is "approval-live"; subject is the operation's, or "" where
// there is no operation.
func (q *question) approvalLive(approval *state.Approval, subject string) *refusal {
	if approval.Withdrawn {
		return refuse(events.CodeApprovalWithdrawn, "approval %q was withdrawn", approval.ID)
	}
	if !q.now.Less(approval.ExpiresAt) {
		return refuse(events.CodeApprovalExpired, "approval %q ended at %s, now is %s", approval.ID, approval.ExpiresAt, q.now)
	}
	if q.terms.Policy.SeparationOfDuties && (approval.Approver == subject || approval.Approver == q.principal) {
		return refuse(events.CodeSelfApproval, "%q approved it and may not act on it", approval.Approver)
	}
	return nil
}

// approvalUse checks that an approval has a use left.
func approvalUse(approval *state.Approval) *refusal {
	if !approval.Used.Less(approval.Uses) {
		return refuse(events.CodeApprovalExhausted, "approval %q was used %s times of %s", approval.ID, approval.Used, approval.Uses)
	}
	return nil
}

// capacity is "capacity"; amount 0 asks whether what is spent and reserved fits.
func (q *question) capacity(grantID string, amount schema.Decimal) *refusal {
	exposure := q.Exposure(q.contract)
	if wanted := exposure.Spent.Add(exposure.Reserved).Add(amount); exposure.Budget.Less(wanted) {
		return refuse(events.CodeBudgetExceeded, "%s would be spent or reserved of a budget of %s", wanted, exposure.Budget)
	}
	var refused *refusal
	q.Chain(q.contract, grantID, func(id string, grant *state.Grant) bool {
		if wanted := grant.Spent.Add(grant.Reserved).Add(amount); grant.Limit.Less(wanted) {
			refused = refuse(events.CodeGrantLimitExceeded, "%s would be spent or reserved of grant %q's limit of %s", wanted, id, grant.Limit)
		}
		return refused == nil
	})
	return refused
}

// acting is "acting".
func (q *question) acting(subject string) *refusal {
	if !q.terms.MayActFor(q.principal, subject) {
		return refuse(events.CodePrincipalMismatch, "%q may not act for %q", q.principal, subject)
	}
	return nil
}

// pinnedPlan is the check of requirePinnedPlan on a run's active plan.
func (q *question) pinnedPlan(run *state.Run) *refusal {
	if q.terms.Policy.RequirePinnedPlan && run.RunPlanHash == "" {
		return refuse(events.CodePlanNotPinned, "the run's plan %q is not pinned", run.PlanID)
	}
	return nil
}

// effectUnresolved refuses what another operation of the run is doing already.
func (q *question) effectUnresolved(runID, fingerprint, operationID string) *refusal {
	if other := q.Unresolved(q.contract, runID, fingerprint); other != "" && other != operationID {
		return refuse(events.CodeEffectUnresolved, "operation %q does the same and its effect is not known", other)
	}
	return nil
}

// settledWork refuses while the run has unsettled attempts.
func settledWork(run *state.Run) *refusal {
	if run.Unsettled > 0 {
		return refuse(events.CodeUnsettledWork, "%d attempts of the run are not settled", run.Unsettled)
	}
	return nil
}

// noPendingWait refuses while the run has a pending wait.
func (q *question) noPendingWait(runID string) *refusal {
	if q.PendingWait(q.contract, runID, q.now) {
		return refuse(events.CodeWaitsPending, "a wait of run %q is pending", runID)
	}
	return nil
}

// resumable checks that a wait's time is right: a TIMER is due, another has not
// expired.
func (q *question) resumable(wait *state.Wait) *refusal {
	if wait.Kind == events.WaitTimer {
		if q.now.Less(wait.Deadline) {
			return refuse(events.CodeTimerNotDue, "the timer is due at %s, now is %s", wait.Deadline, q.now)
		}
		return nil
	}
	if wait.Deadline.Less(q.now) {
		return refuse(events.CodeWaitExpired, "the wait ended at %s, now is %s", wait.Deadline, q.now)
	}
	return nil
}
