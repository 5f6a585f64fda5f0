package reducertest

import (
	"strconv"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// graph makes up a graph: nodes in layers, each depending on some before it.
// What leads nowhere is led to the END.
func (g *Generator) graph(_ *memory) (schema.Command, string) {
	n := 1 + g.rng.IntN(8)
	nodes := make([]schema.Node, n, n+1)
	led := make([]int, n)
	choice, ways := -1, 0 // the next two nodes behind a DECISION are ways that it may choose
	for i := range nodes {
		nodes[i] = schema.Node{ID: "n" + strconv.Itoa(i), Kind: g.pick(append(schema.NodeKinds[:12:12], events.NodeDecision, events.NodeDecision, events.NodeTask)...), Config: "{}"}
		if ways > 0 {
			nodes[i].DependsOn = []string{nodes[choice].ID}
			led[choice]++
			ways--
			continue
		}
		if nodes[i].Kind == events.NodeDecision {
			choice, ways = i, 2
		}
		for j := range i {
			if g.chance(35) {
				nodes[i].DependsOn = append(nodes[i].DependsOn, nodes[j].ID)
				led[j]++
			}
		}
	}
	end := schema.Node{ID: "end", Kind: events.NodeEnd, Config: "{}"}
	for i := range nodes {
		if led[i] == 0 {
			end.DependsOn = append(end.DependsOn, nodes[i].ID)
			led[i]++
		}
		g.kind(&nodes[i], led[i])
	}
	graph := schema.Graph{ID: g.id("graph"), Revision: "1", Nodes: append(nodes, end)}
	return &schema.RegisterGraph{Graph: graph}, "owner"
}

// kind fits a node's kind to its place, and gives it a config.
func (g *Generator) kind(node *schema.Node, dependents int) {
	if node.Kind == events.NodeDecision && dependents < 2 || node.Kind == events.NodeJoin && len(node.DependsOn) < 2 {
		node.Kind = events.NodeTask
	}
	switch node.Kind {
	case events.NodeTask:
		node.Config = schema.Value(g.pick(`{"effect":"none"}`, `{"effect":"required"}`, `{}`, `{"capability":"buy"}`))
	case events.NodeLoop:
		node.Config = schema.Value(g.pick(`{"maxIterations":1}`, `{"maxIterations":2}`))
	case events.NodeJoin:
		node.Config = schema.Value(g.pick(`{"mode":"ANY"}`, `{"mode":"ALL"}`, `{}`))
	case events.NodeSubworkflow:
		node.Config = schema.Value(g.pick(`{}`, `{}`, `{"accepted":true}`))
	case events.NodeWait:
		node.Config = schema.Value(g.pick(`{}`, `{"waitKind":"INPUT"}`))
	}
	if g.chance(10) {
		node.InputSchema = `{"required":["item"]}`
	}
	if g.chance(5) {
		node.OutputSchema = `{"type":"object"}`
	}
}

// node goes on with the graph of a run: completes a node that is ready, or does
// what it wants first. It returns nil where nothing is ready.
func (g *Generator) node(l *memory, runID string, run *state.Run, graph *state.Graph) (schema.Command, string) {
	var ready []int
	for i := range graph.Nodes {
		node := g.state.Node(l.contract, runID, graph.Nodes[i].ID)
		if node.Pending() && graph.Ready(i, &node) {
			ready = append(ready, i)
		}
	}
	if len(ready) == 0 {
		return &schema.Transition{RunID: runID, To: events.RunCompleted}, "agent"
	}
	i := ready[g.rng.IntN(len(ready))]
	if !g.chance(10) {
		if command, principal := g.prepare(l, runID, run, graph, i); command != nil {
			return command, principal
		}
	}
	result := g.proof(l, runID, run, graph, i)
	if result == "" {
		return nil, ""
	}
	return &schema.CompleteNode{RunID: runID, NodeID: graph.Nodes[i].ID, Result: result}, g.pick("agent", "agent", "helper")
}

// prepare does what a node needs before it can be completed, or nil.
func (g *Generator) prepare(l *memory, runID string, run *state.Run, graph *state.Graph, i int) (schema.Command, string) {
	node := &graph.Nodes[i]
	switch node.Kind {
	case events.NodeTask, events.NodeLoop, events.NodeCompensation, events.NodeReconciliation:
		return g.effect(l, runID, node)
	case events.NodeWait:
		return g.answer(l, runID, node)
	case events.NodeApproval:
		if g.proof(l, runID, run, graph, i) == "" {
			return &schema.Approve{Approval: schema.Approval{
				ID: g.id("ok"), RunID: runID, Approver: "manager", ExpiresAt: g.from(100, 5000), Uses: schema.DecimalOf(1),
				Fingerprint: gateFingerprint(run.GraphID, node.ID, runID),
			}}, "manager"
		}
	case events.NodeVerification, events.NodeAcceptance:
		return g.judgement(l, runID, run, node.Kind)
	}
	return nil, ""
}

// effect settles what is bound to the node, or dispatches something for it.
func (g *Generator) effect(l *memory, runID string, node *schema.Node) (schema.Command, string) {
	now := g.state.Node(l.contract, runID, node.ID)
	of := func(id string) bool {
		attempt, _ := g.state.Attempt(l.contract, id)
		return attempt.RunID == runID && (attempt.State == events.AttemptStatePrepared || attempt.Called() && attempt.NodeID == node.ID)
	}
	id := g.find(l.attempts, of)
	attempt, ok := g.state.Attempt(l.contract, id)
	switch {
	case ok && attempt.Called():
		return &schema.Settle{AttemptID: id, Effect: g.pick(schema.Effects...), ActualCost: g.amount()}, "agent"
	case now.Applied > 0 || node.Config == `{"effect":"none"}` && g.chance(50):
		return nil, ""
	case ok:
		return &schema.Dispatch{
			AttemptID: id, NodeID: node.ID, AuthorizationCheckedAt: g.from(-35, 2), Policy: "ALLOW", MandatoryChecksOk: true,
		}, attempt.Subject
	}
	return g.admit(l, runID)
}

// answer resumes a wait of the run, or makes one.
func (g *Generator) answer(l *memory, runID string, node *schema.Node) (schema.Command, string) {
	id := g.find(l.waits, func(id string) bool {
		wait, _ := g.state.Wait(l.contract, id)
		return wait.RunID == runID && wait.Proved == "" && (node.Config == "{}" || wait.Kind == "INPUT")
	})
	wait, ok := g.state.Wait(l.contract, id)
	switch {
	case !ok:
		return g.wait(runID)
	case wait.State == state.WaitPending:
		return &schema.Resume{WaitID: id, Correlation: wait.Correlation}, "host"
	}
	return nil, ""
}

// judgement verifies or accepts a run whose node waits for it.
func (g *Generator) judgement(l *memory, runID string, run *state.Run, kind string) (schema.Command, string) {
	v, _ := g.state.Verification(l.contract, runID, run.Verification)
	switch {
	case run.Verification == "" || v.Invalidated || v.SubjectVersion != run.SubjectVersion || !v.AllPass():
		return g.verify(l, runID)
	case kind == events.NodeAcceptance && v.Decision != events.Accepted:
		return &schema.Accept{
			RunID: runID, Authority: "owner", VerificationRevision: run.Verification, Decision: "ACCEPTED", Rationale: "so",
		}, "owner"
	}
	return nil, ""
}

// proof is a result that may prove a node.
func (g *Generator) proof(l *memory, runID string, run *state.Run, graph *state.Graph, i int) schema.Value {
	switch graph.Nodes[i].Kind {
	case events.NodeDecision:
		dependents := graph.Dependents(i)
		list := `"` + graph.Nodes[dependents[g.rng.IntN(len(dependents))]].ID + `"`
		if g.chance(30) {
			list = `"` + graph.Nodes[dependents[0]].ID + `","` + graph.Nodes[dependents[1]].ID + `"`
		}
		return schema.Value(`{"selected":[` + list + `]}`)
	case events.NodeLoop:
		return schema.Value(`{"iterations":` + strconv.Itoa(1+g.rng.IntN(2)) + `}`)
	case events.NodeWait:
		return named("waitId", g.find(l.waits, func(id string) bool {
			wait, _ := g.state.Wait(l.contract, id)
			return wait.RunID == runID && wait.State == state.WaitSatisfied && wait.Proved == ""
		}))
	case events.NodeApproval:
		return named("approvalId", g.find(l.approvals, func(id string) bool {
			approval, _ := g.state.Approval(l.contract, id)
			return approval.Fingerprint == gateFingerprint(run.GraphID, graph.Nodes[i].ID, runID) && approval.Used.Less(approval.Uses)
		}))
	case events.NodeSubworkflow:
		return named("runId", g.find(l.runs, func(id string) bool {
			other, _ := g.state.Run(l.contract, id)
			return other.State == events.RunCompleted && id != runID && !g.state.DependsOn(l.contract, runID, id)
		}))
	case events.NodeVerification, events.NodeAcceptance:
		return named("revision", run.Verification)
	}
	return "{}"
}

func named(member, id string) schema.Value {
	if id == "" {
		return ""
	}
	return schema.Value(schema.AppendString([]byte(`{"`+member+`":`), id)) + "}"
}

// find is the newest id that is good, or "".
func (g *Generator) find(ids []string, good func(id string) bool) string {
	for i := len(ids) - 1; i >= 0 && i >= len(ids)-30; i-- {
		if good(ids[i]) {
			return ids[i]
		}
	}
	return ""
}
