package plan

import (
	"strconv"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// resolutionShape: that everything is there which the other checks look at. Fallbacks may be null, which is none.
func (g *graphPlan) resolutionShape() *Fault {
	var c codes
	if !c.fields(g.resolution, "package", "admission", "executionLanes") {
		return c.fault
	}
	if admission := g.resolution.Get("admission"); c.fields(admission, "package", "permissions") {
		c.objects(admission.Get("permissions"))
	}
	lanes := g.resolution.Get("executionLanes")
	if !c.array(lanes) {
		return c.fault
	}
	for _, lane := range lanes.Kids {
		if !c.fields(lane, "id", "effective") {
			return c.fault
		}
		if fallbacks := lane.Get("fallbacks"); fallbacks != nil && fallbacks.Kind() != 'n' {
			c.array(fallbacks)
		}
	}
	return c.fault
}

// packages: the package is the one that the host admits.
func (g *graphPlan) packages() *Fault {
	var c codes
	wanted, admitted := g.resolution.Get("package"), g.resolution.Get("admission").Get("package")
	c.pack(wanted)
	c.pack(admitted)
	if wanted.Text != admitted.Text {
		c.fail(packageNotAdmitted, admitted, "is another package than the one to resolve")
	}
	return c.fault
}

func (g *graphPlan) laneIDs() *Fault {
	var c codes
	c.unique(g.resolution.Get("executionLanes").Kids, "id")
	return c.fault
}

// resolveLanes matches each described lane with its resolution and makes the lanes of the resolved plan.
func (g *graphPlan) resolveLanes(r *report) {
	described, resolved := g.description.Get("executionLanes"), g.resolution.Get("executionLanes")
	var c codes
	if len(described.Kids) != len(resolved.Kids) {
		c.fail(invalidLaneResolution, resolved, "every described lane needs exactly one resolution")
	}
	if !r.add(c.fault) {
		return
	}
	byID := make(map[schema.Value]*jsontree.Node, len(resolved.Kids))
	for _, lane := range resolved.Kids {
		byID[lane.Get("id").Text] = lane
	}
	for i, lane := range described.Kids {
		var c codes
		resolution := byID[lane.Get("id").Text]
		if resolution == nil {
			c.fail(invalidLaneResolution, resolved, "lane %s has no resolution", lane.Get("id").Text)
		} else {
			c.lane(g, i, lane, resolution)
		}
		if !r.add(c.fault) {
			return
		}
	}
}

// lane resolves the described lane of that index. Effective target and fallbacks are among those that the lane declares.
func (c *codes) lane(g *graphPlan, i int, lane, resolution *jsontree.Node) {
	declared := map[schema.Value]bool{lane.Get("requested").Text: true}
	for _, target := range lane.Get("knownSubstitutions").Kids {
		declared[target.Text] = true
	}
	place := "/executionLanes/" + strconv.Itoa(i)
	effective := jsontree.Parse(resolution.Get("effective").Text, place+"/effective")
	c.target(effective)
	if !declared[effective.Text] {
		c.fail(unknownSubstitution, effective, "is no target that the lane declares")
	}
	fallbacks := jsontree.Parse("[]", "")
	if given := resolution.Get("fallbacks"); given.Kind() == '[' {
		fallbacks = jsontree.Parse(given.Text, place+"/fallbacks")
	}
	seen := map[schema.Value]bool{}
	for _, fallback := range fallbacks.Kids {
		c.target(fallback)
		switch {
		case !declared[fallback.Text]:
			c.fail(unknownSubstitution, fallback, "is no target that the lane declares")
		case fallback.Text == effective.Text:
			c.fail(duplicateSubstitution, fallback, "is the effective target")
		case seen[fallback.Text]:
			c.fail(duplicateSubstitution, fallback, "is listed twice")
		}
		seen[fallback.Text] = true
	}
	resolved := object{}
	for _, member := range lane.Kids {
		if member.Name != "effective" && member.Name != "fallbacks" {
			resolved.add(member.Name, member.Text)
		}
	}
	resolved.add("effective", effective.Text)
	resolved.add("fallbacks", fallbacks.Text)
	g.lanes = append(g.lanes, resolved.text())
}

// preflight: what must be tried of the lanes before the run starts.
func (g *graphPlan) preflight() *Fault {
	n := g.resolution.Get("preflight")
	if n == nil {
		return nil
	}
	var c codes
	if !c.fields(n, "timeoutMs", "lanes") {
		return c.fault
	}
	if ms, ok := n.Get("timeoutMs").Text.Int(); !ok || ms < 1 || ms > 1<<31-1 {
		c.fail(invalidBound, n.Get("timeoutMs"), "must be a whole number from 1 to 2147483647")
	}
	c.objects(n.Get("lanes"), "laneId", "live", "unsupportedStatic")
	if c.fault != nil {
		return c.fault
	}
	c.unique(n.Get("lanes").Kids, "laneId")
	lanes := g.named("executionLanes")
	for _, lane := range n.Get("lanes").Kids {
		if id, _ := lane.Get("laneId").Str(); !lanes[id] {
			c.fail(unknownLane, lane.Get("laneId"), "there is no lane %q", id)
		}
		if live := lane.Get("live"); live.Text != `"required"` && live.Text != `"skip"` {
			c.fail(invalidRequirement, live, "must be required or skip")
		}
		if static := lane.Get("unsupportedStatic"); static.Text != `"block"` && static.Text != `"allow"` {
			c.fail(invalidRequirement, static, "must be block or allow")
		}
	}
	return c.fault
}

func (g *graphPlan) admitted() *Fault {
	var c codes
	seen := map[schema.Value]bool{}
	for _, n := range g.resolution.Get("admission").Get("permissions").Kids {
		c.permission(n)
		if c.fault != nil {
			return c.fault
		}
		if name := n.Get("name"); seen[name.Text] {
			c.fail(duplicatePermission, n, "is admitted twice")
		} else {
			seen[name.Text] = true
		}
	}
	return c.fault
}

// covered: the host admits every requested permission, with the same scope.
func (g *graphPlan) covered() *Fault {
	var c codes
	scopes := map[schema.Value]schema.Value{}
	for _, n := range g.resolution.Get("admission").Get("permissions").Kids {
		if name, scope := n.Get("name"), n.Get("scope"); name != nil && scope != nil {
			scopes[name.Text] = scope.Text
		}
	}
	for _, n := range g.description.Get("requestedPermissions").Kids {
		if scope, ok := scopes[n.Get("name").Text]; !ok || scope != n.Get("scope").Text {
			c.fail(permissionNotAdmitted, n, "the host does not admit %s with this scope", n.Get("name").Text)
		}
	}
	return c.fault
}
