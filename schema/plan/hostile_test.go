package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

const size = 300 << 10

// large returns sources of about 300 KiB that are accepted, by form.
func large(t testing.TB) map[string]plan.Source {
	repeat := func(times int, f func(i int) string) string {
		parts := make([]string, times)
		for i := range parts {
			parts[i] = f(i)
		}
		return strings.Join(parts, ",")
	}
	steps := repeat(330, func(i int) string {
		return strings.ReplaceAll(quote(fmt.Sprint("s", i))+":"+change(t, stepOf(t, "write"), "/id", quote(fmt.Sprint("s", i))), "\n", "")
	})
	order := "[" + repeat(330, func(i int) string { return quote(fmt.Sprint("s", i)) }) + "]"
	run := apply(t, source(t, schema.FormRunPlan), edit{"/document/plan/steps", "{" + steps + "}"}, edit{"/document/plan/order", order}, edit{"/document/plan/entryStepId", `"s0"`},
		edit{"/document/plan/planHash/stageId", `"s9"`}, edit{"/document/plan/requirePlanHash", "[]"}, edit{"/document/gates/definitions", "{}"})

	execution := source(t, schema.FormExecutionPlan)
	execution.Document = `{"version":"1.0","steps":[` + repeat(2200, func(i int) string {
		if i == 0 {
			return `{"id":"s0","capability":"orders.create","input":{"sku":"book","quantity":1}}`
		}
		return fmt.Sprintf(`{"id":"s%d","capability":"orders.read","input":{"id":{"$ref":"steps.s%d.result.order.id"},"note":"a note on the order, as long as such a note is"}}`, i, i-1)
	}) + "]}"

	graph := apply(t, source(t, schema.FormGraphPlan),
		edit{"/document/nodes", "[" + repeat(1500, func(i int) string {
			return fmt.Sprintf(`{"id":"n%d","phaseId":"draft","inputContract":{},"outputContract":{"type":"string"},"laneId":"writer"}`, i)
		}) + "]"},
		edit{"/document/phases", `[{"id":"draft","name":"D","nodeIds":[` + repeat(1500, func(i int) string { return fmt.Sprintf(`"n%d"`, i) }) + "]}]"},
		edit{"/document/edges", "[" + repeat(1499, func(i int) string { return fmt.Sprintf(`{"id":"e%d","source":"n%d","target":"n%d"}`, i, i, i+1) }) + "]"},
		edit{"/document/inputContract", `{"description":` + quote(strings.Repeat("é", 20_000)) + "}"})
	opaque := plan.Source{Form: schema.FormOpaque, Document: `[` + repeat(15_000, func(i int) string { return fmt.Sprintf(`{"n":%d,"t":"row %d"}`, i, i) }) + "]"}
	return map[string]plan.Source{schema.FormRunPlan: run, schema.FormExecutionPlan: execution, schema.FormGraphPlan: graph, schema.FormOpaque: opaque}
}

func stepOf(t testing.TB, id string) string {
	return string(jsonOf(t, source(t, schema.FormRunPlan).Document, "plan", "steps", id))
}

func jsonOf(t testing.TB, text string, names ...string) schema.Value {
	v := value(t, text)
	for _, name := range names {
		v, _ = v.Member(name)
	}
	return v
}

// TestLarge: large plans are pinned and come back.
func TestLarge(t *testing.T) {
	for form, s := range large(t) {
		if len(s.Document) < size*3/4 || len(s.Document) > size*4/3 {
			t.Errorf("%s: %d bytes", form, len(s.Document))
		}
		pin, f := plan.CheckSource(s)
		if f != nil {
			t.Errorf("%s: %v", form, f)
			continue
		}
		start := time.Now()
		rehydrate(t, pin, s.RunID)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s: rehydrated in %v", form, took)
		}
	}
}

func BenchmarkPin(b *testing.B) {
	for form, s := range large(b) {
		c := command(b, s)
		b.Run(form, func(b *testing.B) {
			b.SetBytes(int64(len(c.Document)))
			b.ReportAllocs()
			for b.Loop() {
				if _, f := plan.Check(c); f != nil {
					b.Fatal(f)
				}
			}
		})
	}
}

