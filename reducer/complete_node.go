package reducer

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// completeNode completes a node whose proof is there (RULES 10).
func (q *question) completeNode(c *schema.CompleteNode) ([]events.Event, *refusal) {
	run, refused := q.runningRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if run.GraphID == "" {
		return reject(refuse(events.CodeGraphNotAttached, "the run has no graph"))
	}
	graph := q.Graph(q.contract, run.GraphID)
	i := graph.Find(c.NodeID)
	if i < 0 {
		return reject(refuse(events.CodeNodeNotFound, "graph %q has no node %q", run.GraphID, c.NodeID))
	}
	now := q.Node(q.contract, c.RunID, c.NodeID)
	proof := &proof{question: q, command: c, run: &run, graph: graph, index: i, node: &graph.Nodes[i], now: &now}
	refused = first(
		func() *refusal { return pendingReady(graph, i, &now) },
		proof.check,
		func() *refusal { return q.nodeOutput(proof.node, c.Result) },
	)
	if refused != nil {
		return reject(refused)
	}
	found := []events.Event{&events.NodeCompleted{RunID: c.RunID, NodeID: c.NodeID, Result: c.Result, By: q.principal}}
	if skipped := q.skipped(proof); len(skipped) > 0 {
		found = append(found, &events.NodesSkipped{RunID: c.RunID, NodeIDs: skipped})
	}
	return accept(found...)
}

func (q *question) nodeOutput(node *schema.Node, result schema.Value) *refusal {
	if node.OutputSchema == "" {
		return nil
	}
	return q.checkSchema(events.CodeNodeOutputInvalid, node.OutputSchema, result)
}

// skipped are the nodes that lose their last open edge when the node completes,
// in the graph's order. Each edge is looked at once.
func (q *question) skipped(p *proof) []string {
	selected := state.Selected(p.node, p.command.Result)
	if selected == nil {
		return nil
	}
	closed := map[int]int64{} // edges closed by this command
	var gone []int
	shut := func(j int) {
		closed[j]++
		now := q.Node(q.contract, p.command.RunID, p.graph.Nodes[j].ID)
		if now.Pending() && now.Closed+closed[j] == int64(len(p.graph.Nodes[j].DependsOn)) {
			gone = append(gone, j)
		}
	}
	for _, j := range p.graph.Dependents(p.index) {
		if !selected[p.graph.Nodes[j].ID] {
			shut(j)
		}
	}
	for next := 0; next < len(gone); next++ {
		for _, j := range p.graph.Dependents(gone[next]) {
			shut(j)
		}
	}
	slices.Sort(gone)
	ids := make([]string, len(gone))
	for n, j := range gone {
		ids[n] = p.graph.Nodes[j].ID
	}
	return ids
}
