package audit

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// pins rehydrates the plans that a decision pins, from the rows that they were
// folded into (PLANS "Rehydration").
func (w *Walk) pins(d *events.Decision) error {
	for _, e := range d.Events {
		pinned, ok := e.(*events.PlanPinned)
		if !ok {
			continue
		}
		row, found := w.state.Plan(d.Contract, pinned.RunID, pinned.PlanID)
		if !found {
			return fmt.Errorf("the plan %q of run %q has no row", pinned.PlanID, pinned.RunID)
		}
		if _, err := plan.Rehydrate(pinOfRow(pinned, &row), pinOfEvent(pinned), pinned.RunID, pinned.PlanID); err != nil {
			return err
		}
		w.summary.Pins++
	}
	return nil
}

func pinOfRow(e *events.PlanPinned, p *state.Plan) *plan.Row {
	return &plan.Row{RunID: e.RunID, PlanID: e.PlanID, Pin: plan.Pin{
		Form: p.Form, RunPlanHash: p.RunPlanHash, Envelope: p.Envelope, Identity: p.Identity, Params: p.Params, ParamsHash: p.ParamsHash,
	}}
}

func pinOfEvent(e *events.PlanPinned) *plan.Row {
	return &plan.Row{RunID: e.RunID, PlanID: e.PlanID, Pin: plan.Pin{
		Form: e.Form, RunPlanHash: e.RunPlanHash, Envelope: e.Envelope, Identity: e.Identity, Params: e.Params, ParamsHash: e.ParamsHash,
	}}
}
