package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// activatePlan makes a plan the run's active one, if the run's plan is the one
// that the caller expects (RULES 4).
func (q *question) activatePlan(c *schema.ActivatePlan) ([]events.Event, *refusal) {
	run, refused := q.liveRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if c.PlanID == events.PlanNone {
		return reject(refuse(events.CodePlanIDReserved, "%q is the plan of a run that has none", c.PlanID))
	}
	if c.ExpectedPlan != run.PlanID {
		return reject(refuse(events.CodePlanConflict, "expected plan %q, the run has %q", c.ExpectedPlan, run.PlanID))
	}
	if c.PlanID == run.PlanID {
		return reject(refuse(events.CodePlanUnchanged, "plan %q is active", c.PlanID))
	}
	plan, pinned := q.pin(c.RunID, c.PlanID)
	if q.terms.Policy.RequirePinnedPlan && !pinned {
		return reject(refuse(events.CodePlanNotPinned, "plan %q is not pinned", c.PlanID))
	}
	return accept(&events.PlanActivated{
		RunID: c.RunID, PlanID: c.PlanID, Previous: run.PlanID, RunPlanHash: plan.RunPlanHash,
	})
}
