package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// pinPlan freezes a plan of a run (RULES 3, PLANS).
func (q *question) pinPlan(c *schema.PinPlan) ([]events.Event, *refusal) {
	run, refused := q.liveRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if c.PlanID == events.PlanNone {
		return reject(refuse(events.CodePlanIDReserved, "%q is the plan of a run that has none", c.PlanID))
	}
	if c.PlanID == run.PlanID && run.RunPlanHash == "" {
		return reject(refuse(events.CodePlanActive, "plan %q is active and was activated unpinned", c.PlanID))
	}
	pin, fault := plan.Check(c)
	if fault != nil {
		return reject(refuse(events.CodePlanInvalid, "%s", fault.Message).because(fault.Reason).at(fault.Pointer))
	}
	before, pinned := q.pin(c.RunID, c.PlanID)
	if !pinned {
		return accept(&events.PlanPinned{
			RunID: c.RunID, PlanID: c.PlanID, Form: pin.Form, RunPlanHash: pin.RunPlanHash, Envelope: pin.Envelope,
			Identity: pin.Identity, Params: pin.Params, ParamsHash: pin.ParamsHash,
		})
	}
	// The hash does not cover params: a pin that differs in them alone is
	// another pin too, or its params would be dropped without a word.
	if before.Form != pin.Form || before.RunPlanHash != pin.RunPlanHash || before.ParamsHash != pin.ParamsHash {
		return reject(refuse(events.CodePlanExists, "plan %q of run %q is pinned with another form, hash or params", c.PlanID, c.RunID))
	}
	return accept(&events.PlanPinConfirmed{RunID: c.RunID, PlanID: c.PlanID, RunPlanHash: pin.RunPlanHash})
}
