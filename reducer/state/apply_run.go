package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
)

func (s *State) applyContractOpened(c string, e *events.ContractOpened) {
	edit[Ledger](s, kindLedger, c).Mission = events.MissionOpen
	create[Exposure](s, kindExposure, c).Budget = e.Contract.Budget
	terms := create[Terms](s, kindTerms, c)
	terms.text = recordText(e)
	terms.set(e)
}

func (s *State) applyMissionStateChanged(c string, e *events.MissionStateChanged) {
	existing[Ledger](s, kindLedger, c).Mission = e.To
}

func (s *State) applyRunStarted(c string, e *events.RunStarted) {
	run := create[Run](s, kindRun, c, e.RunID)
	*run = Run{
		State: events.RunReady, PlanID: events.PlanNone, Origin: e.Origin,
		StartedAt: s.now.At, UpdatedAt: s.now.At,
	}
	if e.Origin != nil {
		existing[Trigger](s, kindTrigger, c, e.Origin.TriggerID).Live++
	}
}

func (s *State) applyRunContinued(c string, e *events.RunContinued) {
	run := s.touchRun(c, e.RunID)
	run.Epoch, run.SegmentID = e.Epoch, e.SegmentID
	s.addMark(kindSegment, c, e.RunID, e.SegmentID)
}

func (s *State) applyRunTransitioned(c string, e *events.RunTransitioned) {
	run := s.touchRun(c, e.RunID)
	run.PausedFromWaiting = e.To == events.RunPaused && e.From == events.RunWaiting
	run.State = e.To
	if run.Terminal() && run.Origin != nil {
		existing[Trigger](s, kindTrigger, c, run.Origin.TriggerID).Live--
	}
}

func (s *State) applyPlanPinned(c string, e *events.PlanPinned) {
	s.touchRun(c, e.RunID)
	*edit[Plan](s, kindPlan, c, e.RunID, e.PlanID) = planOf(e, s.now.CommandSeq)
}

func (s *State) applyPlanActivated(c string, e *events.PlanActivated) {
	run := s.touchRun(c, e.RunID)
	run.PlanID, run.RunPlanHash = e.PlanID, e.RunPlanHash
	run.SubjectVersion++
}

func (s *State) applyVerificationRecorded(c string, e *events.VerificationRecorded) {
	s.touchRun(c, e.RunID).Verification = e.Revision
	v := create[Verification](s, kindVerification, c, e.RunID, e.Revision)
	*v = Verification{
		Assessor: e.Assessor, Evidence: e.Evidence, Rationale: e.Rationale, Results: e.Results,
		SubjectVersion: e.SubjectVersion, RecordedAt: s.now.At,
	}
}

func (s *State) applyAcceptanceRecorded(c string, e *events.AcceptanceRecorded) {
	s.touchRun(c, e.RunID)
	v := existing[Verification](s, kindVerification, c, e.RunID, e.Revision)
	at := s.now.At
	v.Decision, v.Authority, v.DecidedAt = e.Decision, e.Authority, &at
}

func (s *State) applyAssessmentInvalidated(c string, e *events.AssessmentInvalidated) {
	s.touchRun(c, e.RunID)
	existing[Verification](s, kindVerification, c, e.RunID, e.Revision).Invalidated = true
}
