package schema

// Graph is a workflow: nodes and what each depends on.
type Graph struct {
	ID       string
	Revision string
	Nodes    []Node
}

// Members lists the graph.
func (g *Graph) Members(m *Members) {
	m.ID("id", &g.ID)
	Records(m, "nodes", &g.Nodes, 1, maxItems)
	m.ID("revision", &g.Revision)
}

// Node is one node of a graph.
type Node struct {
	ID           string
	Kind         string
	DependsOn    []string
	Config       Value // object
	InputSchema  Value // object, "" if absent
	OutputSchema Value // object, "" if absent
}

// Members lists the node.
func (n *Node) Members(m *Members) {
	m.Object("config", &n.Config)
	m.IDs("dependsOn", &n.DependsOn)
	m.ID("id", &n.ID)
	m.OptObject("inputSchema", &n.InputSchema)
	m.Enum("kind", &n.Kind, NodeKinds)
	m.OptObject("outputSchema", &n.OutputSchema)
}

// RegisterGraph registers a graph.
type RegisterGraph struct {
	Graph   Graph
	Context *Context
}

// Type is "registerGraph".
func (*RegisterGraph) Type() string { return "registerGraph" }

// Ctx returns the context, or nil.
func (c *RegisterGraph) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *RegisterGraph) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("graph", &c.Graph)
	m.Const("type", "registerGraph")
}

// AttachGraph attaches a graph to a run.
type AttachGraph struct {
	RunID   string
	GraphID string
	Context *Context
}

// Type is "attachGraph".
func (*AttachGraph) Type() string { return "attachGraph" }

// Ctx returns the context, or nil.
func (c *AttachGraph) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *AttachGraph) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("graphId", &c.GraphID)
	m.ID("runId", &c.RunID)
	m.Const("type", "attachGraph")
}

// CompleteNode completes a node of a run's graph.
type CompleteNode struct {
	RunID   string
	NodeID  string
	Result  Value // object
	Context *Context
}

// Type is "completeNode".
func (*CompleteNode) Type() string { return "completeNode" }

// Ctx returns the context, or nil.
func (c *CompleteNode) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *CompleteNode) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("nodeId", &c.NodeID)
	m.Object("result", &c.Result)
	m.ID("runId", &c.RunID)
	m.Const("type", "completeNode")
}
