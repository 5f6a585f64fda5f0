package state

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// nodeTally is what a node's counters of bound attempts must be.
type nodeTally struct {
	unsettled, applied    int64
	activeOps, appliedOps map[string]bool
}

// checkNodes checks the nodes of every run that has a graph.
func (a *audit) checkNodes(l *ledgerAudit) {
	rows := make(map[[2]string]*Node, len(l.nodes))
	for _, n := range l.nodes {
		rows[[2]string{n.run, n.id}] = n.row
	}
	bound := l.boundAttempts()
	for _, n := range l.runs {
		if n.row.GraphID == "" && n.row.GraphHash == "" {
			continue
		}
		graph := l.graphs[n.row.GraphID]
		if graph == nil || graph.Hash != n.row.GraphHash {
			a.failf("run %q: graph %q is not there, or another one", n.id, n.row.GraphID)
			continue
		}
		g := &graphAudit{run: n.id, graph: graph, nodes: make([]Node, len(graph.Nodes)), tally: l.tally(n.id)}
		for i := range graph.Nodes {
			key := [2]string{n.id, graph.Nodes[i].ID}
			if row := rows[key]; row != nil {
				g.nodes[i] = *row
				delete(rows, key)
			}
			a.checkBound(key, &g.nodes[i], bound[key])
			delete(bound, key)
		}
		for i := range graph.Nodes {
			a.checkNode(g, i)
		}
		a.checkEnds(g, n.row)
	}
	a.same(int64(len(rows)), 0, "contract %q nodes of no graph", l.id)
	a.same(int64(len(bound)), 0, "contract %q nodes that have attempts and are not there", l.id)
}

func (l *ledgerAudit) boundAttempts() map[[2]string]*nodeTally {
	bound := map[[2]string]*nodeTally{}
	for _, n := range l.attempts {
		attempt := n.row
		if attempt.NodeID == "" {
			continue
		}
		key := [2]string{attempt.RunID, attempt.NodeID}
		t := bound[key]
		if t == nil {
			t = &nodeTally{activeOps: map[string]bool{}, appliedOps: map[string]bool{}}
			bound[key] = t
		}
		if attempt.Called() {
			t.unsettled++
			t.activeOps[attempt.OperationID] = true
		}
		if attempt.State == events.AttemptStateApplied {
			t.applied++
			t.activeOps[attempt.OperationID], t.appliedOps[attempt.OperationID] = true, true
		}
	}
	return bound
}

func (a *audit) checkBound(key [2]string, node *Node, t *nodeTally) {
	if t == nil {
		t = &nodeTally{}
	}
	a.same(node.Unsettled, t.unsettled, "node %q unsettled", key)
	a.same(node.Applied, t.applied, "node %q applied", key)
	a.same(node.ActiveOps, int64(len(t.activeOps)), "node %q active operations", key)
	a.same(node.AppliedOps, int64(len(t.appliedOps)), "node %q applied operations", key)
}

// graphAudit is the graph of one run.
type graphAudit struct {
	run   string
	graph *Graph
	nodes []Node // by index; the zero value where there is no row
	tally *runTally
}

// checkNode checks a node's edges against its sources. Which dependents a
// DECISION selected is not stored: its edges may be done or closed.
func (a *audit) checkNode(g *graphAudit, i int) {
	node, spec := &g.nodes[i], &g.graph.Nodes[i]
	g.count(node, spec)
	var done, closed, decided int64
	for _, id := range spec.DependsOn {
		source := g.graph.Find(id)
		switch g.nodes[source].State {
		case events.NodeStateSkipped:
			closed++
		case events.NodeStateCompleted:
			if g.graph.Nodes[source].Kind == events.NodeDecision {
				decided++
			} else {
				done++
			}
		}
	}
	if node.Done+node.Closed != done+closed+decided || node.Done < done || node.Closed < closed {
		a.failf("node %q of run %q: %d edges done, %d closed, counted %d, %d and %d behind a DECISION",
			spec.ID, g.run, node.Done, node.Closed, done, closed, decided)
	}
	if !slices.Contains([]string{"", events.NodeStateCompleted, events.NodeStateSkipped}, node.State) {
		a.failf("node %q of run %q is %q", spec.ID, g.run, node.State)
	}
	incoming := int64(len(spec.DependsOn))
	shut := incoming > 0 && node.Closed == incoming
	if shut != (node.State == events.NodeStateSkipped) {
		a.failf("node %q of run %q is %q with %d of %d edges closed", spec.ID, g.run, node.State, node.Closed, incoming)
	}
	if touched := node.State == events.NodeStateCompleted || node.Unsettled+node.Applied > 0; touched && !g.graph.Ready(i, node) {
		a.failf("node %q of run %q is %q and was never ready", spec.ID, g.run, node.State)
	}
	if spec.Kind == events.NodeDecision && node.State == events.NodeStateCompleted && !g.selected(i) {
		a.failf("DECISION %q of run %q is COMPLETED and no edge of it is done", spec.ID, g.run)
	}
}

// selected says whether a dependent of node i has an edge done.
func (g *graphAudit) selected(i int) bool {
	for _, j := range g.graph.Dependents(i) {
		if g.nodes[j].Done > 0 {
			return true
		}
	}
	return false
}

func (g *graphAudit) count(node *Node, spec *schema.Node) {
	switch {
	case node.State == events.NodeStateSkipped && spec.Kind == events.NodeEnd:
		g.tally.endsSkipped++
	case node.State != events.NodeStateCompleted:
	case spec.Kind == events.NodeEnd:
		g.tally.endsCompleted++
	case spec.Kind == events.NodeWait:
		g.tally.waitNodes++
	case spec.Kind == events.NodeSubworkflow:
		g.tally.subworkflowNodes++
	case spec.Kind == events.NodeApproval:
		g.tally.approvalNodes++
	}
}

// checkEnds checks that an END can be reached still, and that a COMPLETED run
// has reached its ends.
func (a *audit) checkEnds(g *graphAudit, run *Run) {
	completed, open := g.tally.endsCompleted, g.graph.Ends()-g.tally.endsCompleted-g.tally.endsSkipped
	if completed+open == 0 {
		a.failf("run %q: every END of graph %q is skipped", g.run, run.GraphID)
	}
	if run.State == events.RunCompleted && (completed == 0 || open > 0) {
		a.failf("run %q is COMPLETED with %d ENDs completed and %d open", g.run, completed, open)
	}
}
