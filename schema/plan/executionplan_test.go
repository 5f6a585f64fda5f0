package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

const (
	input0 = "/document/steps/0/input"
	input1 = "/document/steps/1/input"
	ref    = "/document/steps/1/input/id/$ref"
)

func TestExecutionPlanRefuses(t *testing.T) {
	const offered = "/admission/capabilities/0"
	testRefusals(t, schema.FormExecutionPlan, []refusal{
		{"empty-plan", "", []edit{{"/document", "null"}}},
		{"empty-plan", "", []edit{{"/document", "[]"}}},
		{"empty-plan", "", []edit{{"/document/steps", ""}}},
		{"empty-plan", "", []edit{{"/document/steps", "[]"}, {"/document/version", "1"}}},
		{"empty-plan", "", []edit{{"/document/steps", `{"a":1}`}}},
		{"invalid-plan", "", []edit{{"/document/version", ""}}},
		{"invalid-plan", "/version", []edit{{"/document/version", "1"}, {"/document/steps/0", "1"}}},
		{"invalid-plan", "/goal", []edit{{"/document/goal", "null"}}},
		{"invalid-plan", "/idempotencyKey", []edit{{"/document/idempotencyKey", "[]"}}},
		{"invalid-step", "/steps/0", []edit{{"/document/steps/0", "null"}}},
		{"invalid-step", "/steps/0/id", []edit{{"/document/steps/0/id", ""}, {"/document/steps/0/capability", ""}}},
		{"invalid-step", "/steps/0/id", []edit{{"/document/steps/0/id", `""`}}},
		{"invalid-step", "/steps/0/id", []edit{{"/document/steps/0/id", "7"}}},
		{"invalid-step", "/steps/1/capability", []edit{{"/document/steps/1/capability", "null"}}},
		{"invalid-step", "/steps/1/capability", []edit{{"/document/steps/1/capability", `""`}}},
		{"invalid-step", "/steps/1/reason", []edit{{"/document/steps/1/reason", "7"}}},
		{"invalid-step", "/steps/1/idempotencyKey", []edit{{"/document/steps/1/idempotencyKey", "null"}}},
		{"duplicate-step", "/steps/1/id", []edit{{"/document/steps/1/id", `"create"`}, {"/document/steps/1/capability", `"none"`}}},
		{"unknown-capability", "/steps/0/capability", []edit{{"/document/steps/0/capability", `"orders.delete"`}, {"/document/steps/1/id", `"create"`}}},
		{"unknown-capability", "/steps/0/capability", []edit{{offered + "/id", `"Orders.create"`}}},
		{"unknown-capability", "/admission", []edit{{"/admission", "null"}}},
		{"unknown-capability", "/admission", []edit{{"/admission/capabilities", `{}`}}},
		{"unknown-capability", "/steps/0/capability", []edit{{"/admission/capabilities", `[]`}}},
		{"unknown-capability", "/admission/capabilities/0", []edit{{"/admission/capabilities/+", `{"id":7,"version":"1"}`}}},
		{"unknown-capability", "/admission/capabilities/0", []edit{{offered + "/version", ""}}},
		{"unknown-capability", "/admission/capabilities/1", []edit{{"/admission/capabilities/+", `{"id":"orders.create","version":"1.0.0"}`}}},
		{"version-mismatch", "/steps/0/capabilityVersion", []edit{{"/document/steps/0/capabilityVersion", `"1.0"`}}},
		{"version-mismatch", "/steps/0/capabilityVersion", []edit{{"/document/steps/0/capabilityVersion", "null"}}},
		{"version-mismatch", "/steps/0/capabilityVersion", []edit{{"/document/steps/0/capabilityVersion", "1"}, {input0, `{"$ref":"x"}`}}},
		{"malformed-reference", "/steps/1/input/id/$ref", []edit{{ref, `"create.result.order.id"`}}},
		{"malformed-reference", "/steps/1/input/id/$ref", []edit{{ref, "7"}}},
		{"malformed-reference", "/steps/0/input/$ref", []edit{{input0, `{"$ref":null}`}}},
		{"malformed-reference", "/steps/0/input/b/0/$ref", []edit{{input0, `{"a":{"$ref":"steps.none.result"},"b":[{"$ref":""}]}`}}},
		{"unknown-reference", "/steps/1/input/id/$ref", []edit{{ref, `"steps.inspect.result"`}}},
		{"unknown-reference", "/steps/1/input/id/$ref", []edit{{ref, `"steps.Create.result"`}}},
		{"unknown-reference", "/steps/1/input/0/a/$ref", []edit{{input1, `[{"a":{"$ref":"steps.later.result"}}]`}}},
		{"unknown-reference", "/steps/0/input/sku/$ref", []edit{{input0 + "/sku", `{"$ref":"steps.inspect.result"}`}, {input0 + "/quantity", "0"}}},
		{"invalid-input", "/steps/0/input", []edit{{input0, ""}}},
		{"invalid-input", "/steps/0/input", []edit{{input0, "null"}}},
		{"invalid-input", "/steps/0/input", []edit{{input0 + "/sku", ""}}},
		{"invalid-input", "/steps/0/input/quantity", []edit{{input0 + "/quantity", "0"}}},
		{"invalid-input", "/steps/0/input/more", []edit{{input0 + "/more", "1"}}},
		{"invalid-input", "/steps/1/input", []edit{{input1, `{"of":{"$ref":"steps.create.result"}}`}}},
		{"invalid-input", "/admission/capabilities/0/inputSchema", []edit{{offered + "/inputSchema", `{"type":"thing"}`}}},
		{"invalid-input", "/admission/capabilities/0/inputSchema", []edit{{offered + "/inputSchema", `{"$ref":"#"}`}}},
		{"invalid-input", "/admission/capabilities/1/inputSchema", []edit{{"/admission/capabilities/1/inputSchema", "null"}}},
	})
}

