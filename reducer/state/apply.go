package state

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Apply folds one decision: the ledger's now and chain head, the receipt of
// the command id, the index of decisions, and each event. It is the only
// writer of the state, and it refuses nothing: an event that does not fit is
// our own bug, or a log that was never ours, and panics.
func (s *State) Apply(m *events.Message, d *events.Decision) {
	s.now = Meta{CommandSeq: d.CommandSeq, At: d.At}
	d.Unrouted = s.unrouted(d)
	ledger := d.Ledger()

	head := edit[Ledger](s, kindLedger, ledger)
	head.Now, head.Head = d.At, d.Hash
	if !d.Unrouted && d.Outcome != events.OutcomeDuplicate && m.IDs != nil && d.Code != events.CodeCommandIDInvalid {
		s.applyReceipt(d)
	}
	s.applyIndex(ledger, d)
	for _, e := range d.Events {
		s.applyEvent(d.Contract, e)
	}
	s.checks.after(s)
}

// unrouted says whether the record belongs to the chain of _unrouted: the
// subject names no ledger, or the ledger is not open and is not opened by it
// (RULES 2).
func (s *State) unrouted(d *events.Decision) bool {
	if d.Code == events.CodeSubjectInvalid {
		return true
	}
	if d.Outcome == events.OutcomeAccepted {
		return false
	}
	ledger := s.Ledger(d.Contract)
	return !ledger.Open()
}

// applyReceipt remembers the first decision of a command id.
func (s *State) applyReceipt(d *events.Decision) {
	switch d.Code {
	case events.CodeCommandIDReused:
		return // the id has its receipt
	case events.CodeBodyTooLarge, events.CodeJSONInvalid, events.CodeSchemaInvalid, events.CodeSubjectMismatch:
		if _, known := s.Receipt(d.Contract, d.Principal, d.CommandID); known {
			return // refused before anybody looked whether the id has one (RULES 2)
		}
	}
	r := create[Receipt](s, kindReceipt, d.Contract, d.Principal, d.CommandID)
	*r = Receipt{CommandSeq: d.CommandSeq, BodyHash: d.BodyHash, Outcome: d.Outcome, Code: d.Code}
}

// applyIndex adds the decision to the index. The row is never read by rules,
// so it goes round the cache.
func (s *State) applyIndex(ledger string, d *events.Decision) {
	var types []string
	if len(d.Events) > 0 {
		types = make([]string, len(d.Events))
	}
	for i, e := range d.Events {
		types[i] = e.Type()
	}
	s.decided = append(s.decided, Decided{
		CommandSeq: d.CommandSeq, CommandID: d.CommandID, Contract: d.Contract, Principal: d.Principal, Type: d.Type,
		At: d.At, Outcome: d.Outcome, Code: d.Code, Reason: d.Reason, Events: types, ledger: ledger,
	})
}

func (s *State) applyEvent(c string, e events.Event) { //nolint:funlen // the table of all events
	switch e := e.(type) {
	case *events.AcceptanceRecorded:
		s.applyAcceptanceRecorded(c, e)
	case *events.ApprovalRecorded:
		s.applyApprovalRecorded(c, e)
	case *events.ApprovalWithdrawn:
		s.applyApprovalWithdrawn(c, e)
	case *events.AssessmentInvalidated:
		s.applyAssessmentInvalidated(c, e)
	case *events.AttemptDispatched:
		s.applyAttemptDispatched(c, e)
	case *events.AttemptPrepared:
		s.applyAttemptPrepared(c, e)
	case *events.AttemptSettled:
		s.applyAttemptSettled(c, e)
	case *events.ContractOpened:
		s.applyContractOpened(c, e)
	case *events.GrantIssued:
		s.applyGrantIssued(c, e)
	case *events.GrantRevoked:
		s.applyGrantRevoked(c, e)
	case *events.GraphAttached:
		s.applyGraphAttached(c, e)
	case *events.GraphRegistered:
		s.applyGraphRegistered(c, e)
	case *events.JoinSatisfied:
		s.applyJoinSatisfied(c, e)
	case *events.MissionStateChanged:
		s.applyMissionStateChanged(c, e)
	case *events.NodeCompleted:
		s.applyNodeCompleted(c, e)
	case *events.NodesSkipped:
		s.applyNodesSkipped(c, e)
	case *events.OperationAdmitted:
		s.applyOperationAdmitted(c, e)
	case *events.PlanActivated:
		s.applyPlanActivated(c, e)
	case *events.PlanPinConfirmed:
		s.touchRun(c, e.RunID)
	case *events.PlanPinned:
		s.applyPlanPinned(c, e)
	case *events.RunContinued:
		s.applyRunContinued(c, e)
	case *events.RunStarted:
		s.applyRunStarted(c, e)
	case *events.RunTransitioned:
		s.applyRunTransitioned(c, e)
	case *events.SettlementDisputed:
		s.applySettlementDisputed(c, e)
	case *events.TriggerCursorMoved:
		s.applyTriggerCursorMoved(c, e)
	case *events.TriggerFired:
		s.applyTriggerFired(c, e)
	case *events.TriggerObserved:
		s.applyTriggerObserved(c, e)
	case *events.TriggerRegistered:
		s.applyTriggerRegistered(c, e)
	case *events.VerificationRecorded:
		s.applyVerificationRecorded(c, e)
	case *events.WaitCreated:
		s.applyWaitCreated(c, e)
	case *events.WaitSatisfied:
		s.applyWaitSatisfied(c, e)
	default:
		panic(fmt.Sprintf("state: no way to fold event %T of command %d", e, s.now.CommandSeq))
	}
}

// existing returns a row for writing that an event takes for granted. With a
// poisoned state a missing row is no surprise: whatever is done to it is
// dropped with the state.
func existing[T any, P interface {
	*T
	row
}](s *State, kind byte, parts ...string,
) P {
	if get[T, P](s, kind, parts...) == nil && s.err == nil {
		panic(fmt.Sprintf("state: command %d: no row %c %q", s.now.CommandSeq, kind, parts))
	}
	return edit[T, P](s, kind, parts...)
}

// touchRun returns a run for writing and moves its updatedAt (RULES 12).
func (s *State) touchRun(c, runID string) *Run {
	run := existing[Run](s, kindRun, c, runID)
	run.UpdatedAt = s.now.At
	return run
}

func (s *State) setMark(kind byte, parts ...string) {
	s.scratch = appendKey(s.scratch[:0], kind, parts...)
	if e := load[mark](s, s.scratch); e.row == nil {
		e.row = &mark{}
		s.touch(e)
	}
}

// addMark is setMark for a mark that the rules made sure is not there.
func (s *State) addMark(kind byte, parts ...string) { create[mark](s, kind, parts...) }

func (s *State) setText(kind byte, text string, parts ...string) {
	create[textRow](s, kind, parts...).Text = text
}

func recordText(r schema.Record) string { return string(schema.AppendRecord(nil, r)) }
