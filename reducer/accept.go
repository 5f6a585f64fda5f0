package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// accept records an authority's decision on a run's current verification
// (RULES 8).
func (q *question) accept(c *schema.Accept) ([]events.Event, *refusal) {
	run, refused := q.run(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if refused := assessable(&run, c.Decision); refused != nil {
		return reject(refused)
	}
	if refused := q.speaksFor("authority", c.Authority); refused != nil {
		return reject(refused)
	}
	verification, refused := q.decidable(c, &run)
	if refused != nil {
		return reject(refused)
	}
	refused = first(
		func() *refusal { return q.notWorker(c.RunID, c.Authority, events.CodeSelfAcceptance) },
		func() *refusal { return q.notAssessor(c.Authority, verification) },
		func() *refusal { return criteriaMet(c.Decision, verification) },
	)
	if refused != nil {
		return reject(refused)
	}
	return accept(&events.AcceptanceRecorded{
		RunID: c.RunID, Revision: c.VerificationRevision, Authority: c.Authority,
		Decision: c.Decision, Rationale: c.Rationale,
	})
}

// decidable returns the verification if it is the live, current and fresh one
// and still waits for a decision.
func (q *question) decidable(c *schema.Accept, run *state.Run) (*state.Verification, *refusal) {
	verification, ok := q.Verification(q.contract, c.RunID, c.VerificationRevision)
	switch {
	case !ok:
		return nil, refuse(events.CodeVerificationNotFound, "run %q has no verification %q", c.RunID, c.VerificationRevision)
	case verification.Invalidated:
		return nil, refuse(events.CodeVerificationInvalidated, "verification %q was invalidated", c.VerificationRevision)
	case run.Verification != c.VerificationRevision:
		return nil, refuse(events.CodeVerificationSuperseded, "verification %q is current", run.Verification)
	}
	if refused := settledWork(run); refused != nil {
		return nil, refused
	}
	if verification.SubjectVersion != run.SubjectVersion {
		return nil, refuse(events.CodeVerificationStale, "the subject was at version %d, it is at %d", verification.SubjectVersion, run.SubjectVersion)
	}
	if verification.Decision == events.Accepted || verification.Decision == events.Rejected {
		return nil, refuse(events.CodeAlreadyDecided, "verification %q is %s", c.VerificationRevision, verification.Decision)
	}
	return &verification, nil
}

func (q *question) notAssessor(authority string, verification *state.Verification) *refusal {
	if q.terms.Policy.SeparationOfDuties && authority == verification.Assessor {
		return refuse(events.CodeSelfAcceptance, "%q verified it", authority)
	}
	return nil
}

func criteriaMet(decision string, verification *state.Verification) *refusal {
	if decision == events.Accepted && !verification.AllPass() {
		return refuse(events.CodeCriteriaNotMet, "not every result is PASS")
	}
	return nil
}