// TestNoAdmission: a registry that is no JSON has nothing.
func TestNoAdmission(t *testing.T) {
	s := source(t, schema.FormExecutionPlan)
	for _, admission := range []string{"", "{"} {
		s.Admission = admission
		if _, f := plan.CheckSource(s); f == nil || f.Reason != "unknown-capability" || f.Pointer != "/admission" {
			t.Errorf("%q: %v", admission, f)
		}
	}
}

// TestDuplicateStep: the message is fixed, and equality is exact.
func TestDuplicateStep(t *testing.T) {
	_, f := plan.CheckSource(apply(t, source(t, schema.FormExecutionPlan), edit{"/document/steps/1/id", `"create"`}))
	if f == nil || f.Message != "Duplicate step ID: create" {
		t.Error(f)
	}
	for _, id := range []string{`"Create"`, `" create"`, `"create "`, `"cr\u0065ate\u200b"`} {
		if _, f := plan.CheckSource(apply(t, source(t, schema.FormExecutionPlan), edit{"/document/steps/1/id", id})); f != nil {
			t.Errorf("%s: %v", id, f)
		}
	}
	all := plan.All(command(t, apply(t, source(t, schema.FormExecutionPlan),
		edit{"/document/steps", `[{"id":"a","capability":"x"},{"id":"a","capability":"x"},{"id":"a","capability":"x"}]`}, edit{"/admission", `{"capabilities":[{"id":"x","version":"1"}]}`})))
	if len(all) != 2 || all[0].Pointer != "/steps/1/id" || all[1].Pointer != "/steps/2/id" {
		t.Errorf("%v", all)
	}
}

func TestExecutionPlanAccepts(t *testing.T) {
	testAccepted(t, schema.FormExecutionPlan, [][]edit{
		{{"/document/version", `""`}, {"/document/goal", ""}, {"/document/idempotencyKey", ""}},
		{{input1, `{"$ref":"steps.create.result"}`}},
		{{input0 + "/sku", `"$ref"`}, {input1, `{"id":1,"note":{"$ref":"not a reference","more":1},"x":{"$REF":1},"y":{}}`}},
		{{input1, `{"id":{"deep":[{"$ref":"steps.create.result.a.b"}]}}`}},
		{{"/document/steps/0/capabilityVersion", ""}, {"/document/steps/1/capabilityVersion", `"2.1.0"`}},
		{{"/document/steps/0/reason", `""`}, {"/document/steps/0/idempotencyKey", `"k"`}},
		{{"/admission/capabilities/+", `{"id":"other","version":"1","more":true}`}, {"/admission/more", "1"}},
		{{"/admission/capabilities/0/inputSchema", ""}, {input0, `"anything"`}},
		{{"/admission/capabilities/0/inputSchema", "true"}, {input0, ""}},
	})
}

