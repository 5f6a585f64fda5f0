package plan

import (
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

const workflowSchema = "kxm.compiled-workflow.v1"

var (
	runPlanKeys      = []string{"schema", "runId", "projectId", "homeRuntimeId", "workflowId", "revisions", "projectLimits", "plan", "gates"}
	revisionKeys     = []string{"config", "executorPolicy", "toolPolicy", "memory"}
	identityKeys     = []string{"projectId", "homeRuntimeId", "workflowId", "revisions"}
	projectLimitKeys = []string{"maxConcurrentRuns"}
	durationKeys     = []string{"maxRunDurationMs", "maxAgentTimeMs"}
)

// runPlan is a kxm.run-plan.v2 envelope that is being checked. A member that is not there is nil: keys reports it, and the
// part that it would be passes.
type runPlan struct {
	runID    string
	envelope *jsontree.Node
	identity *jsontree.Node // nil if it is no JSON, which is noJSON then
	noJSON   *Fault
	steps    *jsontree.Node // plan.steps, nil unless it is an object
	order    []string       // plan.order as far as its entries are steps
	gates    map[string]bool
}

// checkRunPlan: the envelope, then the plan with its steps in order, then the gates.
func checkRunPlan(s *Source, r *report) schema.Value {
	envelope, f := open(s.Document, "", "envelope")
	if f != nil {
		r.add(f)
		return ""
	}
	p := runPlan{runID: s.RunID, envelope: envelope, gates: map[string]bool{}}
	p.identity, p.noJSON = open(s.Identity, "/identity", "identity")
	if f := p.isObject(); f != nil {
		r.add(f)
		return ""
	}
	r.each(p.keys, p.schema, p.ids, p.revisions, p.projectLimits, p.head)
	for _, id := range p.order {
		if r.full() {
			return ""
		}
		r.add(p.step(id))
	}
	r.each(p.tail, p.gateRegistry, p.controlRoot, p.gateNames)
	p.gateDefinitions(r)
	return envelope.Text
}

func (p *runPlan) isObject() *Fault {
	r := reader{reason: "envelope"}
	r.object(p.envelope)
	return r.fault
}

func (p *runPlan) keys() *Fault {
	r := reader{reason: "envelope"}
	r.keys(p.envelope, runPlanKeys, nil)
	return r.fault
}

func (p *runPlan) schema() *Fault {
	r := reader{reason: "schema"}
	if n := p.envelope.Get("schema"); n != nil {
		r.word(n, schema.FormRunPlan)
	}
	return r.fault
}

// ids: the envelope's four ids are those of the run, as the host's record says them.
func (p *runPlan) ids() *Fault {
	r := reader{reason: "identity"}
	for _, name := range []string{"runId", "projectId", "homeRuntimeId", "workflowId"} {
		if n := p.envelope.Get(name); n != nil {
			r.text(n)
		}
	}
	if r.fault == nil && p.noJSON != nil {
		return p.noJSON
	}
	r.keys(p.identity, identityKeys, nil)
	if n := p.envelope.Get("runId"); n != nil {
		r.word(n, p.runID)
	}
	for _, name := range identityKeys[:3] {
		want := r.text(p.identity.Get(name))
		if n := p.envelope.Get(name); n != nil {
			r.word(n, want)
		}
	}
	return r.fault
}

// revisions: the envelope's four revisions are those of the run.
func (p *runPlan) revisions() *Fault {
	n := p.envelope.Get("revisions")
	if n == nil || p.identity.Kind() != '{' {
		return nil
	}
	r := reader{reason: "revisions"}
	r.keys(n, revisionKeys, nil)
	for _, name := range revisionKeys {
		r.text(n.Get(name))
	}
	identity := p.identity.Get("revisions")
	r.keys(identity, revisionKeys, nil)
	for _, name := range revisionKeys {
		r.word(n.Get(name), r.text(identity.Get(name)))
	}
	return r.fault
}

func (p *runPlan) projectLimits() *Fault {
	n := p.envelope.Get("projectLimits")
	if n == nil {
		return nil
	}
	r := reader{reason: "projectLimits"}
	r.keys(n, projectLimitKeys, durationKeys)
	r.whole(n.Get("maxConcurrentRuns"), true)
	for _, name := range durationKeys {
		r.optionalWhole(n.Get(name), false)
	}
	return r.fault
}