func BenchmarkRehydrate(b *testing.B) {
	for form, s := range large(b) {
		pin, f := plan.CheckSource(s)
		if f != nil {
			b.Fatal(f)
		}
		row := plan.Row{RunID: s.RunID, PlanID: "p", Pin: pin}
		b.Run(form, func(b *testing.B) {
			b.SetBytes(int64(len(pin.Envelope)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := plan.Rehydrate(&row, &row, s.RunID, "p"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// hostile are documents of the size of a command's body that are made to be slow. None is a good plan but the last few.
func hostile(t testing.TB) map[string]plan.Source {
	fill := func(element string) string {
		return strings.TrimSuffix(strings.Repeat(element, size/len(element)), ",")
	}
	numbered := func(format string, bytes int) string {
		var out strings.Builder
		for i := 0; out.Len() < bytes; i++ {
			out.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return strings.TrimSuffix(out.String(), ",")
	}
	onCapability := func(steps, capabilities string) plan.Source {
		return plan.Source{Form: schema.FormExecutionPlan, Document: `{"version":"1","steps":[` + steps + "]}", Admission: `{"capabilities":[` + capabilities + "]}"}
	}
	run, graph := source(t, schema.FormRunPlan), source(t, schema.FormGraphPlan)
	const free = `{"id":"x","version":"1"}`
	cases := map[string]plan.Source{
		"deep array":            {Document: strings.Repeat("[", size/2) + strings.Repeat("]", size/2)},
		"deep object":           {Document: strings.Repeat(`{"a":`, size/6) + "1" + strings.Repeat("}", size/6)},
		"deep and allowed":      {Document: strings.Repeat("[", 500) + fill("1,") + strings.Repeat("]", 500)},
		"repeated names":        {Document: "{" + fill(`"a":1,`) + "}"},
		"names in bad order":    {Document: "{" + numbered(`"z#":1,`, size) + "}"},
		"one huge number":       {Document: strings.Repeat("9", size)},
		"one tiny number":       {Document: "0." + strings.Repeat("0", size) + "1"},
		"huge exponent":         {Document: "[" + fill("1e999999999,") + "]"},
		"numbers":               {Document: "[" + fill("1.7976931348623157e308,") + "]"},
		"escapes":               {Document: `"` + strings.Repeat(`\u00e9`, size/6) + `"`},
		"surrogates":            {Document: "[" + fill(`"\ud800",`) + "]"},
		"unclosed":              {Document: strings.Repeat("[", size)},
		"bad values everywhere": {Document: "{" + numbered(`"#":1e999,`, size) + "}"},

		"a long name": {Document: `{"` + strings.Repeat("x", size) + `":1e999}`},

		"run: a long member":        apply(t, run, edit{"/document/" + strings.Repeat("x", size), "1"}),
		"run: a long gate":          apply(t, run, edit{check + "/gate", quote(strings.Repeat("é", size/2))}),
		"execution: a long id":      onCapability(`{"id":"`+strings.Repeat("é", size/5)+`","capability":"x"},{"id":"`+strings.Repeat("é", size/5)+`","capability":"x"}`, free),
		"run: many unknown members": apply(t, run, edit{"/document/more", "{" + numbered(`"k#":1,`, size) + "}"}),
		"run: order of unknowns":    apply(t, run, edit{"/document/plan/order", "[" + numbered(`"s#",`, size) + "]"}),
		"run: order repeats":        apply(t, run, edit{"/document/plan/order", "[" + fill(`"write",`) + "]"}),
		"run: outcomes":             apply(t, run, edit{write + "/outcomes", "[" + numbered(`"o#",`, size) + "]"}),
		"run: long outcomes":        apply(t, run, edit{write + "/outcomes", "[" + numbered(`"`+strings.Repeat("x", 3000)+`#",`, size) + "]"}),
		"run: repositories":         apply(t, run, edit{write + "/repositories", "{" + numbered(`"r#":"read",`, size) + "}"}),
		"run: evidence":             apply(t, run, edit{write + "/requiredEvidence", "[" + numbered(`{"key":"k#","kind":"gate","minimum":1,"reusableAcrossAttempts":true},`, size) + "]"}),
		"run: definitions":          apply(t, run, edit{"/document/gates/definitions", "{" + numbered(`"g#":{"kind":"reserved"},`, size) + "}"}),

		"execution: many steps":       onCapability(numbered(`{"id":"s#","capability":"x"},`, size), free),
		"execution: same step":        onCapability(fill(`{"id":"s","capability":"x"},`), free),
		"execution: capabilities":     onCapability(`{"id":"s","capability":"none"}`, numbered(`{"id":"c#","version":"1"},`, size)),
		"execution: a long reference": onCapability(`{"id":"s","capability":"x"},{"id":"t","capability":"x","input":{"$ref":"steps`+strings.Repeat(".result", size/7)+`"}}`, free),
		"execution: dots":             onCapability(`{"id":"s","capability":"x","input":{"$ref":"steps.`+strings.Repeat(".", size)+`result"}}`, free),
		"execution: long ids": onCapability(numbered(`{"id":"`+strings.Repeat(".result", 100)+`#","capability":"x"},`, size/2)+
			`,{"id":"t","capability":"x","input":[`+strings.TrimSuffix(strings.Repeat(`{"$ref":"steps`+strings.Repeat(".result", 700)+`"},`, 25), ",")+"]}", free),
		"execution: references": onCapability(`{"id":"s","capability":"x"},{"id":"t","capability":"x","input":[`+fill(`{"$ref":"steps.s.result"},`)+"]}", free),
		"execution: schemas": onCapability(numbered(`{"id":"s#","capability":"c","input":[1,1,1,1,1,1,1,1]},`, size*9/10),
			`{"id":"c","version":"1","inputSchema":{"items":{"anyOf":[`+strings.Repeat(`{"type":"null"},`, 900)+`{"type":"integer"}]}}}`),
		"execution: schemas in schemas": onCapability(`{"id":"a","capability":"c0"},`+numbered(`{"id":"s#","capability":"c#","input":{"a":1,"b":{"$ref":"steps.a.result"}}},`, size/200),
			numbered(`{"id":"c#","version":"1","inputSchema":{"anyOf":[`+strings.TrimSuffix(strings.Repeat("{},", 5000), ",")+"]}},", size*9/10)),
		"execution: inputs known in part": onCapability(`{"id":"a","capability":"c"},`+numbered(`{"id":"s#","capability":"c","input":{"a":1,"b":{"$ref":"steps.a.result"}}},`, size*9/10),
			`{"id":"c","version":"1","inputSchema":{"type":"object","properties":{"a":{"enum":[`+numbered("#,", 6000)+"]}}}}"),
		"execution: patterns": onCapability(numbered(`{"id":"s#","capability":"c#","input":"x"},`, size/5),
			numbered(`{"id":"c#","version":"1","inputSchema":{"pattern":"`+strings.Repeat(".{0,490}", 5)+`"}},`, size*4/5)),
		"execution: one pattern": onCapability(numbered(`{"id":"s#","capability":"c","input":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},`, size),
			`{"id":"c","version":"1","inputSchema":{"pattern":"`+strings.Repeat(".{0,490}", 5)+`"}}`),

		"graph: nodes without phase": apply(t, graph, edit{"/document/nodes", "[" + numbered(`{"id":"n#","phaseId":"draft","inputContract":0,"outputContract":0,"laneId":null},`, size) + "]"}),
		"graph: node in phases":      apply(t, graph, edit{"/document/phases", "[" + numbered(`{"id":"p#","name":"x","nodeIds":["write"]},`, size) + "]"}),
		"graph: substitutions": apply(t, graph, edit{"/document/executionLanes/0/knownSubstitutions", "[" + numbered(`{"adapter":"a#","provider":"p","modelFamily":"f","model":"m","tools":[]},`, size) + "]"},
			edit{"/admission/executionLanes/0/effective/model", `"none"`}),
		"graph: tools":          apply(t, graph, edit{"/document/executionLanes/0/requested/tools", "[" + numbered(`"t#",`, size) + "]"}),
		"graph: permissions":    apply(t, graph, edit{"/admission/admission/permissions", "[" + numbered(`{"name":"p#","scope":1},`, size) + "]"}),
		"graph: unknown fields": apply(t, graph, edit{"/document/executionLanes/0/more", "{" + numbered(`"k#":1,`, size) + "}"}),
		"graph: lane members":   apply(t, graph, edit{"/document/executionLanes/0", "{" + numbered(`"k#":1,`, size) + `,"id":"writer","requested":` + string(jsonOf(t, graph.Document, "executionLanes"))[1:2] + `}` + "}"}),
	}
	return cases
}

// TestHostile: every form answers a hostile document soon, with a reason or with a pin, and so does rehydration.
func TestHostile(t *testing.T) {
	soon := 10 * time.Second // for slow machines
	if proctest.Race {
		soon *= 10 // the race detector takes so much longer
	}
	for name, c := range hostile(t) {
		forms := []string{c.Form}
		if c.Form == "" {
			forms = schema.Forms
		}
		for _, form := range forms {
			s := c
			s.Form = form
			if c.Form == "" {
				base := source(t, form)
				s.RunID, s.Identity, s.Admission = base.RunID, base.Identity, base.Admission
			}
			start := time.Now()
			pin, f := plan.CheckSource(s)
			row := plan.Row{RunID: s.RunID, PlanID: "p", Pin: plan.Pin{Form: form, Envelope: s.Document}}
			if f == nil {
				row.Pin = pin
			}
			_, err := plan.Rehydrate(&row, &row, s.RunID, "p")
			took := time.Since(start)
			if (f == nil) != (err == nil) {
				t.Errorf("%s, %s: %v, then %v", form, name, f, err)
			}
			if f != nil && (len(f.Pointer) > 2100 || len(f.Message) > 1100) {
				t.Errorf("%s, %s: a pointer of %d and a message of %d bytes", form, name, len(f.Pointer), len(f.Message))
			}
			if took > soon {
				t.Errorf("%s, %s: %v", form, name, took)
			}
			if testing.Verbose() {
				t.Logf("%-18s %-28s %8.1f ms %.80v", form, name, float64(took.Microseconds())/1000, f)
			}
		}
	}
}
