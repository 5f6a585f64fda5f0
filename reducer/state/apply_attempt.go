package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func (s *State) applyOperationAdmitted(c string, e *events.OperationAdmitted) {
	run := s.touchRun(c, e.RunID)
	run.Operations++
	operation := create[Operation](s, kindOperation, c, e.OperationID)
	*operation = Operation{
		RunID: e.RunID, GrantID: e.GrantID, Subject: e.Subject, ApprovalID: e.ApprovalID,
		Capability: e.Action.Capability, Resource: e.Action.Resource, Fingerprint: e.Fingerprint,
		By: e.By, AdmittedAt: s.now.At,
	}
	s.setText(kindAction, recordText(&e.Action), c, e.OperationID)
	s.setMark(kindWorker, c, e.RunID, e.Subject)
	s.setMark(kindWorker, c, e.RunID, e.By)
}

func (s *State) applyAttemptPrepared(c string, e *events.AttemptPrepared) {
	operation := existing[Operation](s, kindOperation, c, e.OperationID)
	operation.Attempts++
	operation.Newest = e.AttemptID
	attempt := create[Attempt](s, kindAttempt, c, e.AttemptID)
	*attempt = Attempt{
		OperationID: e.OperationID, RunID: e.RunID, Number: e.Number,
		State: events.AttemptStatePrepared, Amount: e.Amount, Epoch: e.Epoch,
		GrantID: operation.GrantID, Subject: operation.Subject, ApprovalID: operation.ApprovalID,
		Capability: operation.Capability, Resource: operation.Resource, Fingerprint: operation.Fingerprint,
		PreparedAt: s.now.At,
	}
	run := s.touchRun(c, e.RunID)
	run.Attempts++
	run.Unsettled++
	s.book(c, attempt, e.Amount, schema.Decimal{})
	s.takeUse(c, operation.ApprovalID)
	s.setMark(kindWorker, c, e.RunID, e.By)
}

// book sets what an attempt reserves and adds to what it spent, in the attempt,
// its contract, its run and every grant of its chain (RULES 6, 11).
func (s *State) book(c string, attempt *Attempt, reserved, spend schema.Decimal) {
	before := attempt.Reserved
	attempt.Reserved, attempt.Spent = reserved, attempt.Spent.Add(spend)
	change := func(totalReserved, totalSpent *schema.Decimal) {
		*totalReserved = totalReserved.Sub(before).Add(reserved)
		*totalSpent = totalSpent.Add(spend)
	}
	exposure := existing[Exposure](s, kindExposure, c)
	change(&exposure.Reserved, &exposure.Spent)
	run := existing[Run](s, kindRun, c, attempt.RunID)
	change(&run.Reserved, &run.Spent)
	for id := attempt.GrantID; id != ""; {
		grant := existing[Grant](s, kindGrant, c, id)
		change(&grant.Reserved, &grant.Spent)
		id = grant.ParentID
	}
}

func (s *State) applyAttemptDispatched(c string, e *events.AttemptDispatched) {
	attempt := existing[Attempt](s, kindAttempt, c, e.AttemptID)
	at := s.now.At
	attempt.State, attempt.DispatchedAt, attempt.NodeID = events.AttemptStateDispatched, &at, e.NodeID
	s.touchRun(c, attempt.RunID)
	s.setText(kindUnresolved, attempt.OperationID, c, attempt.RunID, attempt.Fingerprint)
	s.setMark(kindWorker, c, attempt.RunID, e.By)
	if e.NodeID != "" {
		existing[Operation](s, kindOperation, c, attempt.OperationID).NodeID = e.NodeID
		s.bind(c, attempt, binding{unsettled: 1, active: 1})
	}
}

