package plan

import (
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// The reasons of a graph-plan.v1, which are the original's codes.
const (
	invalidJSONValue       = "INVALID_JSON_VALUE"
	missingField           = "MISSING_FIELD"
	invalidShape           = "INVALID_SHAPE"
	invalidSchemaVersion   = "INVALID_SCHEMA_VERSION"
	invalidID              = "INVALID_ID"
	invalidVersion         = "INVALID_VERSION"
	invalidText            = "INVALID_TEXT"
	invalidDigest          = "INVALID_DIGEST"
	duplicateID            = "DUPLICATE_ID"
	unknownNode            = "UNKNOWN_NODE"
	unknownPhase           = "UNKNOWN_PHASE"
	unknownLane            = "UNKNOWN_LANE"
	invalidPhaseAssignment = "INVALID_PHASE_ASSIGNMENT"
	duplicateSubstitution  = "DUPLICATE_SUBSTITUTION"
	invalidBound           = "INVALID_BOUND"
	invalidRequirement     = "INVALID_REQUIREMENT"
	packageNotAdmitted     = "PACKAGE_NOT_ADMITTED"
	invalidLaneResolution  = "INVALID_LANE_RESOLUTION"
	unknownSubstitution    = "UNKNOWN_SUBSTITUTION"
	duplicatePermission    = "DUPLICATE_PERMISSION"
	permissionNotAdmitted  = "PERMISSION_NOT_ADMITTED"
)

// maxGraphLevels is how many others a value of a graph plan may stand in.
const maxGraphLevels = 256

// graphPlan is a description that is being resolved.
type graphPlan struct {
	description *jsontree.Node
	resolution  *jsontree.Node
	lanes       []schema.Value // of the resolved plan, in the order of the description
}

// checkGraphPlan: the description, then the resolution, alone and against it, then the plan they give, then the params.
func checkGraphPlan(s *Source, r *report) schema.Value {
	g := graphPlan{}
	var f *Fault
	if g.description, f = openGraph(s.Document, ""); f != nil {
		r.add(f)
	} else if f := g.descriptionShape(); f != nil {
		r.add(f)
	} else {
		r.each(g.schemaVersion, g.block, g.ids, g.unique, g.phases, g.nodes, g.edges, g.targets, g.permissions, g.bounds, g.memory)
	}
	described := r.clean()
	if r.full() {
		return ""
	}
	if g.resolution, f = openGraph(s.Admission, "/admission"); f != nil {
		r.add(f)
	} else if f := g.resolutionShape(); f != nil {
		r.add(f)
	} else {
		r.each(g.packages, g.laneIDs)
		if described {
			g.resolveLanes(r)
			r.each(g.preflight, g.admitted, g.covered)
		}
	}
	var text schema.Value
	if r.clean() {
		text = g.resolved()
		r.add(tooDeep(text))
	}
	if s.Params != "" && !r.full() {
		r.add(checkParams(s.Params))
	}
	return text
}

// openGraph parses a description or a resolution.
func openGraph(text, base string) (*jsontree.Node, *Fault) {
	n, f := open(text, base, invalidJSONValue)
	if f == nil && n.Levels() > maxGraphLevels {
		f = jsonFault(text, base, invalidJSONValue, maxGraphLevels)
	}
	return n, f
}

// tooDeep is the fault of a resolved plan some of whose values stand deeper than they did in what it was made of.
func tooDeep(text schema.Value) *Fault {
	_, f := openGraph(string(text), "")
	return f
}

// noParams are the params of a run that was given none.
const noParams = "{}"

// checkParams: an object. They are kept beside the plan, outside its hash.
func checkParams(text string) *Fault {
	n, f := openGraph(text, "")
	if f == nil && n.Kind() != '{' {
		f = &Fault{invalidJSONValue, "", "params are not an object"}
	}
	return f
}

// topMembers are those members of a description that go into the plan as they are.
var topMembers = []string{
	"schemaVersion", "graph", "inputContract", "outputContract", "phases", "nodes", "edges", "policies", "bounds", "requirements",
}

// resolved returns the resolved plan.
func (g *graphPlan) resolved() schema.Value {
	plan := object{}
	for _, name := range topMembers {
		plan.add(name, g.description.Get(name).Text)
	}
	plan.add("package", g.resolution.Get("package").Text)
	permissions := object{}
	permissions.add("requested", g.description.Get("requestedPermissions").Text)
	permissions.add("admitted", g.resolution.Get("admission").Get("permissions").Text)
	plan.add("permissions", permissions.text())
	if preflight := g.resolution.Get("preflight"); preflight != nil {
		plan.add("preflight", preflight.Text)
	}
	plan.add("executionLanes", array(g.lanes))
	return plan.text()
}

// reopenGraphPlan is the way back: resolving what it returns gives the envelope again, if the envelope is a resolved plan.
func reopenGraphPlan(envelope string) (document, admission string, f *Fault) {
	n, f := openGraph(envelope, "")
	if f != nil {
		return "", "", f
	}
	description, resolution, admitted := object{}, object{}, object{}
	for _, name := range topMembers {
		description.copy(n, name)
	}
	resolution.copy(n, "package")
	resolution.copy(n, "preflight")
	admitted.copy(n, "package")
	permissions := n.Get("permissions")
	if requested := permissions.Get("requested"); requested != nil {
		description.add("requestedPermissions", requested.Text)
	}
	if list := permissions.Get("admitted"); list != nil {
		admitted.add("permissions", list.Text)
	}
	resolution.add("admission", admitted.text())
	var described, resolved []schema.Value
	if lanes := n.Get("executionLanes"); lanes != nil {
		for _, lane := range lanes.Kids {
			d, r := object{}, object{}
			for _, member := range lane.Kids {
				switch member.Name {
				case "effective", "fallbacks":
					r.add(member.Name, member.Text)
				case "id":
					r.add(member.Name, member.Text)
					d.add(member.Name, member.Text)
				default:
					d.add(member.Name, member.Text)
				}
			}
			described, resolved = append(described, d.text()), append(resolved, r.text())
		}
	}
	description.add("executionLanes", array(described))
	resolution.add("executionLanes", array(resolved))
	return string(description.text()), string(resolution.text()), nil
}