// TestReferences: what a reference is, against the steps create and "a.b", and "a" too where it says so.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ ids, ref, want string }{
		{"create", "steps.create.result", ""},
		{"create", "steps.create.result.x", ""},
		{"create", "steps.create.result.x.0.y z.$", ""},
		{"create", "steps.create.result.result", ""},
		{"create", "steps.create.results", "malformed-reference"},
		{"create", "steps.create.result.", "malformed-reference"},
		{"create", "steps.create.result..x", "malformed-reference"},
		{"create", "steps.create.result.x..y", "malformed-reference"},
		{"create", "steps.create.result.x.", "malformed-reference"},
		{"create", "steps.create", "malformed-reference"},
		{"create", "steps.create.output", "malformed-reference"},
		{"create", "steps..result", "malformed-reference"},
		{"create", "steps.result", "malformed-reference"},
		{"create", "step.create.result", "malformed-reference"},
		{"create", " steps.create.result", "malformed-reference"},
		{"create", "Steps.create.result", "malformed-reference"},
		{"create", "steps.create.Result", "malformed-reference"},
		{"create", "", "malformed-reference"},
		{"create", "steps.creat.result", "unknown-reference"},
		{"create", "steps.create .result", "unknown-reference"},
		{"create", "steps.create.x.result", "unknown-reference"},
		{"a.b", "steps.a.b.result", ""},
		{"a.b", "steps.a.b.result.c", ""},
		{"a.b", "steps.a.result.b", "unknown-reference"},
		{"a.result.b", "steps.a.result.b.result", ""},
		{"a a.result.b", "steps.a.result.b.result", ""},
		{"..", "steps....result", ""},
	} {
		var steps []string
		for id := range strings.FieldsSeq(c.ids) {
			steps = append(steps, fmt.Sprintf(`{"id":%q,"capability":"x"}`, id))
		}
		steps = append(steps, fmt.Sprintf(`{"id":"last","capability":"x","input":[{"$ref":%q}]}`, c.ref))
		_, f := plan.CheckSource(plan.Source{
			Form: schema.FormExecutionPlan, Document: `{"version":"1","steps":[` + strings.Join(steps, ",") + "]}", Admission: `{"capabilities":[{"id":"x","version":"1"}]}`,
		})
		got := ""
		if f != nil {
			got = f.Reason
		}
		if got != c.want {
			t.Errorf("%q with %s: %v, want %q", c.ref, c.ids, f, c.want)
		}
	}
}

// TestCaptured: what the pin keeps.
func TestCaptured(t *testing.T) {
	for _, c := range []struct{ goal, want string }{
		{`"  Do it\n"`, "Do it"}, {`""`, "External execution plan"}, {`" \t\ufeff\u00a0\u2029 "`, "External execution plan"}, {`"\u0085x\u0085"`, "\u0085x\u0085"},
		{"", "External execution plan"}, {`"\ufeffa\u3000"`, "a"}, {`"\u200bx"`, "\u200bx"},
	} {
		pin, f := plan.CheckSource(apply(t, source(t, schema.FormExecutionPlan), edit{"/document/goal", c.goal}))
		if f != nil {
			t.Fatal(f)
		}
		if p := rehydrate(t, pin, "run-8"); p.Execution.Goal != c.want {
			t.Errorf("goal %s is kept as %q", c.goal, p.Execution.Goal)
		}
	}
	base, _ := plan.CheckSource(source(t, schema.FormExecutionPlan))
	same, f := plan.CheckSource(apply(t, source(t, schema.FormExecutionPlan),
		edit{"/document/id", `"plan-1"`}, edit{"/document/metadata", `{"a":[1]}`}, edit{"/document/more", "1"}, edit{"/document/steps/0/more", "1"}, edit{"/document/steps/0/capabilityVersion", ""}))
	if f != nil || same != base {
		t.Errorf("what is not captured changes the pin: %v\n%s", f, same.Envelope)
	}
	p := rehydrate(t, base, "run-8")
	want := &plan.ExecutionPlan{
		Version: "1.0", Goal: "Create an order, then look at it", IdempotencyKey: "request-42",
		Steps: []plan.Step{
			{ID: "create", Capability: "orders.create", CapabilityVersion: "1.0.0", Input: `{"quantity":1,"sku":"book"}`},
			{ID: "inspect", Capability: "orders.read", CapabilityVersion: "2.1.0", Input: `{"id":{"$ref":"steps.create.result.order.id"}}`, Reason: "confirm what was stored"},
		},
	}
	if diff := cmp.Diff(want, p.Execution, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "index" }, cmp.Ignore())); diff != "" {
		t.Error(diff)
	}
}

