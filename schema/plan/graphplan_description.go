package plan

import "github.com/aiws-reducer/aiws-reducer/schema/jsontree"

// descriptionShape: that everything is there which the other checks look at.
func (g *graphPlan) descriptionShape() *Fault {
	var c codes
	d := g.description
	c.fields(d, "schemaVersion", "graph", "inputContract", "outputContract", "phases", "nodes", "edges", "policies", "executionLanes",
		"requestedPermissions", "bounds", "requirements")
	if c.fault != nil {
		return c.fault
	}
	c.fields(d.Get("graph"), "id", "definitionVersion", "kind", "typeVersion", "definitionDigest")
	for _, name := range []string{"phases", "nodes", "edges", "executionLanes", "requestedPermissions"} {
		c.array(d.Get(name))
	}
	c.fields(d.Get("policies"), "retry", "stop", "concurrency", "write", "budget", "action")
	if c.fields(d.Get("bounds"), "dispatches", "maxConcurrency", "maxFanOut") {
		c.fields(d.Get("bounds").Get("dispatches"), "min", "max")
	}
	c.fields(d.Get("requirements"), "memory")
	for _, phase := range d.Get("phases").Kids {
		if c.fields(phase, "id", "name", "nodeIds") {
			c.array(phase.Get("nodeIds"))
		}
	}
	c.objects(d.Get("nodes"), "id", "phaseId", "inputContract", "outputContract", "laneId")
	c.objects(d.Get("edges"), "id", "source", "target")
	for _, lane := range d.Get("executionLanes").Kids {
		if c.fields(lane, "id", "requested", "knownSubstitutions") {
			c.array(lane.Get("knownSubstitutions"))
		}
	}
	c.objects(d.Get("requestedPermissions"))
	return c.fault
}

func (g *graphPlan) schemaVersion() *Fault {
	var c codes
	if n := g.description.Get("schemaVersion"); n.Text != "1" {
		c.fail(invalidSchemaVersion, n, "must be 1")
	}
	return c.fault
}

func (g *graphPlan) block() *Fault {
	var c codes
	n := g.description.Get("graph")
	c.id(n.Get("id"))
	c.version(n.Get("definitionVersion"))
	c.text(n.Get("kind"), n.Get("kind"))
	c.version(n.Get("typeVersion"))
	c.digest(n.Get("definitionDigest"))
	return c.fault
}

// ids: first the ids themselves, then those that refer to them.
func (g *graphPlan) ids() *Fault {
	var c codes
	for _, list := range []string{"phases", "nodes", "edges", "executionLanes"} {
		for _, n := range g.description.Get(list).Kids {
			c.id(n.Get("id"))
		}
	}
	for _, phase := range g.description.Get("phases").Kids {
		for _, n := range phase.Get("nodeIds").Kids {
			c.id(n)
		}
	}
	for _, node := range g.description.Get("nodes").Kids {
		c.id(node.Get("phaseId"))
		if lane := node.Get("laneId"); lane.Kind() != 'n' {
			c.id(lane)
		}
	}
	for _, edge := range g.description.Get("edges").Kids {
		c.id(edge.Get("source"))
		c.id(edge.Get("target"))
	}
	return c.fault
}

func (g *graphPlan) unique() *Fault {
	var c codes
	for _, list := range []string{"phases", "nodes", "edges", "executionLanes"} {
		c.unique(g.description.Get(list).Kids, "id")
	}
	c.unique(g.description.Get("requestedPermissions").Kids, "name")
	return c.fault
}

// named returns the set of the ids in a list.
func (g *graphPlan) named(list string) map[string]bool {
	ids := map[string]bool{}
	for _, n := range g.description.Get(list).Kids {
		id, _ := n.Get("id").Str()
		ids[id] = true
	}
	return ids
}

