package state

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// operationTally is what an operation's counters must be.
type operationTally struct {
	attempts, released, applied int64
	active, nodeApplied         int64 // bound attempts
	live                        int64 // PREPARED, DISPATCHED, UNKNOWN or APPLIED
	newest                      string
	newestNumber                int64
	disputed                    bool
	nodeID                      string
}

func (t *operationTally) add(id string, attempt *Attempt) {
	t.attempts++
	t.disputed = t.disputed || attempt.Disputed
	if attempt.Number > t.newestNumber {
		t.newest, t.newestNumber = id, attempt.Number
	}
	applied := attempt.State == events.AttemptStateApplied
	switch {
	case applied:
		t.applied++
		t.live++
	case attempt.Unsettled():
		t.live++
	case attempt.State == events.AttemptStateReleased:
		t.released++
	}
	if attempt.NodeID == "" {
		return
	}
	t.nodeID = attempt.NodeID
	if attempt.Called() || applied {
		t.active++
	}
	if applied {
		t.nodeApplied++
	}
}

// checkOperations counts each operation's attempts, and looks for effects that
// are open twice.
func (a *audit) checkOperations(l *ledgerAudit) {
	tallies := make(map[string]*operationTally, len(l.operations))
	byID := make(map[string]*Operation, len(l.operations))
	for _, n := range l.operations {
		tallies[n.id], byID[n.id] = &operationTally{}, n.row
		l.tally(n.row.RunID).operations++
	}
	open := map[[2]string]string{}
	for _, n := range l.attempts {
		operation := byID[n.row.OperationID]
		if operation == nil || !copied(n.row, operation) {
			a.failf("attempt %q is not of its operation %q", n.id, n.row.OperationID)
			continue
		}
		tallies[n.row.OperationID].add(n.id, n.row)
		if n.row.NodeID != "" && n.row.NodeID != operation.NodeID {
			a.failf("attempt %q is bound to node %q, its operation to %q", n.id, n.row.NodeID, operation.NodeID)
		}
		if !n.row.Called() {
			continue
		}
		key := [2]string{n.row.RunID, n.row.Fingerprint}
		if other := open[key]; other != "" {
			a.failf("run %q has two attempts of one fingerprint whose effect is open: of operation %q and %q", n.row.RunID, other, n.row.OperationID)
		}
		open[key] = n.row.OperationID
		if l.unresolved[key] != n.row.OperationID {
			a.failf("attempt %q is %s, the index names operation %q", n.id, n.row.State, l.unresolved[key])
		}
	}
	a.same(int64(len(l.unresolved)), int64(len(open)), "contract %q unresolved effects", l.id)
	for _, n := range l.operations {
		a.checkOperation(l, n.id, n.row, tallies[n.id])
	}
}

// copied says whether an attempt has what it takes over from its operation.
func copied(attempt *Attempt, o *Operation) bool {
	return attempt.RunID == o.RunID && attempt.GrantID == o.GrantID && attempt.Subject == o.Subject &&
		attempt.ApprovalID == o.ApprovalID && attempt.Capability == o.Capability && attempt.Resource == o.Resource &&
		attempt.Fingerprint == o.Fingerprint
}

func (a *audit) checkOperation(l *ledgerAudit, id string, o *Operation, t *operationTally) {
	a.same(o.Attempts, t.attempts, "operation %q attempts", id)
	a.same(o.Attempts, t.newestNumber, "operation %q number of the newest attempt", id)
	a.same(o.Released, t.released, "operation %q released", id)
	a.same(o.Applied, t.applied, "operation %q applied", id)
	a.same(o.NodeActive, t.active, "operation %q bound and active", id)
	a.same(o.NodeApplied, t.nodeApplied, "operation %q bound and applied", id)
	if o.Newest != t.newest || o.NodeID != t.nodeID {
		a.failf("operation %q: newest %q node %q, counted %q %q", id, o.Newest, o.NodeID, t.newest, t.nodeID)
	}
	if !t.disputed && t.live > 1 {
		a.failf("operation %q has %d attempts that work or have worked", id, t.live)
	}
	counted := schema.DecimalOf(uint64(t.attempts - t.released))
	if limit := l.terms.Contract.MaxAttempts; !t.disputed && limit.Less(counted) {
		a.failf("operation %q has %s attempts of %s", id, counted, limit)
	}
	if text := l.actions[id]; schema.HashOf([]byte(text)) != o.Fingerprint {
		a.failf("operation %q: its action does not have its fingerprint", id)
	}
	for _, worker := range []string{o.Subject, o.By} {
		if !l.workers[[2]string{o.RunID, worker}] {
			a.failf("operation %q: %q is no worker of run %q", id, worker, o.RunID)
		}
	}
}

