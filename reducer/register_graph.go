package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// maxLoopIterations bounds config.maxIterations (RULES 10).
const maxLoopIterations = 1_000_000

// registerGraph adds a graph, if every run of it can end (RULES 10).
func (q *question) registerGraph(c *schema.RegisterGraph) ([]events.Event, *refusal) {
	if q.Graph(q.contract, c.Graph.ID) != nil {
		return reject(refuse(events.CodeGraphExists, "graph %q exists", c.Graph.ID))
	}
	if fault := graphFault(&c.Graph); fault != nil {
		return reject(fault)
	}
	hash := schema.HashOf(schema.AppendRecord(nil, &c.Graph))
	return accept(&events.GraphRegistered{Graph: c.Graph, GraphHash: hash})
}

// shape is a graph by node index.
type shape struct {
	nodes      []schema.Node
	index      map[string]int
	dependents [][]int
}

// graphFault finds the first reason why a graph is invalid: one reason at a
// time, each over all nodes (RULES 10).
func graphFault(graph *schema.Graph) *refusal {
	g := &shape{nodes: graph.Nodes, index: make(map[string]int, len(graph.Nodes))}
	return first(
		g.duplicateNode, g.unknownDependency, g.cycle, g.noEnd,
		func() *refusal { return g.each("end-has-dependents", g.endHasDependents) },
		func() *refusal { return g.each("dead-end", g.deadEnd) },
		func() *refusal { return g.each("join-arity", g.joinArity) },
		func() *refusal { return g.each("decision-arity", g.decisionArity) },
		func() *refusal { return g.each("loop-unbounded", g.loopUnbounded) },
		func() *refusal { return g.each("config", g.configFault) },
		func() *refusal {
			return g.schemaFault("input-schema", func(n *schema.Node) schema.Value { return n.InputSchema })
		},
		func() *refusal {
			return g.schemaFault("output-schema", func(n *schema.Node) schema.Value { return n.OutputSchema })
		},
	)
}

func graphInvalid(reason, format string, args ...any) *refusal {
	return refuse(events.CodeGraphInvalid, format, args...).because(reason)
}

// each refuses with the reason at the first node that has the fault.
func (g *shape) each(reason string, fault func(i int) bool) *refusal {
	for i := range g.nodes {
		if fault(i) {
			return graphInvalid(reason, "node %q, a %s: %s", g.nodes[i].ID, g.nodes[i].Kind, reason)
		}
	}
	return nil
}

func (g *shape) duplicateNode() *refusal {
	for i := range g.nodes {
		if _, exists := g.index[g.nodes[i].ID]; exists {
			return graphInvalid("duplicate-node", "node %q stands twice", g.nodes[i].ID)
		}
		g.index[g.nodes[i].ID] = i
	}
	return nil
}

func (g *shape) unknownDependency() *refusal {
	g.dependents = make([][]int, len(g.nodes))
	for i := range g.nodes {
		for _, id := range g.nodes[i].DependsOn {
			source, exists := g.index[id]
			if !exists {
				return graphInvalid("unknown-dependency", "node %q depends on %q, which is not there", g.nodes[i].ID, id)
			}
			g.dependents[source] = append(g.dependents[source], i)
		}
	}
	return nil
}

// cycle takes nodes away whose dependencies are all gone; what is left is on a
// cycle or behind one.
func (g *shape) cycle() *refusal {
	waiting := make([]int, len(g.nodes))
	var free []int
	for i := range g.nodes {
		if waiting[i] = len(g.nodes[i].DependsOn); waiting[i] == 0 {
			free = append(free, i)
		}
	}
	gone := 0
	for ; len(free) > 0; gone++ {
		i := free[len(free)-1]
		free = free[:len(free)-1]
		for _, j := range g.dependents[i] {
			if waiting[j]--; waiting[j] == 0 {
				free = append(free, j)
			}
		}
	}
	if gone < len(g.nodes) {
		return graphInvalid("cycle", "%d nodes wait for each other", len(g.nodes)-gone)
	}
	return nil
}

func (g *shape) noEnd() *refusal {
	for i := range g.nodes {
		if g.nodes[i].Kind == events.NodeEnd {
			return nil
		}
	}
	return graphInvalid("no-end", "the graph has no END node")
}

func (g *shape) endHasDependents(i int) bool {
	return g.nodes[i].Kind == events.NodeEnd && len(g.dependents[i]) > 0
}

func (g *shape) deadEnd(i int) bool {
	return g.nodes[i].Kind != events.NodeEnd && len(g.dependents[i]) == 0
}

func (g *shape) joinArity(i int) bool {
	return g.nodes[i].Kind == events.NodeJoin && len(g.nodes[i].DependsOn) < 2
}

func (g *shape) decisionArity(i int) bool {
	return g.nodes[i].Kind == events.NodeDecision && len(g.dependents[i]) < 2
}

func (g *shape) loopUnbounded(i int) bool {
	if g.nodes[i].Kind != events.NodeLoop {
		return false
	}
	limit := maxIterations(&g.nodes[i])
	return limit < 1 || limit > maxLoopIterations
}

func (g *shape) configFault(i int) bool {
	switch g.nodes[i].Kind {
	case events.NodeJoin:
		return !configIn(&g.nodes[i], "mode", events.JoinAll, events.JoinAny)
	case events.NodeTask:
		return !configIn(&g.nodes[i], "effect", effectNone, effectRequired)
	}
	return false
}

// What a TASK's config.effect may say.
const (
	effectNone     = "none"
	effectRequired = "required"
)

// configIn says whether a config member is absent or one of the words.
func configIn(node *schema.Node, member string, words ...string) bool {
	value, there := node.Config.Member(member)
	if !there {
		return true
	}
	text, ok := value.Str()
	for _, word := range words {
		if ok && text == word {
			return true
		}
	}
	return false
}

// schemaFault only checks the schemas; each is compiled when a node first needs
// it.
func (g *shape) schemaFault(reason string, of func(*schema.Node) schema.Value) *refusal {
	for i := range g.nodes {
		text := of(&g.nodes[i])
		if text == "" {
			continue
		}
		if err := nodeschema.Valid(text); err != nil {
			return graphInvalid(reason, "node %q: %v", g.nodes[i].ID, err)
		}
	}
	return nil
}
