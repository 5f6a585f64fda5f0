package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// figures are what attempts reserve and have spent.
type figures struct {
	reserved, spent schema.Decimal
}

func (f *figures) add(reserved, spent schema.Decimal) {
	f.reserved, f.spent = f.reserved.Add(reserved), f.spent.Add(spent)
}

// runTally is what a run's figures must be, counted from the rows about it.
type runTally struct {
	figures
	attempts, unsettled, unknown   int64
	operations, timers             int64
	endsCompleted, endsSkipped     int64
	waitNodes, waitsProved         int64 // completed WAIT nodes; waits that proved one
	subworkflowNodes, dependsOn    int64 // completed SUBWORKFLOW nodes; runs that proved one
	approvalNodes, approvalsProved int64 // completed APPROVAL nodes; uses that no attempt explains
}

func (l *ledgerAudit) tally(runID string) *runTally {
	t := l.tallies[runID]
	if t == nil {
		t = &runTally{}
		l.tallies[runID] = t
	}
	return t
}

// checkAttempts checks each attempt by itself and sums them up: over the
// contract here, over runs in their tallies.
func (a *audit) checkAttempts(l *ledgerAudit) {
	var sum figures
	var unknown schema.Decimal
	for _, n := range l.attempts {
		attempt, t := n.row, l.tally(n.row.RunID)
		sum.add(attempt.Reserved, attempt.Spent)
		t.add(attempt.Reserved, attempt.Spent)
		t.attempts++
		if attempt.Unsettled() {
			t.unsettled++
		} else if !attempt.Reserved.IsZero() {
			a.failf("attempt %q is %s and reserves %s", n.id, attempt.State, attempt.Reserved)
		}
		if attempt.State == events.AttemptStateUnknown {
			t.unknown++
			unknown = unknown.Add(attempt.Reserved)
		}
		a.checkAttempt(n.id, attempt)
	}
	a.equal(l.exposure.Reserved, sum.reserved, "contract %q reserved", l.id)
	a.equal(l.exposure.Spent, sum.spent, "contract %q spent", l.id)
	a.equal(l.exposure.Unknown, unknown, "contract %q unknown", l.id)
	a.equal(l.exposure.Budget, l.terms.Contract.Budget, "contract %q budget", l.id)
}

func (a *audit) checkAttempt(id string, attempt *Attempt) {
	dispatched, settled := attempt.DispatchedAt != nil, attempt.SettledAt != nil
	var fits bool
	switch attempt.State {
	case events.AttemptStatePrepared:
		fits = !dispatched && !settled && attempt.Reserved.Equal(attempt.Amount)
	case events.AttemptStateDispatched:
		fits = dispatched && !settled && attempt.Reserved.Equal(attempt.Amount)
	case events.AttemptStateUnknown:
		fits = dispatched && !settled && !attempt.Reserved.Less(attempt.Amount)
	case events.AttemptStateApplied, events.AttemptStateNotApplied:
		fits = settled && (dispatched || attempt.Disputed)
	case events.AttemptStateReleased:
		fits = settled && !dispatched && (attempt.Spent.IsZero() || attempt.Disputed)
	}
	if !fits {
		a.failf("attempt %q: state %s does not fit dispatched=%t settled=%t disputed=%t reserved=%s amount=%s",
			id, attempt.State, dispatched, settled, attempt.Disputed, attempt.Reserved, attempt.Amount)
	}
	if attempt.Unsettled() && (attempt.Disputed || !attempt.Spent.IsZero()) {
		a.failf("attempt %q is %s, disputed=%t and has spent %s", id, attempt.State, attempt.Disputed, attempt.Spent)
	}
	if attempt.NodeID != "" && !dispatched {
		a.failf("attempt %q is bound to node %q and was not dispatched", id, attempt.NodeID)
	}
}

