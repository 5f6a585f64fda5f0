package plan

import "github.com/aiws-reducer/aiws-reducer/schema/jsontree"

var (
	planKeys         = []string{"schema", "workflowId", "coordinator", "limits", "transitionBudget", "hasBackEdges", "entryStepId", "order", "steps", "requirePlanHash"}
	planOptionalKeys = []string{"sourcePath", "reproOracle", "planHash"}
	limitKeys        = []string{"maxTransitions", "maxRunDurationMs", "maxAgentTimeMs", "maxModelCost", "currency"}
	oracleKeys       = []string{"stageId", "evidenceKey"}
)

// head checks what must be right before the steps can be: the plan's members and that order and steps name the same steps.
func (p *runPlan) head() *Fault {
	n := p.envelope.Get("plan")
	if n == nil {
		return nil
	}
	r := reader{reason: "plan"}
	r.keys(n, planKeys, planOptionalKeys)
	r.word(n.Get("schema"), workflowSchema)
	order, steps := r.texts(n.Get("order")), n.Get("steps")
	if r.object(steps) {
		p.steps = steps
	}
	seen := make(map[string]bool, len(order))
	for i, id := range order {
		if seen[id] || steps.Get(id) == nil {
			r.fail(n.Get("order").Kids[i], "is listed before, or is no step")
			continue
		}
		seen[id] = true
		p.order = append(p.order, id)
	}
	if r.fault == nil && len(order) != len(steps.Kids) {
		r.fail(n.Get("order"), "does not list every step")
	}
	return r.fault
}

// tail checks the rest of the plan, which refers to the steps.
func (p *runPlan) tail() *Fault {
	n := p.envelope.Get("plan")
	if n.Kind() != '{' || p.steps == nil {
		return nil
	}
	r := reader{reason: "plan"}
	entry := n.Get("entryStepId")
	r.want(entry, p.steps.Get(r.text(entry)) != nil, "a step")
	r.limits(n.Get("limits"))
	for i, id := range r.texts(n.Get("requirePlanHash")) {
		r.want(n.Get("requirePlanHash").Kids[i], p.steps.Get(id) != nil, "a step")
	}
	r.text(n.Get("workflowId"))
	r.optionalText(n.Get("sourcePath"))
	r.text(n.Get("coordinator"))
	r.whole(n.Get("transitionBudget"), true)
	r.flag(n.Get("hasBackEdges"))
	p.oracle(&r, n.Get("reproOracle"))
	p.oracle(&r, n.Get("planHash"))
	return r.fault
}

func (r *reader) limits(n *jsontree.Node) {
	r.keys(n, nil, limitKeys)
	r.optionalWhole(n.Get("maxTransitions"), true)
	r.optionalWhole(n.Get("maxRunDurationMs"), false)
	r.optionalWhole(n.Get("maxAgentTimeMs"), false)
	if cost := n.Get("maxModelCost"); cost != nil {
		r.want(cost, cost.Kind() == '0' && cost.Text[0] != '-' && cost.Text != "0", "a number over 0")
	}
	if currency := n.Get("currency"); currency != nil {
		r.text(currency)
	}
}

// oracle: a stage of the plan and a piece of evidence that this stage declares.
func (p *runPlan) oracle(r *reader, n *jsontree.Node) {
	if n == nil {
		return
	}
	r.keys(n, oracleKeys, nil)
	stageID, evidenceKey := r.text(n.Get("stageId")), r.text(n.Get("evidenceKey"))
	stage := p.steps.Get(stageID)
	r.want(n.Get("stageId"), stage != nil, "a stage")
	r.want(n.Get("evidenceKey"), declares(stage, evidenceKey), "evidence that the stage declares")
}

func declares(stage *jsontree.Node, evidenceKey string) bool {
	evidence := stage.Get("requiredEvidence")
	if evidence.Kind() != '[' {
		return false
	}
	for _, e := range evidence.Kids {
		if key, _ := e.Get("key").Str(); key == evidenceKey {
			return true
		}
	}
	return false
}
