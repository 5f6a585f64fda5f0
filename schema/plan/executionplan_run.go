package plan

import (
	"fmt"
	"strconv"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// ExecutionPlan is a pinned execution-plan.v1, as a host runs it: its steps one after the other. It is never changed.
type ExecutionPlan struct {
	Version        string
	Goal           string
	IdempotencyKey string // "" if it has none, as in Step
	Steps          []Step

	index map[string]int // of the steps, by id
}

// Step is one step of an ExecutionPlan.
type Step struct {
	ID                string
	Capability        string
	CapabilityVersion string
	Input             schema.Value // with its references; "" if it has none
	Reason            string
	IdempotencyKey    string
}

// executionPlanOf reads an envelope that has been checked.
func executionPlanOf(envelope schema.Value) *ExecutionPlan {
	n := jsontree.Parse(envelope, "")
	text := func(n *jsontree.Node, name string) string {
		chars, _ := n.Get(name).Str()
		return chars
	}
	p := &ExecutionPlan{Version: text(n, "version"), Goal: text(n, "goal"), IdempotencyKey: text(n, "idempotencyKey"), index: map[string]int{}}
	for i, step := range n.Get("steps").Kids {
		s := Step{
			ID: text(step, "id"), Capability: text(step, "capability"), CapabilityVersion: text(step, "capabilityVersion"),
			Reason: text(step, "reason"), IdempotencyKey: text(step, "idempotencyKey"),
		}
		if input := step.Get("input"); input != nil {
			s.Input = input.Text
		}
		p.Steps = append(p.Steps, s)
		p.index[s.ID] = i
	}
	return p
}

// maxGraphNodes is how many nodes a graph may have.
const maxGraphNodes = 1000

// Graph returns the plan as a graph that registerGraph accepts: a TASK node for each step, which depends on the one before and
// takes only the step's capability, and an END node after the last. It fails where the plan has more steps or longer ids than
// a graph may have.
func (p *ExecutionPlan) Graph(graphID, revision string) (*schema.Graph, error) {
	if !schema.ValidID(graphID) || !schema.ValidID(revision) {
		return nil, fmt.Errorf("plan: %q and %q are not the ids of a graph and its revision", graphID, revision)
	}
	if len(p.Steps) >= maxGraphNodes {
		return nil, fmt.Errorf("plan: %d steps are too many for a graph, which has room for %d and its end", len(p.Steps), maxGraphNodes-1)
	}
	g := &schema.Graph{ID: graphID, Revision: revision}
	dependsOn := []string{}
	for _, step := range p.Steps {
		if !schema.ValidID(step.ID) {
			return nil, &StepError{step.ID, "id", "", "the id is too long for a node of a graph"}
		}
		config := object{}
		config.add("capability", str(step.Capability))
		config.add("capabilityVersion", str(step.CapabilityVersion))
		g.Nodes = append(g.Nodes, schema.Node{ID: step.ID, Kind: "TASK", DependsOn: dependsOn, Config: config.text()})
		dependsOn = []string{step.ID}
	}
	g.Nodes = append(g.Nodes, schema.Node{ID: p.endID(), Kind: "END", DependsOn: dependsOn, Config: "{}"})
	return g, nil
}

// endID is an id that no step has.
func (p *ExecutionPlan) endID() string {
	id := "end"
	for i := 2; ; i++ {
		if _, taken := p.index[id]; !taken {
			return id
		}
		id = "end-" + strconv.Itoa(i)
	}
}

// StepError says why a step cannot be run. Reason is one of: id (a graph cannot have it), unknown-step, unfinished-source,
// missing-path, invalid-input, too-large, or what is wrong with the admission. Pointer is a place in the input.
type StepError struct{ StepID, Reason, Pointer, Message string }

// Error names the step and gives reason, place and message on one line.
func (e *StepError) Error() string {
	f := Fault{e.Reason, e.Pointer, e.Message}
	return fmt.Sprintf("step %q: %s", e.StepID, f.Error())
}

// ResolveInput returns the input of a step with its references replaced by results: those of the steps that are COMPLETED, by
// their ids. A step without input has {}. With the admission of the pinPlan command, the input must be valid under the
// capability's input schema; admission may be "", then nothing is validated, for the pin keeps no schemas. The error is a
// *StepError.
func (p *ExecutionPlan) ResolveInput(stepID string, results map[string]schema.Value, admission schema.Value) (schema.Value, error) {
	at, ok := p.index[stepID]
	if !ok {
		return "", &StepError{stepID, "unknown-step", "", "the plan has no such step"}
	}
	step := p.Steps[at]
	input := schema.Value("{}")
	if step.Input != "" {
		r := resolver{step: stepID, results: results, opened: map[string]*jsontree.Node{}, earlier: newSources()}
		for _, s := range p.Steps[:at] {
			r.earlier.add(s.ID)
		}
		root := jsontree.Parse(step.Input, "")
		r.resolve(root)
		r.checkSize(root)
		if r.err != nil {
			return "", r.err
		}
		input = schema.Value(r.text)
	}
	if admission == "" {
		return input, nil
	}
	compiled, f := inputSchema(admission, step.Capability)
	if f != nil {
		return "", &StepError{stepID, f.Reason, f.Pointer, f.Message}
	}
	if compiled == nil {
		return input, nil
	}
	if failure := compiled.Check(input); failure != nil {
		return "", &StepError{stepID, "invalid-input", failure.Pointer, failure.Message}
	}
	return input, nil
}

// resolver writes an input with its references replaced.
type resolver struct {
	step    string
	results map[string]schema.Value
	earlier sources
	opened  map[string]*jsontree.Node // results that were looked into
	text    []byte
	err     *StepError
}

// resolve appends n, as long as nothing is wrong.
func (r *resolver) resolve(n *jsontree.Node) {
	if r.checkSize(n); r.err != nil {
		return
	}
	switch {
	case isReference(n):
		r.text = append(r.text, r.target(n.Kids[0])...)
	case n.Kind() == '{':
		r.container(n, '{', '}')
	case n.Kind() == '[':
		r.container(n, '[', ']')
	default:
		r.text = append(r.text, n.Text...)
	}
}

func (r *resolver) checkSize(n *jsontree.Node) {
	if len(r.text) > schema.MaxBody {
		r.fail(n, "too-large", "the input is larger than the body of a command can be")
	}
}

func (r *resolver) container(n *jsontree.Node, open, end byte) {
	r.text = append(r.text, open)
	for i, kid := range n.Kids {
		if i > 0 {
			r.text = append(r.text, ',')
		}
		if open == '{' {
			r.text = schema.AppendString(r.text, kid.Name)
			r.text = append(r.text, ':')
		}
		r.resolve(kid)
	}
	r.text = append(r.text, end)
}

// target returns what a reference stands for.
func (r *resolver) target(ref *jsontree.Node) schema.Value {
	text, _ := ref.Str()
	id, path, problem := r.earlier.resolve(text)
	if problem != "" {
		r.fail(ref, problem, string(ref.Text)+" names no earlier step")
		return ""
	}
	result, completed := r.results[id]
	if !completed || result == "" {
		r.fail(ref, "unfinished-source", fmt.Sprintf("step %q has no result", id))
		return ""
	}
	if len(path) == 0 {
		return result
	}
	if r.opened[id] == nil {
		r.opened[id] = jsontree.Parse(result, "")
	}
	n := r.opened[id]
	for _, name := range path {
		if n = child(n, name); n == nil {
			r.fail(ref, "missing-path", fmt.Sprintf("the result of step %q has nothing at %q", id, name))
			return ""
		}
	}
	return n.Text
}

// child returns the member of an object by its name, or the element of an array by its index.
func child(n *jsontree.Node, name string) *jsontree.Node {
	if n.Kind() != '[' {
		return n.Get(name)
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= len(n.Kids) || strconv.Itoa(i) != name {
		return nil
	}
	return n.Kids[i]
}

func (r *resolver) fail(n *jsontree.Node, reason, message string) {
	if r.err == nil {
		r.err = &StepError{r.step, reason, n.Pointer(), message}
	}
}
