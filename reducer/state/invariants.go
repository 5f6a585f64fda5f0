package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// CheckInvariants says whether everything holds that must always hold (RULES
// 11), whatever command came last: it counts and sums all rows anew and
// compares. It also checks every counter and every index that rules read
// instead of scanning. It changes nothing, reads everything, and so is for
// tests and for builds tagged invariants.
//
// What one state cannot show is for the caller: that now never falls, that an
// attempt is dispatched once, that a command has one decision, that a replay
// gives the same.
func (s *State) CheckInvariants() error {
	a := &audit{ledgers: map[string]*ledgerAudit{}, due: map[string]bool{}}
	if err := s.eachRow(a.take); err != nil {
		return err
	}
	for _, id := range a.order {
		a.check(a.ledgers[id])
	}
	a.checkDue()
	return errors.Join(a.faults...)
}

// audit is one check of all rows.
type audit struct {
	ledgers map[string]*ledgerAudit
	order   []string
	due     map[string]bool // keys of kindDue that are there and not yet explained
	faults  []error
}

const maxFaults = 20

func (a *audit) failf(format string, args ...any) {
	if len(a.faults) < maxFaults {
		a.faults = append(a.faults, fmt.Errorf(format, args...))
	}
}

// same fails where a stored figure is not the counted one.
func (a *audit) same(stored, counted int64, format string, args ...any) {
	if stored != counted {
		a.failf("%s: stored %d, counted %d", fmt.Sprintf(format, args...), stored, counted)
	}
}

// equal fails where a stored sum is not the summed one.
func (a *audit) equal(stored, summed schema.Decimal, format string, args ...any) {
	if !stored.Equal(summed) {
		a.failf("%s: stored %s, summed %s", fmt.Sprintf(format, args...), stored, summed)
	}
}

// named is a row with the last part of its key.
type named[R any] struct {
	id  string
	row R
}

// ledgerAudit is the rows of one ledger.
type ledgerAudit struct {
	id       string
	ledger   *Ledger
	terms    *Terms
	exposure *Exposure

	runs       []named[*Run]
	grants     []named[*Grant]
	grantTerms map[string]*GrantTerms
	approvals  []named[*Approval]
	operations []named[*Operation]
	attempts   []named[*Attempt]
	waits      []named[*Wait]
	triggers   []named[*Trigger]
	nodes      []nodeRow

	triggerTerms  map[string]*TriggerTerms
	firings       map[string][]named[*firing] // by trigger
	graphs        map[string]*Graph
	verifications map[[2]string]*Verification // by run and revision
	revisions     [][2]string                 // the keys of verifications
	plans         map[[2]string]*Plan         // by run and plan
	actions       map[string]string           // by operation
	unresolved    map[[2]string]string        // by run and fingerprint
	workers       map[[2]string]bool          // run and principal
	pending       map[[2]string]bool          // run and wait, by deadline
	dependents    [][2]string                 // run and dependent
	segments      map[string]int64            // by run

	tallies   map[string]*runTally
	approvalU map[string]int64 // uses that attempts hold, by approval
}

type nodeRow struct {
	run, id string
	row     *Node
}

func (a *audit) ledger(id string) *ledgerAudit {
	if l := a.ledgers[id]; l != nil {
		return l
	}
	l := &ledgerAudit{
		id: id, grantTerms: map[string]*GrantTerms{}, triggerTerms: map[string]*TriggerTerms{},
		firings: map[string][]named[*firing]{}, graphs: map[string]*Graph{}, verifications: map[[2]string]*Verification{},
		plans: map[[2]string]*Plan{}, actions: map[string]string{}, unresolved: map[[2]string]string{},
		workers: map[[2]string]bool{}, pending: map[[2]string]bool{}, segments: map[string]int64{},
		tallies: map[string]*runTally{}, approvalU: map[string]int64{},
	}
	a.ledgers[id] = l
	a.order = append(a.order, id)
	return l
}

