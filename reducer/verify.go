package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// verify records an assessment of a run against the contract's criteria
// (RULES 8).
func (q *question) verify(c *schema.Verify) ([]events.Event, *refusal) {
	run, refused := q.run(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	refused = first(
		func() *refusal { return assessable(&run, "") },
		func() *refusal { return q.speaksFor("assessor", c.Assessor) },
		func() *refusal {
			return q.notWorker(c.RunID, c.Assessor, events.CodeSelfVerification)
		},
		func() *refusal { return settledWork(&run) },
		func() *refusal { return q.undecided(c.RunID, &run) },
		func() *refusal { return q.newRevision(c.RunID, c.Revision) },
		func() *refusal { return q.meetsCriteria(c.Results) },
		func() *refusal { return evidence(c) },
	)
	if refused != nil {
		return reject(refused)
	}
	return accept(&events.VerificationRecorded{
		RunID: c.RunID, Revision: c.Revision, Assessor: c.Assessor, Results: c.Results,
		Evidence: c.Evidence, Rationale: c.Rationale, SubjectVersion: run.SubjectVersion,
	})
}

// assessable says whether a run in this state can be assessed with this
// decision, "" for a verification.
func assessable(run *state.Run, decision string) *refusal {
	switch run.State {
	case events.RunCanceled, events.RunRejected:
		return refuse(events.CodeRunStateInvalid, "the run is %s", run.State)
	case events.RunFailed:
		if decision == events.Accepted {
			return refuse(events.CodeRunStateInvalid, "a FAILED run is not accepted")
		}
	}
	return nil
}

// speaksFor says whether the principal is the one that the body names.
func (q *question) speaksFor(role, named string) *refusal {
	if named != q.principal {
		return refuse(events.CodePrincipalMismatch, "the %s is %q, the principal %q", role, named, q.principal)
	}
	return nil
}

func (q *question) notWorker(runID, principal string, code events.Code) *refusal {
	if q.terms.Policy.SeparationOfDuties && q.IsWorker(q.contract, runID, principal) {
		return refuse(code, "%q worked on run %q", principal, runID)
	}
	return nil
}

// undecided refuses a new verification while the current one stands accepted.
func (q *question) undecided(runID string, run *state.Run) *refusal {
	current, ok := q.current(runID, run)
	if ok && current.Decision == events.Accepted && current.SubjectVersion == run.SubjectVersion {
		return refuse(events.CodeAlreadyDecided, "verification %q is accepted", run.Verification)
	}
	return nil
}

// current is the run's current verification, if it is live.
func (q *question) current(runID string, run *state.Run) (state.Verification, bool) {
	if run.Verification == "" {
		return state.Verification{}, false
	}
	verification, ok := q.Verification(q.contract, runID, run.Verification)
	return verification, ok && !verification.Invalidated
}

func (q *question) newRevision(runID, revision string) *refusal {
	if _, exists := q.Verification(q.contract, runID, revision); exists {
		return refuse(events.CodeVerificationExists, "run %q has verification %q", runID, revision)
	}
	return nil
}

// meetsCriteria says whether the results are exactly for the contract's
// criteria; neither list repeats an entry.
func (q *question) meetsCriteria(results []schema.Verdict) *refusal {
	criteria := make(map[string]bool, len(q.terms.Contract.Criteria))
	for _, criterion := range q.terms.Contract.Criteria {
		criteria[criterion] = true
	}
	for _, verdict := range results {
		if !criteria[verdict.Criterion] {
			return refuse(events.CodeCriteriaMismatch, "%q is no criterion of the contract", verdict.Criterion)
		}
	}
	if len(results) != len(criteria) {
		return refuse(events.CodeCriteriaMismatch, "%d results for %d criteria", len(results), len(criteria))
	}
	return nil
}

func evidence(c *schema.Verify) *refusal {
	if len(c.Evidence) > 0 {
		return nil
	}
	for _, verdict := range c.Results {
		if verdict.Result == events.ResultPass {
			return refuse(events.CodeEvidenceRequired, "criterion %q passes and no evidence is named", verdict.Criterion)
		}
	}
	return nil
}
