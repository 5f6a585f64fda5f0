package plan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// TestHash: how a document is written does not matter, what it says does.
func TestHash(t *testing.T) {
	for _, form := range schema.Forms {
		s := source(t, form)
		base, f := plan.CheckSource(s)
		if f != nil {
			t.Fatal(f)
		}
		other := s
		other.Document = scrambled(t, s.Document)
		for _, part := range []*string{&other.Identity, &other.Admission, &other.Params} {
			if *part != "" {
				*part = scrambled(t, *part)
			}
		}
		if pin, f := plan.CheckSource(other); f != nil || pin != base {
			t.Errorf("%s: written otherwise it is %v, %v", form, pin, f)
		}
		accepted := 0
		for _, e := range leaves(t, s.Document) {
			changed, f := plan.CheckSource(apply(t, s, edit{"/document" + e.at, e.text}))
			if f != nil {
				continue
			}
			accepted++
			if changed.RunPlanHash == base.RunPlanHash || changed.Envelope == base.Envelope {
				t.Errorf("%s: a change at %s changes nothing", form, e.at)
			}
		}
		if accepted < 4 {
			t.Errorf("%s: only %d changes are accepted", form, accepted)
		}
	}
}

// TestParamsAreBeside: params have their own hash, and absent ones are {}.
func TestParamsAreBeside(t *testing.T) {
	s := source(t, schema.FormGraphPlan)
	with, _ := plan.CheckSource(s)
	other, f := plan.CheckSource(apply(t, s, edit{"/params", `{"topic":7}`}))
	if f != nil || other.RunPlanHash != with.RunPlanHash || other.ParamsHash == with.ParamsHash || other.Params != `{"topic":7}` {
		t.Errorf("other params: %+v, %v", other, f)
	}
	without, f := plan.CheckSource(apply(t, s, edit{"/params", ""}))
	if f != nil || without.RunPlanHash != with.RunPlanHash || without.Params != "{}" || without.ParamsHash != schema.HashOf([]byte("{}")) {
		t.Errorf("no params: %+v, %v", without, f)
	}
	rehydrate(t, without, s.RunID)
	row := plan.Row{RunID: "r", PlanID: "p", Pin: without}
	row.Params, row.ParamsHash = "", ""
	if got, err := plan.Rehydrate(&row, &row, "r", "p"); err != nil || got.Pin != without {
		t.Errorf("a row without params: %v, %v", got, err)
	}
	for _, params := range []string{"null", "[]", `"x"`, "1", "false"} {
		if _, f := plan.CheckSource(apply(t, s, edit{"/params", params})); f == nil || f.Reason != "INVALID_JSON_VALUE" || f.Pointer != "" {
			t.Errorf("params %s: %v", params, f)
		}
	}
}

// TestStricter: repeated names and lone surrogates are refused in every form.
func TestStricter(t *testing.T) {
	for form, reason := range map[string]string{
		schema.FormRunPlan: "envelope", schema.FormExecutionPlan: "empty-plan", schema.FormGraphPlan: "INVALID_JSON_VALUE", schema.FormOpaque: "json",
	} {
		for _, text := range []string{`{"a":1,"a":1}`, `{"a":{"b":[],"b":[]}}`, `["\ud800"]`, `{"\udc00":1}`, `[1e999]`, `{`, ``, `[] []`, "\ufeff{}", "[\"\xff\"]", strings.Repeat("[", 600) + strings.Repeat("]", 600)} {
			s := source(t, form)
			s.Document = text
			if _, f := plan.CheckSource(s); f == nil || f.Reason != reason || f.Message == "" {
				t.Errorf("%s: %.40q: %v", form, text, f)
			}
		}
	}
}

func TestUnknownForm(t *testing.T) {
	if _, f := plan.CheckSource(plan.Source{Form: "x", Document: "1"}); f == nil || f.Reason != "form" {
		t.Error(f)
	}
}