// checkWaits checks the waits and what is kept to find those that are pending.
func (a *audit) checkWaits(l *ledgerAudit) {
	var pending int64
	for _, n := range l.waits {
		wait, t := n.row, l.tally(n.row.RunID)
		isPending := wait.State == WaitPending
		if !isPending && wait.State != WaitSatisfied || isPending == (wait.SatisfiedAt != nil) || isPending && wait.Proved != "" {
			a.failf("wait %q is %s, satisfied at %v, proved %q", n.id, wait.State, wait.SatisfiedAt, wait.Proved)
		}
		if wait.Proved != "" {
			t.waitsProved++
		}
		if !isPending {
			continue
		}
		if wait.Kind == events.WaitTimer {
			t.timers++
			a.explain(Due{At: wait.Deadline, Contract: l.id, What: DueWait, ID: n.id})
			continue
		}
		pending++
		if !l.pending[[2]string{wait.RunID, decimalPart(wait.Deadline) + n.id}] {
			a.failf("wait %q is pending and not in the index", n.id)
		}
	}
	a.same(int64(len(l.pending)), pending, "contract %q pending waits that are no timers", l.id)
}

// explain takes a due entry off the list of those that are there.
func (a *audit) explain(d Due) {
	key := dueKey(d)
	if !a.due[key] {
		a.failf("no due entry for %s %q at %s", d.What, d.ID, d.At)
	}
	delete(a.due, key)
}

// checkRuns compares each run with its tally.
func (a *audit) checkRuns(l *ledgerAudit) {
	var sum figures
	for _, n := range l.runs {
		t := l.tally(n.id)
		delete(l.tallies, n.id)
		sum.add(n.row.Reserved, n.row.Spent)
		a.checkRun(l, n.id, n.row, t)
	}
	a.same(int64(len(l.tallies)), 0, "contract %q runs that have rows and are not there", l.id)
	a.equal(l.exposure.Reserved, sum.reserved, "contract %q reserved, summed over runs", l.id)
	a.equal(l.exposure.Spent, sum.spent, "contract %q spent, summed over runs", l.id)
}

func (a *audit) checkRun(l *ledgerAudit, id string, run *Run, t *runTally) {
	a.equal(run.Reserved, t.reserved, "run %q reserved", id)
	a.equal(run.Spent, t.spent, "run %q spent", id)
	a.same(run.Attempts, t.attempts, "run %q attempts", id)
	a.same(run.Unsettled, t.unsettled, "run %q unsettled", id)
	a.same(run.Unknown, t.unknown, "run %q unknown", id)
	a.same(run.Operations, t.operations, "run %q operations", id)
	a.same(run.PendingTimers, t.timers, "run %q pending timers", id)
	a.same(run.EndsCompleted, t.endsCompleted, "run %q completed ENDs", id)
	a.same(run.EndsSkipped, t.endsSkipped, "run %q skipped ENDs", id)
	a.same(run.Epoch, l.segments[id], "run %q segments", id)
	a.same(t.waitsProved, t.waitNodes, "run %q completed WAIT nodes", id)
	a.same(t.dependsOn, t.subworkflowNodes, "run %q completed SUBWORKFLOW nodes", id)
	a.same(t.approvalsProved, t.approvalNodes, "run %q completed APPROVAL nodes", id)
	if run.Terminal() && t.unsettled > 0 {
		a.failf("run %q is %s with %d unsettled attempts", id, run.State, t.unsettled)
	}
	if !slices.Contains(schema.RunStates, run.State) {
		a.failf("run %q is %q", id, run.State)
	}
	if run.PausedFromWaiting && run.State != events.RunPaused {
		a.failf("run %q is %s and paused from WAITING", id, run.State)
	}
	if run.State == events.RunRejected && run.Operations > 0 {
		a.failf("run %q is REJECTED and admitted %d operations", id, run.Operations)
	}
	if plan := l.plans[[2]string{id, run.PlanID}]; run.RunPlanHash != "" && (plan == nil || plan.RunPlanHash != run.RunPlanHash) {
		a.failf("run %q: plan %q is not pinned as %s", id, run.PlanID, run.RunPlanHash)
	}
	if run.UpdatedAt.Less(run.StartedAt) || l.ledger.Now.Less(run.UpdatedAt) {
		a.failf("run %q: started %s, updated %s, now %s", id, run.StartedAt, run.UpdatedAt, l.ledger.Now)
	}
}

// checkAssessments checks verifications, and which run is whose dependent.
func (a *audit) checkAssessments(l *ledgerAudit) {
	states := make(map[string]*Run, len(l.runs))
	for _, n := range l.runs {
		states[n.id] = n.row
		if current := n.row.Verification; current != "" && l.verifications[[2]string{n.id, current}] == nil {
			a.failf("run %q has no verification %q, which is current", n.id, current)
		}
	}
	for _, key := range l.revisions {
		v, run := l.verifications[key], states[key[0]]
		if run == nil || run.SubjectVersion < v.SubjectVersion {
			a.failf("verification %q of run %q is of a later subject", key[1], key[0])
		}
		if v.Decision == events.Accepted && !v.AllPass() {
			a.failf("verification %q of run %q is accepted and does not pass", key[1], key[0])
		}
		if l.terms.Policy.SeparationOfDuties && v.Authority != "" && v.Authority == v.Assessor {
			a.failf("verification %q of run %q was decided by its assessor", key[1], key[0])
		}
	}
	for _, pair := range l.dependents {
		if run := states[pair[0]]; run == nil || run.State != events.RunCompleted {
			a.failf("run %q proved a node of run %q and is not COMPLETED", pair[0], pair[1])
		}
		l.tally(pair[1]).dependsOn++
	}
}