// checkGrants checks that each grant's figures are those of its own attempts
// and its children, and that the roots' are the contract's.
func (a *audit) checkGrants(l *ledgerAudit) {
	own, children := map[string]*figures{}, map[string]*figures{}
	below := map[string]int64{}
	of := func(m map[string]*figures, id string) *figures {
		if m[id] == nil {
			m[id] = &figures{}
		}
		return m[id]
	}
	byID := make(map[string]*Grant, len(l.grants))
	for _, n := range l.grants {
		byID[n.id] = n.row
		of(children, n.row.ParentID).add(n.row.Reserved, n.row.Spent)
	}
	for _, n := range l.attempts {
		of(own, n.row.GrantID).add(n.row.Reserved, n.row.Spent)
	}
	for _, n := range l.grants {
		if !n.row.Revoked {
			a.countBelow(byID, n.row.ParentID, below)
		}
	}
	for _, n := range l.grants {
		sum := *of(own, n.id)
		sum.add(of(children, n.id).reserved, of(children, n.id).spent)
		a.equal(n.row.Reserved, sum.reserved, "grant %q reserved", n.id)
		a.equal(n.row.Spent, sum.spent, "grant %q spent", n.id)
		a.same(n.row.LiveBelow, below[n.id], "grant %q live descendants", n.id)
		a.checkGrant(l, n, byID)
	}
	roots := of(children, "")
	a.equal(l.exposure.Reserved, roots.reserved, "contract %q reserved, summed over root grants", l.id)
	a.equal(l.exposure.Spent, roots.spent, "contract %q spent, summed over root grants", l.id)
}

// countBelow counts a live grant in each grant above it, up to the first
// revoked one.
func (a *audit) countBelow(grants map[string]*Grant, parentID string, below map[string]int64) {
	for id := parentID; id != ""; {
		grant := grants[id]
		if grant == nil {
			a.failf("grant %q is a parent and is not there", id)
			return
		}
		below[id]++
		if grant.Revoked {
			return
		}
		id = grant.ParentID
	}
}

// checkGrant compares a grant with its terms, and those with its parent's.
func (a *audit) checkGrant(l *ledgerAudit, n named[*Grant], grants map[string]*Grant) {
	terms := l.grantTerms[n.id]
	if terms == nil || terms.ParentID != n.row.ParentID || terms.Subject != n.row.Subject || !terms.Limit.Equal(n.row.Limit) {
		a.failf("grant %q is not as it was issued", n.id)
		return
	}
	if terms.ParentID == "" {
		if l.terms.Contract.Budget.Less(terms.Limit) || l.terms.Contract.Deadline.Less(terms.ExpiresAt) {
			a.failf("grant %q is wider than its contract", n.id)
		}
		return
	}
	parent := l.grantTerms[terms.ParentID]
	if parent == nil || grants[terms.ParentID] == nil {
		a.failf("grant %q has no parent %q", n.id, terms.ParentID)
		return
	}
	if parent.Limit.Less(terms.Limit) || parent.ExpiresAt.Less(terms.ExpiresAt) || !terms.Depth.Less(parent.Depth) {
		a.failf("grant %q is wider than its parent %q", n.id, terms.ParentID)
	}
}

// checkApprovals checks 0 <= used <= uses, that each use is held by an attempt
// that was not released or by a node, and that operations do what was approved.
func (a *audit) checkApprovals(l *ledgerAudit) {
	for _, n := range l.attempts {
		released := n.row.DispatchedAt == nil && n.row.State != events.AttemptStatePrepared
		if n.row.ApprovalID != "" && !released {
			l.approvalU[n.row.ApprovalID]++
		}
	}
	byID := make(map[string]*Approval, len(l.approvals))
	for _, n := range l.approvals {
		byID[n.id] = n.row
	}
	for _, n := range l.operations {
		if approval := byID[n.row.ApprovalID]; n.row.ApprovalID != "" && (approval == nil || approval.RunID != n.row.RunID || approval.Fingerprint != n.row.Fingerprint) {
			a.failf("operation %q is not what approval %q approves", n.id, n.row.ApprovalID)
		}
	}
	for _, n := range l.approvals {
		if n.row.Uses.Less(n.row.Used) {
			a.failf("approval %q is used %s times of %s", n.id, n.row.Used, n.row.Uses)
		}
		held := schema.DecimalOf(uint64(l.approvalU[n.id]))
		if n.row.Used.Less(held) {
			a.failf("approval %q is used %s times, and %s attempts hold a use", n.id, n.row.Used, held)
			continue
		}
		proved, _ := n.row.Used.Sub(held).Uint64()
		l.tally(n.row.RunID).approvalsProved += int64(proved)
	}
}