// pinned is the plan of some steps of a capability x.
func pinned(t testing.TB, steps ...string) *plan.ExecutionPlan {
	t.Helper()
	pin, f := plan.CheckSource(plan.Source{
		Form: schema.FormExecutionPlan, Document: `{"version":"1","steps":[` + strings.Join(steps, ",") + "]}", Admission: `{"capabilities":[{"id":"x","version":"1"}]}`,
	})
	if f != nil {
		t.Fatal(f)
	}
	return rehydrate(t, pin, "r").Execution
}

func step(id string) string { return fmt.Sprintf(`{"id":%q,"capability":"x"}`, id) }

func TestGraph(t *testing.T) {
	p := pinned(t, step("end"), step("b"), step("end-2"))
	g, err := p.Graph("g", "1")
	if err != nil {
		t.Fatal(err)
	}
	const config = `{"capability":"x","capabilityVersion":"1"}`
	want := &schema.Graph{ID: "g", Revision: "1", Nodes: []schema.Node{
		{ID: "end", Kind: "TASK", DependsOn: []string{}, Config: config},
		{ID: "b", Kind: "TASK", DependsOn: []string{"end"}, Config: config},
		{ID: "end-2", Kind: "TASK", DependsOn: []string{"b"}, Config: config},
		{ID: "end-3", Kind: "END", DependsOn: []string{"end-2"}, Config: "{}"},
	}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
	body := schema.AppendRecord(nil, &schema.RegisterGraph{Graph: *g})
	if _, f := schema.Decode(body); f != nil {
		t.Errorf("%s: %v", body, f)
	}
}

func TestGraphFails(t *testing.T) {
	p := pinned(t, step("a"))
	for _, ids := range [][2]string{{"", "1"}, {"g", ""}, {strings.Repeat("g", 257), "1"}} {
		if _, err := p.Graph(ids[0], ids[1]); err == nil {
			t.Errorf("%v is accepted", ids)
		}
	}
	var e *plan.StepError
	if _, err := pinned(t, step("a"), step(strings.Repeat("é", 257))).Graph("g", "1"); !errors.As(err, &e) || e.Reason != "id" {
		t.Error(err)
	}
	var steps []string
	for i := range 1000 {
		steps = append(steps, step(fmt.Sprint("s", i)))
	}
	if g, err := pinned(t, steps[:999]...).Graph("g", "1"); err != nil || len(g.Nodes) != 1000 {
		t.Errorf("999 steps: %v", err)
	}
	if _, err := pinned(t, steps...).Graph("g", "1"); err == nil {
		t.Error("1,000 steps fit a graph")
	}
}

func TestResolveInput(t *testing.T) {
	p := pinned(t, step("a"), step("b.c"), `{"id":"whole","capability":"x","input":{"$ref":"steps.a.result"}}`,
		`{"id":"parts","capability":"x","input":{"z":[{"$ref":"steps.a.result.list.1.x"},{"$ref":"steps.b.c.result"}],"a\"b":{"$ref":"steps.a.result.list"},"c":{"$ref":1,"d":2},"s":"steps.a.result"}}`)
	results := map[string]schema.Value{"a": `{"list":[0,{"x":"é"}],"n":null}`, "b.c": "7", "whole": "1"}
	for _, c := range []struct {
		step string
		want schema.Value
	}{
		{"a", "{}"},
		{"whole", results["a"]},
		{"parts", `{"a\"b":[0,{"x":"é"}],"c":{"$ref":1,"d":2},"s":"steps.a.result","z":["é",7]}`},
	} {
		got, err := p.ResolveInput(c.step, results, "")
		if err != nil || got != c.want {
			t.Errorf("%s: %s, %v", c.step, got, err)
		}
		if again, err := schema.ParseValue([]byte(got)); err != nil || again != got {
			t.Errorf("%s is not canonical", got)
		}
	}
}

func TestResolveInputFails(t *testing.T) {
	p := pinned(t, step("a"), `{"id":"b","capability":"x","input":{"v":{"$ref":"steps.a.result.list.1"}}}`, `{"id":"c","capability":"x","input":[{"$ref":"steps.b.result"}]}`)
	const admission = `{"capabilities":[{"id":"x","version":"1","inputSchema":{"properties":{"v":{"type":"integer"}}}}]}`
	big := schema.Value(`{"list":[0,"` + strings.Repeat("x", 400_000) + `"]}`)
	for _, c := range []struct {
		step, reason, pointer string
		results               map[string]schema.Value
		admission             schema.Value
	}{
		{"d", "unknown-step", "", nil, ""},
		{"b", "unfinished-source", "/v/$ref", nil, ""},
		{"b", "unfinished-source", "/v/$ref", map[string]schema.Value{"a": "", "c": "1"}, ""},
		{"c", "unfinished-source", "/0/$ref", map[string]schema.Value{"a": "1"}, ""},
		{"b", "missing-path", "/v/$ref", map[string]schema.Value{"a": "7"}, ""},
		{"b", "missing-path", "/v/$ref", map[string]schema.Value{"a": `{"list":[0]}`}, ""},
		{"b", "missing-path", "/v/$ref", map[string]schema.Value{"a": `{"list":{"01":0}}`}, ""},
		{"b", "missing-path", "/v/$ref", map[string]schema.Value{"a": `{"list":null}`}, ""},
		{"b", "missing-path", "/v/$ref", map[string]schema.Value{"a": `{"list":"ab"}`}, ""},
		{"b", "too-large", "", map[string]schema.Value{"a": big}, ""},
		{"b", "invalid-input", "/v", map[string]schema.Value{"a": `{"list":[0,"x"]}`}, admission},
		{"b", "unknown-capability", "", map[string]schema.Value{"a": `{"list":[0,1]}`}, `{"capabilities":[]}`},
		{"b", "unknown-capability", "/admission", map[string]schema.Value{"a": `{"list":[0,1]}`}, `[]`},
		{"b", "invalid-input", "/admission/capabilities/0/inputSchema", map[string]schema.Value{"a": `{"list":[0,1]}`}, `{"capabilities":[{"id":"x","version":"1","inputSchema":7}]}`},
	} {
		got, err := p.ResolveInput(c.step, c.results, c.admission)
		var e *plan.StepError
		if got != "" || !errors.As(err, &e) || e.StepID != c.step || e.Reason != c.reason || e.Pointer != c.pointer || !strings.Contains(err.Error(), `"`+c.step+`"`) {
			t.Errorf("%s with %.60v: %.60s, %v", c.step, c.results, got, err)
		}
	}
	for _, path := range []string{"length", "-1", "01", "2", "1.0"} {
		q := pinned(t, step("a"), fmt.Sprintf(`{"id":"b","capability":"x","input":{"$ref":"steps.a.result.%s"}}`, path))
		if got, err := q.ResolveInput("b", map[string]schema.Value{"a": "[1,2]"}, ""); err == nil {
			t.Errorf("%s of an array is %s", path, got)
		}
	}
	got, err := p.ResolveInput("b", map[string]schema.Value{"a": `{"list":[0,5]}`}, admission)
	if err != nil || got != `{"v":5}` {
		t.Errorf("%s, %v", got, err)
	}
}

// TestInputsLeftOpen: members that are or contain references are judged when they are resolved, and so is what needs them.
func TestInputsLeftOpen(t *testing.T) {
	for _, c := range []struct {
		schema, input string
		refused       bool
	}{
		{`{"properties":{"v":{"type":"integer"}}}`, `{"v":REF}`, false},
		{`{"properties":{"v":{"type":"integer"}}}`, `{"v":[REF]}`, false},
		{`{"properties":{"v":{"properties":{"y":{"type":"integer"}}}}}`, `{"v":{"x":REF,"y":"no integer"}}`, false},
		{`{"properties":{"v":{"type":"integer"},"w":{"type":"integer"}}}`, `{"v":REF,"w":"x"}`, true},
		{`{"additionalProperties":{"type":"integer"}}`, `{"v":REF,"w":"x"}`, true},
		{`{"additionalProperties":false}`, `{"v":REF}`, false},
		{`{"additionalProperties":false,"properties":{"v":true}}`, `{"v":REF,"w":1}`, true},
		{`{"patternProperties":{"^w":{"type":"integer"}}}`, `{"v":REF,"w1":"x"}`, true},
		{`{"propertyNames":{"maxLength":1}}`, `{"v":REF,"ww":1}`, true},
		{`{"maxProperties":1}`, `{"v":REF,"w":1}`, false},
		{`{"maxProperties":1}`, `{"v":REF,"w":1,"x":1}`, true},
		{`{"minProperties":2}`, `{"v":REF,"w":1}`, false},
		{`{"type":"object"}`, `{"v":REF}`, false},
		{`{"type":"array"}`, `{"v":REF}`, true},
		{`{"required":["v"]}`, `{"v":REF}`, false},
		{`{"required":["w"]}`, `{"v":REF}`, true},
		{`{"const":{"v":1}}`, `{"v":REF}`, false},
		{`{"enum":[{"v":1}]}`, `{"v":REF}`, false},
		{`{"allOf":[{"required":["v"]}]}`, `{"v":REF}`, false},
		{`{"anyOf":[{"required":["v"]}]}`, `{"v":REF}`, false},
		{`{"oneOf":[{"required":["v"]}]}`, `{"v":REF}`, false},
		{`{"not":{"required":["w"],"maxProperties":1}}`, `{"v":REF,"w":1}`, false},
		{`{"if":{"required":["v"]},"else":false}`, `{"v":REF}`, false},
		{`{"if":true,"then":{"required":["v"]}}`, `{"v":REF}`, false},
		{`{"dependentRequired":{"w":["v"]}}`, `{"v":REF,"w":1}`, false},
		{`{"dependentSchemas":{"w":{"required":["v"]}}}`, `{"v":REF,"w":1}`, false},
		{`{"allOf":[{"properties":{"w":true}}],"unevaluatedProperties":false}`, `{"v":REF,"w":1}`, false},
		{`{"allOf":[7]}`, `{"v":REF}`, true},
		{`{"items":{"type":"integer"}}`, `["x",REF]`, false},
		{`{"type":"integer"}`, `REF`, false},
		{`false`, `{"v":REF}`, true},
		{`false`, `{"v":1}`, true},
	} {
		_, f := plan.CheckSource(plan.Source{
			Form:      schema.FormExecutionPlan,
			Document:  `{"version":"1","steps":[{"id":"a","capability":"free"},{"id":"b","capability":"x","input":` + strings.ReplaceAll(c.input, "REF", `{"$ref":"steps.a.result"}`) + `}]}`,
			Admission: `{"capabilities":[{"id":"free","version":"1"},{"id":"x","version":"1","inputSchema":` + c.schema + `}]}`,
		})
		if (f != nil) != c.refused || f != nil && f.Reason != "invalid-input" {
			t.Errorf("%s with %s: %v", c.schema, c.input, f)
		}
	}
}

// TestAllIsBounded: a hostile plan does not get a fault for each of its steps.
func TestAllIsBounded(t *testing.T) {
	all := plan.All(&schema.PinPlan{
		Form: schema.FormExecutionPlan, Document: schema.Value(`{"steps":[` + strings.TrimSuffix(strings.Repeat("1,", 5000), ",") + `],"version":""}`), Admission: "{}",
	})
	if len(all) != 100 || slices.ContainsFunc(all, func(f plan.Fault) bool { return f.Reason != "invalid-step" }) {
		t.Errorf("%d faults", len(all))
	}
}