// phases: every node is in exactly one phase.
func (g *graphPlan) phases() *Fault {
	var c codes
	nodes, assigned := g.named("nodes"), map[string]bool{}
	count := 0
	for _, phase := range g.description.Get("phases").Kids {
		c.text(phase.Get("name"), phase.Get("name"))
		nodeIDs := phase.Get("nodeIds")
		c.unique(nodeIDs.Kids, "")
		for _, n := range nodeIDs.Kids {
			id, _ := n.Str()
			if !nodes[id] {
				c.fail(unknownNode, nodeIDs, "there is no node %q", id)
			}
			assigned[id] = true
			count++
		}
	}
	if count != len(nodes) || len(assigned) != len(nodes) {
		c.fail(invalidPhaseAssignment, g.description.Get("phases"), "every node must be in exactly one phase")
	}
	return c.fault
}

func (g *graphPlan) nodes() *Fault {
	var c codes
	phases, lanes, phaseOf := g.named("phases"), g.named("executionLanes"), map[string]string{}
	for _, phase := range g.description.Get("phases").Kids {
		phaseID, _ := phase.Get("id").Str()
		for _, n := range phase.Get("nodeIds").Kids {
			id, _ := n.Str()
			phaseOf[id] = phaseID
		}
	}
	for _, node := range g.description.Get("nodes").Kids {
		id, _ := node.Get("id").Str()
		phaseID, _ := node.Get("phaseId").Str()
		laneID, hasLane := node.Get("laneId").Str()
		switch {
		case !phases[phaseID]:
			c.fail(unknownPhase, node.Get("phaseId"), "there is no phase %q", phaseID)
		case phaseOf[id] != phaseID:
			c.fail(invalidPhaseAssignment, node.Get("phaseId"), "the node is in phase %q", phaseOf[id])
		case hasLane && !lanes[laneID]:
			c.fail(unknownLane, node.Get("laneId"), "there is no lane %q", laneID)
		}
	}
	return c.fault
}

func (g *graphPlan) edges() *Fault {
	var c codes
	nodes := g.named("nodes")
	for _, edge := range g.description.Get("edges").Kids {
		source, _ := edge.Get("source").Str()
		target, _ := edge.Get("target").Str()
		if !nodes[source] || !nodes[target] {
			c.fail(unknownNode, edge, "source or target is no node")
		}
	}
	return c.fault
}

// targets: what each lane requests, and the substitutions that it knows, which differ.
func (g *graphPlan) targets() *Fault {
	var c codes
	for _, lane := range g.description.Get("executionLanes").Kids {
		c.target(lane.Get("requested"))
		c.substitutions(lane.Get("knownSubstitutions"))
	}
	return c.fault
}

func (c *codes) substitutions(n *jsontree.Node) {
	seen := map[string]bool{}
	for _, target := range n.Kids {
		c.target(target)
		if seen[string(target.Text)] {
			c.fail(duplicateSubstitution, target, "is declared twice")
		}
		seen[string(target.Text)] = true
	}
}

func (g *graphPlan) permissions() *Fault {
	var c codes
	for _, n := range g.description.Get("requestedPermissions").Kids {
		c.permission(n)
	}
	return c.fault
}

func (g *graphPlan) bounds() *Fault {
	var c codes
	bounds := g.description.Get("bounds")
	least, most := bounds.Get("dispatches").Get("min"), bounds.Get("dispatches").Get("max")
	c.bound(least)
	c.bound(most)
	c.bound(bounds.Get("maxConcurrency"))
	c.bound(bounds.Get("maxFanOut"))
	if c.fault != nil || least.Get("kind").Text != `"known"` || most.Get("kind").Text != `"known"` {
		return c.fault
	}
	a, _ := least.Get("value").Text.Int()
	b, _ := most.Get("value").Text.Int()
	if a > b {
		c.fail(invalidBound, bounds.Get("dispatches"), "the minimum is over the maximum")
	}
	return c.fault
}

func (g *graphPlan) memory() *Fault {
	var c codes
	if n := g.description.Get("requirements").Get("memory"); n.Text != `"required"` && n.Text != `"unused"` {
		c.fail(invalidRequirement, n, "must be required or unused")
	}
	return c.fault
}
