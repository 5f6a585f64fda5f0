package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// proof is what completing a node must show, by the node's kind (RULES 10).
type proof struct {
	question *question
	command  *schema.CompleteNode
	run      *state.Run
	graph    *state.Graph
	index    int
	node     *schema.Node
	now      *state.Node
}

func missing(format string, args ...any) *refusal {
	return refuse(events.CodeNodeProofMissing, format, args...)
}

func (p *proof) check() *refusal {
	switch p.node.Kind {
	case events.NodeTask:
		return p.task()
	case events.NodeCompensation:
		return first(p.boundSettled, p.boundApplied)
	case events.NodeLoop:
		return first(p.iterations, p.boundSettled)
	case events.NodeReconciliation:
		return first(p.nothingUnknown, p.boundSettled)
	case events.NodeDecision:
		return p.decision()
	case events.NodeWait:
		return p.wait()
	case events.NodeApproval:
		return p.approval()
	case events.NodeSubworkflow:
		return p.subworkflow()
	case events.NodeVerification:
		_, refused := p.verification()
		return refused
	case events.NodeAcceptance:
		return p.acceptance()
	case events.NodeEnd:
		return p.end()
	}
	return nil // FORK and JOIN: being ready is enough
}

func (p *proof) boundSettled() *refusal {
	if p.now.Unsettled > 0 {
		return missing("%d attempts bound to the node are not settled", p.now.Unsettled)
	}
	return nil
}

func (p *proof) boundApplied() *refusal {
	if p.now.Applied == 0 {
		return missing("no attempt bound to the node is APPLIED")
	}
	return nil
}

func (p *proof) task() *refusal {
	if refused := p.boundSettled(); refused != nil {
		return refused
	}
	effect, _ := p.node.Config.Member("effect")
	if text, ok := effect.Str(); ok && text == effectNone {
		return nil
	}
	return p.boundApplied()
}

func (p *proof) iterations() *refusal {
	member, _ := p.command.Result.Member("iterations")
	iterations, ok := member.Int()
	limit := maxIterations(p.node)
	if !ok || iterations < 1 || iterations > limit {
		return missing("result.iterations must be an integer from 1 to %d", limit)
	}
	if least := min(p.now.AppliedOps, limit); iterations < least {
		return missing("result.iterations is %d, but %d operations took effect", iterations, least)
	}
	return nil
}

func (p *proof) nothingUnknown() *refusal {
	if p.run.Unknown > 0 {
		return missing("%d attempts of the run are UNKNOWN", p.run.Unknown)
	}
	return nil
}

// decision wants a non-empty list of distinct dependents.
func (p *proof) decision() *refusal {
	list, _ := p.command.Result.Member("selected")
	if list.Kind() != '[' {
		return missing("result.selected must be an array of dependents of the node")
	}
	dependents := map[string]bool{}
	for _, j := range p.graph.Dependents(p.index) {
		dependents[p.graph.Nodes[j].ID] = true
	}
	chosen := 0
	for element := range list.Elements() {
		id, ok := element.Str()
		if !ok || !dependents[id] {
			return missing("result.selected: %s is no dependent of the node, or stands twice", element)
		}
		delete(dependents, id)
		chosen++
	}
	if chosen == 0 {
		return missing("result.selected is empty")
	}
	return nil
}

// named is a member of the result that must be a string.
func (p *proof) named(member string) (string, *refusal) {
	value, _ := p.command.Result.Member(member)
	if text, ok := value.Str(); ok {
		return text, nil
	}
	return "", missing("result.%s must be a string", member)
}

// configIs says whether a config member is absent or this text.
func (p *proof) configIs(member, text string) bool {
	return configIn(p.node, member, text)
}

func (p *proof) wait() *refusal {
	id, refused := p.named("waitId")
	if refused != nil {
		return refused
	}
	wait, ok := p.question.Wait(p.question.contract, id)
	switch {
	case !ok || wait.RunID != p.command.RunID:
		return missing("%q is no wait of this run", id)
	case wait.State != state.WaitSatisfied:
		return missing("wait %q is %s", id, wait.State)
	case wait.Proved != "":
		return missing("wait %q proved node %q", id, wait.Proved)
	case !p.configIs("waitKind", wait.Kind):
		return missing("wait %q is of kind %s", id, wait.Kind)
	}
	return nil
}

// gate is what an APPROVAL node's approval is the fingerprint of.
type gate struct {
	graphID, nodeID, runID string
}

// Members implements [schema.Record].
func (g *gate) Members(m *schema.Members) {
	m.ID("graphId", &g.graphID)
	m.ID("nodeId", &g.nodeID)
	m.ID("runId", &g.runID)
}

func (p *proof) approval() *refusal {
	q := p.question
	id, refused := p.named("approvalId")
	if refused != nil {
		return refused
	}
	approval, ok := q.Approval(q.contract, id)
	if !ok || approval.RunID != p.command.RunID {
		return missing("%q is no approval of this run", id)
	}
	if refused := q.approvalLive(&approval, ""); refused != nil {
		return missing("%s", refused.message)
	}
	if refused := approvalUse(&approval); refused != nil {
		return missing("%s", refused.message)
	}
	wanted := schema.HashOf(schema.AppendRecord(nil, &gate{p.run.GraphID, p.node.ID, p.command.RunID}))
	if approval.Fingerprint != wanted {
		return missing("approval %q is for %s, the node is %s", id, approval.Fingerprint, wanted)
	}
	if refused := q.notWorker(p.command.RunID, approval.Approver, events.CodeNodeProofMissing); refused != nil {
		return refused
	}
	return nil
}

func (p *proof) subworkflow() *refusal {
	q := p.question
	id, refused := p.named("runId")
	if refused != nil {
		return refused
	}
	run, ok := q.Run(q.contract, id)
	switch {
	case !ok || id == p.command.RunID:
		return missing("%q is no other run of this ledger", id)
	case run.State != events.RunCompleted:
		return missing("run %q is %s", id, run.State)
	case q.DependsOn(q.contract, p.command.RunID, id):
		return missing("run %q proved another node of this run", id)
	case !p.configIs("graphId", run.GraphID):
		return missing("run %q has graph %q", id, run.GraphID)
	}
	if accepted, _ := p.node.Config.Member("accepted"); accepted != "true" {
		return nil
	}
	if current, live := q.current(id, &run); !live || current.Decision != events.Accepted {
		return missing("run %q is not accepted", id)
	}
	return nil
}

// verification returns the run's current verification if the result names it
// and it stands.
func (p *proof) verification() (*state.Verification, *refusal) {
	revision, refused := p.named("revision")
	if refused != nil {
		return nil, refused
	}
	current, live := p.question.current(p.command.RunID, p.run)
	switch {
	case !live || revision != p.run.Verification:
		return nil, missing("%q is not the run's current, live verification", revision)
	case !current.AllPass():
		return nil, missing("not every result of verification %q is PASS", revision)
	case current.SubjectVersion != p.run.SubjectVersion:
		return nil, missing("verification %q is of version %d of the subject, which is at %d", revision, current.SubjectVersion, p.run.SubjectVersion)
	}
	return &current, nil
}

func (p *proof) acceptance() *refusal {
	current, refused := p.verification()
	if refused != nil {
		return refused
	}
	if current.Decision != events.Accepted {
		return missing("verification %q is not accepted", p.run.Verification)
	}
	return nil
}

func (p *proof) end() *refusal {
	if p.run.Unsettled > 0 {
		return missing("%d attempts of the run are not settled", p.run.Unsettled)
	}
	return nil
}
