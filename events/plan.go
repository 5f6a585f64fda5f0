package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// PlanPinned freezes a run's plan: the canonical text and its hash (PLANS).
type PlanPinned struct {
	Envelope    string // canonical JSON text of the plan
	Form        string
	Identity    schema.Value // kxm.run-plan.v2 only
	Params      schema.Value // graph-plan.v1 only; not in the hash
	ParamsHash  string
	PlanID      string
	RunID       string
	RunPlanHash string // "sha256:" + hex of Envelope
}

// PlanPinConfirmed answers a pin of what is pinned already.
type PlanPinConfirmed struct {
	PlanID, RunID, RunPlanHash string
}

// PlanActivated makes a plan the run's active one (RULES 4). RunPlanHash is
// set when the plan was pinned at that moment.
type PlanActivated struct {
	PlanID, Previous, RunID, RunPlanHash string
}

// PlanNone is the plan of a run that never activated one; the id is reserved.
const PlanNone = "none"

// Type implements [Event].
func (*PlanPinned) Type() string { return "planPinned" }

// Type implements [Event].
func (*PlanPinConfirmed) Type() string { return "planPinConfirmed" }

// Type implements [Event].
func (*PlanActivated) Type() string { return "planActivated" }

// Members implements [schema.Record].
func (e *PlanPinned) Members(m *schema.Members) {
	m.Text("envelope", &e.Envelope)
	m.ID("form", &e.Form)
	m.OptAny("identity", &e.Identity)
	m.OptAny("params", &e.Params)
	m.OptText("paramsHash", &e.ParamsHash)
	m.ID("planId", &e.PlanID)
	m.ID("runId", &e.RunID)
	m.Text("runPlanHash", &e.RunPlanHash)
	m.Const("type", "planPinned")
}

// Members implements [schema.Record].
func (e *PlanPinConfirmed) Members(m *schema.Members) {
	m.ID("planId", &e.PlanID)
	m.ID("runId", &e.RunID)
	m.Text("runPlanHash", &e.RunPlanHash)
	m.Const("type", "planPinConfirmed")
}

// Members implements [schema.Record].
func (e *PlanActivated) Members(m *schema.Members) {
	m.ID("planId", &e.PlanID)
	m.ID("previous", &e.Previous)
	m.ID("runId", &e.RunID)
	m.OptText("runPlanHash", &e.RunPlanHash)
	m.Const("type", "planActivated")
}