// TestRehydrateFails: whatever is wrong with a row or its event is found, and the error says what.
func TestRehydrateFails(t *testing.T) {
	for _, form := range schema.Forms {
		s := source(t, form)
		pin, f := plan.CheckSource(s)
		if f != nil {
			t.Fatal(f)
		}
		good := plan.Row{RunID: s.RunID, PlanID: "p", Pin: pin}
		for check, damage := range map[string][]func(row, event *plan.Row) (*plan.Row, *plan.Row){
			"row": {
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.RunID = "other"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.PlanID = "other"; return row, event },
			},
			"event": {
				func(row, _ *plan.Row) (*plan.Row, *plan.Row) { return row, nil },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { event.RunID = "other"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { event.PlanID = "other"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { event.Form = "opaque2"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.Form = "opaque2"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { event.RunPlanHash += "0"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.RunPlanHash = "sha256:0"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.Identity += " "; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.Params = "{}"; return row, event },
				func(row, event *plan.Row) (*plan.Row, *plan.Row) { row.ParamsHash = "sha256:0"; return row, event },
			},
			"form": {
				func(row, event *plan.Row) (*plan.Row, *plan.Row) {
					row.Form, event.Form = "other", "other"
					return row, event
				},
			},
			"hash": {
				func(row, event *plan.Row) (*plan.Row, *plan.Row) {
					row.RunPlanHash, event.RunPlanHash = strings.ToUpper(row.RunPlanHash), strings.ToUpper(row.RunPlanHash)
					return row, event
				},
			},
			"paramsHash": {
				func(row, event *plan.Row) (*plan.Row, *plan.Row) {
					row.ParamsHash, event.ParamsHash = "sha256:0", "sha256:0"
					return row, event
				},
			},
		} {
			for i, spoil := range damage {
				row, event := good, good
				testCorrupt(t, form, check, i, func() (*plan.Row, *plan.Row) { return spoil(&row, &event) }, s.RunID)
			}
		}
		if _, err := plan.Rehydrate(nil, &good, s.RunID, "p"); !errors.Is(err, plan.ErrMissing) || errors.Is(err, plan.ErrCorrupt) {
			t.Errorf("%s: no row: %v", form, err)
		}
		testDamagedEnvelopes(t, good)
	}
}

func testCorrupt(t *testing.T, form, check string, i int, spoil func() (*plan.Row, *plan.Row), runID string) {
	t.Helper()
	row, event := spoil()
	_, err := plan.Rehydrate(row, event, runID, "p")
	var e *plan.Error
	if !errors.As(err, &e) || !errors.Is(err, plan.ErrCorrupt) || errors.Is(err, plan.ErrMissing) || e.Check != check || e.RunID != runID || e.PlanID != "p" {
		t.Errorf("%s: %s %d: %v", form, check, i, err)
	}
}

// testDamagedEnvelopes changes every scalar of the envelope, adds members, and cuts the text.
func testDamagedEnvelopes(t *testing.T, good plan.Row) {
	t.Helper()
	damaged := []string{"", "{", "null", "[]", good.Envelope + "x", good.Envelope[:len(good.Envelope)/2]}
	for _, e := range leaves(t, good.Envelope) {
		damaged = append(damaged, change(t, good.Envelope, e.at, e.text))
	}
	for name := range parseAny(t, good.Envelope).(map[string]any) {
		damaged = append(damaged, change(t, good.Envelope, "/"+name, ""), change(t, good.Envelope, "/"+name, "[{}]"), change(t, good.Envelope, "/"+name, `{"a":{}}`))
	}
	damaged = append(damaged, change(t, good.Envelope, "/another", "1"))
	for _, envelope := range damaged {
		row := good
		row.Envelope = envelope
		if _, err := plan.Rehydrate(&row, &row, row.RunID, row.PlanID); !errors.Is(err, plan.ErrCorrupt) {
			t.Errorf("%s: %.300s: %v", row.Form, envelope, err)
		}
	}
	testForgedEnvelopes(t, good)
	row := good
	row.Envelope = scrambled(t, good.Envelope)
	if got, err := plan.Rehydrate(&row, &row, row.RunID, row.PlanID); err != nil || got.Pin != good.Pin {
		t.Errorf("%s: written otherwise: %v", row.Form, err)
	}
}

// testForgedEnvelopes: a row and an event that agree on a text which no pin could have made.
func testForgedEnvelopes(t *testing.T, good plan.Row) {
	t.Helper()
	forged := map[string][]edit{
		schema.FormExecutionPlan: {{"/form", `"x"`}, {"/another", "1"}, {"/goal", `" padded"`}, {"/goal", ""}, {"/steps/0/capabilityVersion", ""}, {"/steps/0/another", "1"}},
		schema.FormGraphPlan:     {{"/another", "1"}, {"/executionLanes/0/fallbacks", ""}, {"/executionLanes/0/fallbacks", "null"}, {"/permissions/another", "1"}, {"/requestedPermissions", "[]"}},
	}
	for _, e := range forged[good.Form] {
		row := good
		row.Envelope = string(value(t, change(t, good.Envelope, e.at, e.text)))
		row.RunPlanHash = schema.HashOf([]byte(row.Envelope))
		if _, err := plan.Rehydrate(&row, &row, row.RunID, row.PlanID); !errors.Is(err, plan.ErrCorrupt) {
			t.Errorf("%s with %v: %v", row.Form, e, err)
		}
	}
}

// TestOtherRun: the plan of one run is no plan of another, whatever row and event say.
func TestOtherRun(t *testing.T) {
	s := source(t, schema.FormRunPlan)
	pin, _ := plan.CheckSource(s)
	row := plan.Row{RunID: "run-8", PlanID: "p", Pin: pin}
	_, err := plan.Rehydrate(&row, &row, "run-8", "p")
	var e *plan.Error
	if !errors.As(err, &e) || e.Check != "identity" || !strings.Contains(e.Error(), `run_plan_corrupt: run "run-8", plan "p": identity`) {
		t.Error(err)
	}
}

// TestAll: what can be told apart is told at once, in the order of the checks.
func TestAll(t *testing.T) {
	for _, c := range []struct {
		form  string
		edits []edit
		want  []string
	}{
		{schema.FormRunPlan, []edit{
			{"/document/gates/definitions/tests/argv", "[]"}, {"/document/plan/steps/publish/join/strategy", `"x"`}, {"/document/schema", "1"},
			{"/document/extra", "1"}, {"/document/plan/coordinator", `""`}, {"/document/plan/steps/write/index", "-1"}, {"/document/gates/controlRoot", "1"},
			{"/document/projectLimits", "{}"}, {"/identity/workflowId", `"x"`}, {"/document/revisions/memory", `""`},
		}, []string{
			"envelope /extra", "schema /schema", "identity /workflowId", "revisions /revisions/memory", "projectLimits /projectLimits", "step /plan/steps/write/index",
			"step /plan/steps/publish/join/strategy", "plan /plan/coordinator", "gates /gates/controlRoot", "gates /gates/definitions/tests/argv",
		}},
		{schema.FormRunPlan, []edit{{"/document/plan", ""}, {"/document/gates", "3"}, {"/identity", "[]"}}, []string{"envelope ", "identity /identity", "gates /gates"}},
		{schema.FormRunPlan, []edit{{"/document", "[]"}}, []string{"envelope "}},
		{schema.FormRunPlan, []edit{{"/document", "{}"}, {"/identity", "{}"}}, []string{"envelope ", "identity /identity"}},
		{schema.FormExecutionPlan, []edit{
			{"/document/goal", "1"}, {"/document/steps/0/input/quantity", "0"}, {"/document/steps/1/input/id/$ref", `"steps.x.result"`}, {"/document/steps/+", "7"},
		}, []string{"invalid-plan /goal", "invalid-step /steps/0", "invalid-input /steps/1/input/quantity", "unknown-reference /steps/2/input/id/$ref"}},
		{schema.FormExecutionPlan, []edit{{"/document", "7"}}, []string{"empty-plan "}},
		{schema.FormGraphPlan, []edit{
			{"/document/graph/id", `" x"`}, {"/document/edges/0/source", `"x"`}, {"/document/bounds/maxFanOut/kind", "1"},
			{"/admission/package/digest", `"x"`}, {"/params", "1"},
		}, []string{"INVALID_ID /graph/id", "UNKNOWN_NODE /edges/0", "INVALID_BOUND /bounds/maxFanOut/kind", "INVALID_DIGEST /admission/package/digest", "INVALID_JSON_VALUE "}},
		{schema.FormGraphPlan, []edit{{"/document", "1"}, {"/admission", "1"}}, []string{"INVALID_SHAPE ", "INVALID_SHAPE /admission"}},
	} {
		var got []string
		for _, f := range plan.All(command(t, apply(t, source(t, c.form), c.edits...))) {
			got = append(got, f.Reason+" "+f.Pointer)
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s %v:\n%s\nwant\n%s", c.form, c.edits, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}