func (s *State) applyAttemptSettled(c string, e *events.AttemptSettled) {
	attempt := existing[Attempt](s, kindAttempt, c, e.AttemptID)
	run := s.touchRun(c, attempt.RunID)
	wasUnknown, before := attempt.State == events.AttemptStateUnknown, attempt.Reserved
	spend := e.Spent.Sub(attempt.Spent)
	if e.Effect == events.EffectUnknown {
		attempt.State = events.AttemptStateUnknown
		s.book(c, attempt, e.Reserved, spend)
		s.changeUnknown(c, run, wasUnknown, before, true, e.Reserved)
		return
	}
	at := s.now.At
	attempt.SettledAt = &at
	s.addMark(kindReport, c, e.AttemptID, e.Effect, e.ActualCost.String())
	s.book(c, attempt, e.Reserved, spend)
	s.changeUnknown(c, run, wasUnknown, before, false, schema.Decimal{})
	run.Unsettled--
	s.settleState(c, attempt, run, e.Effect)
}

// settleState moves an unsettled attempt to the state that a known effect gives.
func (s *State) settleState(c string, attempt *Attempt, run *Run, effect string) {
	operation := existing[Operation](s, kindOperation, c, attempt.OperationID)
	if attempt.State == events.AttemptStatePrepared {
		attempt.State = events.AttemptStateReleased
		operation.Released++
		if attempt.ApprovalID != "" {
			approval := existing[Approval](s, kindApproval, c, attempt.ApprovalID)
			approval.Used = approval.Used.Sub(one)
		}
		return
	}
	s.remove(kindUnresolved, c, attempt.RunID, attempt.Fingerprint)
	change := binding{unsettled: -1, active: -1}
	attempt.State = events.AttemptStateNotApplied
	if effect == events.EffectApplied {
		attempt.State = events.AttemptStateApplied
		operation.Applied++
		run.SubjectVersion++
		change = binding{unsettled: -1, applied: 1}
	}
	if attempt.NodeID != "" {
		s.bind(c, attempt, change)
	}
}

// changeUnknown keeps the counts and sums of UNKNOWN attempts.
func (s *State) changeUnknown(c string, run *Run, was bool, before schema.Decimal, is bool, reserved schema.Decimal) {
	exposure := existing[Exposure](s, kindExposure, c)
	if was {
		run.Unknown--
		exposure.Unknown = exposure.Unknown.Sub(before)
	}
	if is {
		run.Unknown++
		exposure.Unknown = exposure.Unknown.Add(reserved)
	}
}

func (s *State) applySettlementDisputed(c string, e *events.SettlementDisputed) {
	attempt := existing[Attempt](s, kindAttempt, c, e.AttemptID)
	run := s.touchRun(c, attempt.RunID)
	run.SubjectVersion++
	attempt.Disputed = true
	s.book(c, attempt, attempt.Reserved, e.Added)
	if e.Effect == events.EffectUnknown {
		return
	}
	s.addMark(kindReport, c, e.AttemptID, e.Effect, e.ActualCost.String())
	if attempt.State == events.AttemptStateApplied {
		return
	}
	operation := existing[Operation](s, kindOperation, c, attempt.OperationID)
	if attempt.State == events.AttemptStateReleased {
		operation.Released--
	}
	attempt.State = events.AttemptStateNotApplied
	if e.Effect == events.EffectApplied {
		attempt.State = events.AttemptStateApplied
		operation.Applied++
		if attempt.NodeID != "" {
			s.bind(c, attempt, binding{active: 1, applied: 1})
		}
	}
}

// binding is what a change of a bound attempt adds to its node and operation.
type binding struct {
	unsettled, active, applied int64
}

// bind keeps the counters of a node's bound attempts. An operation counts once
// in its node however many of its attempts are active or applied.
func (s *State) bind(c string, attempt *Attempt, change binding) {
	operation := existing[Operation](s, kindOperation, c, attempt.OperationID)
	node := edit[Node](s, kindNode, c, attempt.RunID, attempt.NodeID)
	node.Unsettled += change.unsettled
	node.Applied += change.applied
	node.ActiveOps += step(&operation.NodeActive, change.active)
	node.AppliedOps += step(&operation.NodeApplied, change.applied)
}

// step adds n to a count and says how the number of counts above zero changed.
func step(count *int64, n int64) int64 {
	before := *count > 0
	*count += n
	after := *count > 0
	switch {
	case after && !before:
		return 1
	case before && !after:
		return -1
	}
	return 0
}