// unchecked are the kinds that no invariant is about.
func unchecked(kind byte) bool {
	switch kind {
	case kindDecision, kindReceipt, kindReport, kindEvent:
		return true
	}
	return false
}

// take sorts one row into its ledger.
func (a *audit) take(key string, r row) error {
	kind := key[0]
	if unchecked(kind) {
		return nil
	}
	if kind == kindDue {
		a.due[key] = true
		return nil
	}
	parts, err := splitKey(key)
	if err != nil || len(parts) == 0 {
		return fmt.Errorf("row %q: %w", key, errKey)
	}
	l, last := a.ledger(parts[0]), parts[len(parts)-1]
	switch r := r.(type) {
	case *Ledger:
		l.ledger = r
	case *Terms:
		l.terms = r
	case *Exposure:
		l.exposure = r
	case *Run:
		l.runs = append(l.runs, named[*Run]{last, r})
	case *Grant:
		l.grants = append(l.grants, named[*Grant]{last, r})
	case *GrantTerms:
		l.grantTerms[last] = r
	case *Approval:
		l.approvals = append(l.approvals, named[*Approval]{last, r})
	case *Operation:
		l.operations = append(l.operations, named[*Operation]{last, r})
	case *Attempt:
		l.attempts = append(l.attempts, named[*Attempt]{last, r})
	case *Wait:
		l.waits = append(l.waits, named[*Wait]{last, r})
	case *Trigger:
		l.triggers = append(l.triggers, named[*Trigger]{last, r})
	case *TriggerTerms:
		l.triggerTerms[last] = r
	case *Graph:
		l.graphs[last] = r
	default:
		l.takeOfRun(kind, parts, r)
	}
	return nil
}

// takeOfRun takes the rows whose key has a third part, and the marks.
func (l *ledgerAudit) takeOfRun(kind byte, parts []string, r row) {
	first, last := parts[1], parts[len(parts)-1]
	switch r := r.(type) {
	case *Node:
		l.nodes = append(l.nodes, nodeRow{first, last, r})
	case *Verification:
		l.verifications[[2]string{first, last}] = r
		l.revisions = append(l.revisions, [2]string{first, last})
	case *Plan:
		l.plans[[2]string{first, last}] = r
	case *firing:
		l.firings[first] = append(l.firings[first], named[*firing]{last, r})
	case *textRow:
		if kind == kindAction {
			l.actions[first] = r.Text
		} else {
			l.unresolved[[2]string{first, last}] = r.Text
		}
	default:
		switch kind {
		case kindSegment:
			l.segments[first]++
		case kindWorker:
			l.workers[[2]string{first, last}] = true
		case kindPendingWait:
			l.pending[[2]string{first, parts[2] + last}] = true
		case kindDependent:
			l.dependents = append(l.dependents, [2]string{first, last})
		}
	}
}

// check checks one ledger.
func (a *audit) check(l *ledgerAudit) {
	if l.ledger == nil {
		a.failf("ledger %q has no head", l.id)
		return
	}
	if !l.ledger.Open() {
		if l.terms != nil || l.exposure != nil || len(l.runs)+len(l.grants)+len(l.triggers)+len(l.graphs) > 0 {
			a.failf("ledger %q has rows and is not open", l.id)
		}
		return
	}
	if !slices.Contains(schema.MissionStates, l.ledger.Mission) {
		a.failf("the mission of ledger %q is %q", l.id, l.ledger.Mission)
	}
	if l.terms == nil || l.exposure == nil {
		a.failf("ledger %q is open without its contract", l.id)
		return
	}
	a.checkAttempts(l)
	a.checkOperations(l)
	a.checkGrants(l)
	a.checkApprovals(l)
	a.checkWaits(l)
	a.checkNodes(l)
	a.checkTriggers(l)
	a.checkAssessments(l)
	a.checkRuns(l)
}

// checkDue wants every due entry to have been explained by a wait or a trigger.
func (a *audit) checkDue() {
	for _, key := range slices.Sorted(maps.Keys(a.due)) {
		a.failf("due entry %q belongs to nothing", key)
	}
}

