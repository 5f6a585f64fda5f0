package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func (s *State) applyGraphRegistered(c string, e *events.GraphRegistered) {
	graph := create[Graph](s, kindGraph, c, e.Graph.ID)
	graph.Graph, graph.Hash, graph.text = e.Graph, e.GraphHash, recordText(&e.Graph)
	graph.connect()
}

func (s *State) applyGraphAttached(c string, e *events.GraphAttached) {
	run := s.touchRun(c, e.RunID)
	run.GraphID, run.GraphHash = e.GraphID, e.GraphHash
}

func (s *State) applyNodeCompleted(c string, e *events.NodeCompleted) {
	run := s.touchRun(c, e.RunID)
	graph := s.Graph(c, run.GraphID)
	i := graph.Find(e.NodeID)
	node := &graph.Nodes[i]
	at := s.now.At
	state := edit[Node](s, kindNode, c, e.RunID, e.NodeID)
	state.State, state.CompletedAt, state.By = events.NodeStateCompleted, &at, e.By
	s.applyProof(c, run, node, e)

	selected := Selected(node, e.Result)
	for _, j := range graph.Dependents(i) {
		target := edit[Node](s, kindNode, c, e.RunID, graph.Nodes[j].ID)
		if selected == nil || selected[graph.Nodes[j].ID] {
			target.Done++
		} else {
			target.Closed++
		}
	}
}

// Selected is the set of dependents that a DECISION's result names, or nil for
// a node of another kind: all its edges are done.
func Selected(node *schema.Node, result schema.Value) map[string]bool {
	if node.Kind != events.NodeDecision {
		return nil
	}
	selected := map[string]bool{}
	list, _ := result.Member("selected")
	for element := range list.Elements() {
		id, _ := element.Str()
		selected[id] = true
	}
	return selected
}

// applyProof uses up what proved a node, and counts what completing it means.
func (s *State) applyProof(c string, run *Run, node *schema.Node, e *events.NodeCompleted) {
	switch node.Kind {
	case events.NodeTask, events.NodeLoop, events.NodeCompensation, events.NodeReconciliation:
		run.SubjectVersion++
	case events.NodeSubworkflow:
		run.SubjectVersion++
		prefix := appendKey(nil, kindDependent, c, resultID(e.Result, "runId"))
		s.put(prefix, string(appendPart(prefix, e.RunID)), true)
	case events.NodeWait:
		existing[Wait](s, kindWait, c, resultID(e.Result, "waitId")).Proved = e.NodeID
	case events.NodeApproval:
		s.takeUse(c, resultID(e.Result, "approvalId"))
	case events.NodeEnd:
		run.EndsCompleted++
	}
}

func resultID(result schema.Value, name string) string {
	member, _ := result.Member(name)
	id, _ := member.Str()
	return id
}

func (s *State) applyNodesSkipped(c string, e *events.NodesSkipped) {
	run := s.touchRun(c, e.RunID)
	graph := s.Graph(c, run.GraphID)
	for _, id := range e.NodeIDs {
		i := graph.Find(id)
		edit[Node](s, kindNode, c, e.RunID, id).State = events.NodeStateSkipped
		if graph.Nodes[i].Kind == events.NodeEnd {
			run.EndsSkipped++
		}
		for _, j := range graph.Dependents(i) {
			edit[Node](s, kindNode, c, e.RunID, graph.Nodes[j].ID).Closed++
		}
	}
}
