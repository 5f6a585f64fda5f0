package plan

import (
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// defaultGoal is the goal of a plan that has none.
const defaultGoal = "External execution plan"

// executionPlan is an ExecutionPlan document that is being checked and captured.
type executionPlan struct {
	document *jsontree.Node
	registry registry
	earlier  sources        // the steps before the one at hand
	steps    []schema.Value // captured
}

// checkExecutionPlan: the plan as a whole, then the steps in order, each judged whole before the next.
func checkExecutionPlan(s *Source, r *report) schema.Value {
	document, f := open(s.Document, "", "empty-plan")
	if f != nil {
		r.add(f)
		return ""
	}
	p := executionPlan{document: document, earlier: newSources()}
	p.registry.open(s.Admission)
	r.each(p.notEmpty, p.texts)
	steps := document.Get("steps")
	if steps.Kind() != '[' {
		return ""
	}
	for _, step := range steps.Kids {
		if r.full() {
			return ""
		}
		r.add(p.step(step))
	}
	if !r.clean() {
		return ""
	}
	return p.captured()
}

func (p *executionPlan) notEmpty() *Fault {
	if n := p.document.Get("steps"); n.Kind() != '[' || len(n.Kids) == 0 {
		return &Fault{"empty-plan", p.document.Pointer(), "the plan has no steps"}
	}
	return nil
}

// texts: what is captured of the plan besides its steps. The version may be any string.
func (p *executionPlan) texts() *Fault {
	if p.document.Kind() != '{' {
		return nil
	}
	for _, name := range []string{"version", "goal", "idempotencyKey"} {
		n := p.document.Get(name)
		if n == nil && name == "version" {
			return &Fault{"invalid-plan", "", "the plan has no version"}
		}
		if n != nil && n.Kind() != '"' {
			return &Fault{"invalid-plan", n.Pointer(), name + " is not a string"}
		}
	}
	return nil
}

// step checks and captures one step. Whatever is wrong with it, later steps may refer to it.
func (p *executionPlan) step(n *jsontree.Node) *Fault {
	if f := stepShape(n); f != nil {
		return f
	}
	id, _ := n.Get("id").Str()
	if p.earlier.has(id) {
		return &Fault{"duplicate-step", n.Get("id").Pointer(), "Duplicate step ID: " + id}
	}
	defer p.earlier.add(id)
	capability, f := p.registry.find(n.Get("capability"))
	if f != nil {
		return f
	}
	version := capability.Get("version")
	if wanted := n.Get("capabilityVersion"); wanted != nil && wanted.Text != version.Text {
		return &Fault{"version-mismatch", wanted.Pointer(), fmt.Sprintf("the registered version is %s", version.Text)}
	}
	input := n.Get("input")
	if input != nil {
		if f := p.references(input); f != nil {
			return f
		}
	} else {
		input = jsontree.Parse("{}", n.Pointer()+"/input")
	}
	if f := p.registry.validate(capability, input); f != nil {
		return f
	}
	p.steps = append(p.steps, capture(n, version.Text))
	return nil
}

// stepShape: an object with an id and a capability; what is optional is a string if it is there.
func stepShape(n *jsontree.Node) *Fault {
	if n.Kind() != '{' {
		return &Fault{"invalid-step", n.Pointer(), "the step is not an object"}
	}
	for _, name := range []string{"id", "capability"} {
		if chars, _ := n.Get(name).Str(); chars == "" {
			return &Fault{"invalid-step", n.Pointer() + "/" + name, name + " is not a non-empty string"}
		}
	}
	for _, name := range []string{"reason", "idempotencyKey"} {
		if kid := n.Get(name); kid != nil && kid.Kind() != '"' {
			return &Fault{"invalid-step", kid.Pointer(), name + " is not a string"}
		}
	}
	return nil
}

// capture is what the pin keeps of a step: the version is the one that the registry says.
func capture(n *jsontree.Node, version schema.Value) schema.Value {
	step := object{}
	for _, name := range []string{"id", "capability", "input", "reason", "idempotencyKey"} {
		step.copy(n, name)
	}
	step.add("capabilityVersion", version)
	return step.text()
}

// captured is the plan as pinned.
func (p *executionPlan) captured() schema.Value {
	goal, _ := p.document.Get("goal").Str()
	if goal = jsTrim(goal); goal == "" {
		goal = defaultGoal
	}
	plan := object{}
	plan.add("form", str(schema.FormExecutionPlan))
	plan.add("goal", str(goal))
	plan.copy(p.document, "version")
	plan.copy(p.document, "idempotencyKey")
	plan.add("steps", array(p.steps))
	return plan.text()
}

// reopenExecutionPlan is the way back: the envelope, read as a document, with a registry of just the versions that it names.
// The schemas judged the inputs when the plan was pinned; they are not kept with it.
func reopenExecutionPlan(envelope string) (document, admission string, f *Fault) {
	n, f := open(envelope, "", "empty-plan")
	if f != nil {
		return "", "", f
	}
	var capabilities []schema.Value
	known := map[schema.Value]schema.Value{}
	if steps := n.Get("steps"); steps != nil {
		for _, step := range steps.Kids {
			id, version := step.Get("capability"), step.Get("capabilityVersion")
			if id == nil || version == nil || known[id.Text] == version.Text {
				continue
			}
			known[id.Text] = version.Text
			capability := object{}
			capability.add("id", id.Text)
			capability.add("version", version.Text)
			capabilities = append(capabilities, capability.text())
		}
	}
	return envelope, `{"capabilities":` + string(array(capabilities)) + "}", nil
}

// references checks the references anywhere inside n: all are well formed, and each names an earlier step.
func (p *executionPlan) references(n *jsontree.Node) *Fault {
	var refs []*jsontree.Node
	collectReferences(n, &refs)
	var unknown *Fault
	for _, ref := range refs {
		text, _ := ref.Str()
		_, _, problem := p.earlier.resolve(text)
		if problem == malformedReference {
			return &Fault{problem, ref.Pointer(), fmt.Sprintf("%s is not steps.<id>.result with a path or without", ref.Text)}
		}
		if problem == unknownReference && unknown == nil {
			unknown = &Fault{problem, ref.Pointer(), fmt.Sprintf("%s names no earlier step", ref.Text)}
		}
	}
	return unknown
}

// collectReferences gathers what the members $ref of the references inside n say.
func collectReferences(n *jsontree.Node, refs *[]*jsontree.Node) {
	if isReference(n) {
		*refs = append(*refs, n.Kids[0])
		return
	}
	for _, kid := range n.Kids {
		collectReferences(kid, refs)
	}
}

// isReference reports whether n is an object with the member $ref and no other.
func isReference(n *jsontree.Node) bool {
	return n.Kind() == '{' && len(n.Kids) == 1 && n.Kids[0].Name == "$ref"
}

// holdsReference reports whether n is or contains a reference.
func holdsReference(n *jsontree.Node) bool {
	if isReference(n) {
		return true
	}
	for _, kid := range n.Kids {
		if holdsReference(kid) {
			return true
		}
	}
	return false
}

// sources are the steps that a reference may name.
type sources struct {
	ids     map[string]bool
	lengths map[int]bool // of the ids: a place in a reference is compared with them only where one can end
}

func newSources() sources { return sources{map[string]bool{}, map[int]bool{}} }

func (s *sources) has(id string) bool { return s.ids[id] }

func (s *sources) add(id string) { s.ids[id], s.lengths[len(id)] = true, true }

// What can be wrong with a reference.
const (
	malformedReference = "malformed-reference"
	unknownReference   = "unknown-reference"
)

// resolve splits a reference: steps.<id>.result, then perhaps a path, names that each follow a dot. An id may have dots too, so
// that a text can be split in more than one way; the shortest id that is a source counts.
func (s *sources) resolve(ref string) (id string, path []string, problem string) {
	const result = ".result"
	rest, ok := strings.CutPrefix(ref, "steps.")
	if !ok || strings.HasSuffix(rest, ".") {
		return "", nil, malformedReference
	}
	problem = malformedReference
	emptyName := strings.LastIndex(rest, "..")
	for from := 0; ; {
		at := strings.Index(rest[from:], result)
		if at < 0 {
			return "", nil, problem
		}
		at += from
		from = at + len(result)
		if after := rest[from:]; at == 0 || emptyName >= from || after != "" && after[0] != '.' {
			continue
		}
		problem = unknownReference
		if s.lengths[at] && s.ids[rest[:at]] {
			return rest[:at], splitPath(rest[from:]), ""
		}
	}
}

// splitPath returns the names of a path, which is empty or begins with a dot.
func splitPath(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path[1:], ".")
}