// eachRow calls f for every row that there is: those that are stored, changed
// as the State knows them.
func (s *State) eachRow(f func(key string, r row) error) error {
	pending := map[string]bool{}
	visit := func(e *entry) error {
		if pending[e.key] {
			return nil
		}
		pending[e.key] = true
		if e.row == nil {
			return nil
		}
		return f(e.key, e.row)
	}
	for _, flight := range append(slices.Clone(s.flights), s.dirty) {
		for _, e := range flight {
			if err := visit(e); err != nil {
				return err
			}
		}
	}
	members := s.pendingMembers()
	for _, m := range members {
		pending[m.id] = true
		if !m.row {
			continue
		}
		if err := f(m.id, &mark{}); err != nil {
			return err
		}
	}
	return s.eachStored(pending, f)
}

// pendingMembers are the changes of ordered sets, in order.
func (s *State) pendingMembers() []named[bool] {
	var list []named[bool]
	for _, prefix := range slices.Sorted(maps.Keys(s.sets)) {
		group := s.sets[prefix]
		for _, key := range slices.Sorted(maps.Keys(group)) {
			list = append(list, named[bool]{key, group[key].present})
		}
	}
	return list
}

// eachStored calls f for the stored rows that are not in except. The kinds of
// rows are letters; a store may keep keys of its own below them.
func (s *State) eachStored(except map[string]bool, f func(key string, r row) error) error {
	var failed error
	err := s.rows.Scan([]byte{'A'}, []byte{'z' + 1}, false, func(key, value []byte) bool {
		if except[string(key)] || unchecked(key[0]) {
			return true
		}
		var r row
		if r, failed = s.peek(key, value); failed == nil {
			failed = f(string(key), r)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	return err
}

// peek is a stored row, from the cache if it is there; the cache keeps its
// order.
func (s *State) peek(key, value []byte) (row, error) {
	for _, generation := range []map[string]*entry{s.cache.young, s.cache.old} {
		if e := generation[string(key)]; e != nil && e.row != nil {
			return e.row, nil
		}
	}
	r := newRow(key[0])
	if r == nil {
		return nil, fmt.Errorf("row %q: unknown kind", key)
	}
	if _, isSet := r.(*setMember); isSet {
		return &mark{}, nil
	}
	var meta Meta
	if err := decodeRow(value, &meta, r); err != nil {
		return nil, fmt.Errorf("row %q: %w", key, err)
	}
	return r, nil
}

// setMember stands for the rows of ordered sets, which have no fields and no
// Meta.
type setMember struct{ mark }

// newRow is an empty row of the kind, or nil for an unknown one.
func newRow(kind byte) row { //nolint:funlen // the table of all kinds
	switch kind {
	case kindTerms:
		return &Terms{}
	case kindLedger:
		return &Ledger{}
	case kindExposure:
		return &Exposure{}
	case kindRun:
		return &Run{}
	case kindSegment, kindWorker, kindReport:
		return &mark{}
	case kindPlan:
		return &Plan{}
	case kindGrantTerms:
		return &GrantTerms{}
	case kindGrant:
		return &Grant{}
	case kindApproval:
		return &Approval{}
	case kindOperation:
		return &Operation{}
	case kindAction, kindUnresolved, kindEvent:
		return &textRow{}
	case kindAttempt:
		return &Attempt{}
	case kindWait:
		return &Wait{}
	case kindPendingWait, kindDependent, kindDue:
		return &setMember{}
	case kindVerification:
		return &Verification{}
	case kindTriggerTerms:
		return &TriggerTerms{}
	case kindTrigger:
		return &Trigger{}
	case kindFiring:
		return &firing{}
	case kindGraph:
		return &Graph{}
	case kindNode:
		return &Node{}
	case kindReceipt:
		return &Receipt{}
	case kindDecision:
		return &Decided{}
	}
	return nil
}
