package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// GraphRegistered adds a graph and the hash of its canonical form (RULES 10).
type GraphRegistered struct {
	Graph     schema.Graph
	GraphHash string
}

// GraphAttached gives a run its graph, every node PENDING.
type GraphAttached struct {
	GraphHash, GraphID, RunID string
}

// NodeCompleted completes a node with the result that proved it (RULES 10).
type NodeCompleted struct {
	By     string
	NodeID string
	Result schema.Value
	RunID  string
}

// NodesSkipped follows NodeCompleted when nodes lost their last open edge;
// NodeIDs are in the graph's node order.
type NodesSkipped struct {
	NodeIDs []string
	RunID   string
}

// The kinds of a node (RULES 10).
const (
	NodeTask           = "TASK"
	NodeDecision       = "DECISION"
	NodeFork           = "FORK"
	NodeJoin           = "JOIN"
	NodeLoop           = "LOOP"
	NodeWait           = "WAIT"
	NodeApproval       = "APPROVAL"
	NodeSubworkflow    = "SUBWORKFLOW"
	NodeVerification   = "VERIFICATION"
	NodeAcceptance     = "ACCEPTANCE"
	NodeReconciliation = "RECONCILIATION"
	NodeCompensation   = "COMPENSATION"
	NodeEnd            = "END"
)

// The states of a node of a run.
const (
	NodeStatePending   = "PENDING"
	NodeStateCompleted = "COMPLETED"
	NodeStateSkipped   = "SKIPPED"
)

// Type implements [Event].
func (*GraphRegistered) Type() string { return "graphRegistered" }

// Type implements [Event].
func (*GraphAttached) Type() string { return "graphAttached" }

// Type implements [Event].
func (*NodeCompleted) Type() string { return "nodeCompleted" }

// Type implements [Event].
func (*NodesSkipped) Type() string { return "nodesSkipped" }

// Members implements [schema.Record].
func (e *GraphRegistered) Members(m *schema.Members) {
	m.Record("graph", &e.Graph)
	m.Text("graphHash", &e.GraphHash)
	m.Const("type", "graphRegistered")
}

// Members implements [schema.Record].
func (e *GraphAttached) Members(m *schema.Members) {
	m.Text("graphHash", &e.GraphHash)
	m.ID("graphId", &e.GraphID)
	m.ID("runId", &e.RunID)
	m.Const("type", "graphAttached")
}

// Members implements [schema.Record].
func (e *NodeCompleted) Members(m *schema.Members) {
	m.ID("by", &e.By)
	m.ID("nodeId", &e.NodeID)
	m.Object("result", &e.Result)
	m.ID("runId", &e.RunID)
	m.Const("type", "nodeCompleted")
}

// Members implements [schema.Record].
func (e *NodesSkipped) Members(m *schema.Members) {
	m.IDs("nodeIds", &e.NodeIDs)
	m.ID("runId", &e.RunID)
	m.Const("type", "nodesSkipped")
}
