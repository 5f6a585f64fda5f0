package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Graph is a registered graph with its edges by node index. It never changes;
// callers must not write to it.
type Graph struct {
	schema.Graph
	Hash string

	text       string
	index      map[string]int
	dependents [][]int // in node order
	ends       int64
}

func (r *Graph) fields(c *coder) {
	c.string(&r.Hash)
	c.string(&r.text)
	if !c.reading || c.err != nil {
		return
	}
	if c.err = schema.DecodeRecord([]byte(r.text), &r.Graph); c.err == nil {
		r.connect()
	}
}

func (r *Graph) connect() {
	r.index = make(map[string]int, len(r.Nodes))
	for i := range r.Nodes {
		r.index[r.Nodes[i].ID] = i
		if r.Nodes[i].Kind == events.NodeEnd {
			r.ends++
		}
	}
	r.dependents = make([][]int, len(r.Nodes))
	for i := range r.Nodes {
		for _, id := range r.Nodes[i].DependsOn {
			source := r.index[id]
			r.dependents[source] = append(r.dependents[source], i)
		}
	}
}

// Find returns the index of a node in the graph's order, or -1.
func (r *Graph) Find(nodeID string) int {
	if i, ok := r.index[nodeID]; ok {
		return i
	}
	return -1
}

// Dependents are the indexes of the nodes that depend on node i, in the
// graph's order.
func (r *Graph) Dependents(i int) []int { return r.dependents[i] }

// Ends is the number of END nodes.
func (r *Graph) Ends() int64 { return r.ends }

// Graph returns a registered graph, or nil.
func (s *State) Graph(contract, graphID string) *Graph {
	return get[Graph](s, kindGraph, contract, graphID)
}

// Node is the state of a node of a run (RULES 10). A node without a row is
// PENDING, with no edge done or closed.
type Node struct {
	State       string // "" is PENDING
	Done        int64  // incoming edges done
	Closed      int64  // incoming edges closed
	Unsettled   int64  // bound attempts DISPATCHED or UNKNOWN
	Applied     int64  // bound attempts APPLIED
	ActiveOps   int64  // operations with a bound attempt DISPATCHED, UNKNOWN or APPLIED
	AppliedOps  int64  // operations with a bound attempt APPLIED
	CompletedAt *schema.Decimal
	By          string
}

func (r *Node) fields(c *coder) {
	c.string(&r.State)
	c.int(&r.Done)
	c.int(&r.Closed)
	c.int(&r.Unsettled)
	c.int(&r.Applied)
	c.int(&r.ActiveOps)
	c.int(&r.AppliedOps)
	c.optDecimal(&r.CompletedAt)
	c.string(&r.By)
}

// Pending says whether the node is neither completed nor skipped.
func (r *Node) Pending() bool { return r.State == "" }

// Node returns the state of a node of a run.
func (s *State) Node(contract, runID, nodeID string) Node {
	if r := get[Node](s, kindNode, contract, runID, nodeID); r != nil {
		return *r
	}
	return Node{}
}

// Ready says whether node i with this state may be completed or worked for
// (RULES 10): every incoming edge is done or closed and, if it has any, one is
// done; a JOIN in mode ANY as soon as one is done.
func (r *Graph) Ready(i int, n *Node) bool {
	incoming := int64(len(r.Nodes[i].DependsOn))
	if incoming == 0 {
		return true
	}
	if n.Done == 0 {
		return false
	}
	return r.JoinsAny(i) || n.Done+n.Closed == incoming
}

// JoinsAny says whether node i is a JOIN in mode ANY.
func (r *Graph) JoinsAny(i int) bool {
	if r.Nodes[i].Kind != events.NodeJoin {
		return false
	}
	mode, _ := r.Nodes[i].Config.Member("mode")
	text, ok := mode.Str()
	return ok && text == events.JoinAny
}
