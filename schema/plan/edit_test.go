package plan_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// source is the documented example of a form.
func source(t testing.TB, form string) plan.Source {
	t.Helper()
	c := examples(t)[form].command
	return plan.Source{
		Form: c.Form, RunID: c.RunID, Document: string(c.Document), Identity: string(c.Identity), Admission: string(c.Admission), Params: string(c.Params),
	}
}

// edit is one change of a source: the value at a pointer, which begins with /document, /identity, /admission or /params,
// becomes text, is removed if text is "", or gets text before it if the pointer ends in /+ (in an array).
type edit struct{ at, text string }

func apply(t testing.TB, s plan.Source, edits ...edit) plan.Source {
	t.Helper()
	for _, e := range edits {
		part, pointer, _ := strings.Cut(e.at[1:], "/")
		if strings.Contains(e.at[1:], "/") {
			pointer = "/" + pointer
		}
		text := map[string]*string{"document": &s.Document, "identity": &s.Identity, "admission": &s.Admission, "params": &s.Params}[part]
		if text == nil {
			t.Fatalf("%s: no such part", e.at)
		}
		*text = change(t, *text, pointer, e.text)
	}
	return s
}

func parseAny(t testing.TB, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return v
}

func change(t testing.TB, text, pointer, to string) string {
	t.Helper()
	if pointer == "" {
		return to
	}
	var tokens []string
	for _, token := range strings.Split(pointer, "/")[1:] {
		tokens = append(tokens, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	out, err := json.Marshal(changeAny(t, parseAny(t, text), tokens, to))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func changeAny(t testing.TB, v any, tokens []string, to string) any {
	t.Helper()
	name, rest := tokens[0], tokens[1:]
	switch v := v.(type) {
	case map[string]any:
		switch {
		case len(rest) > 0:
			v[name] = changeAny(t, v[name], rest, to)
		case to == "":
			delete(v, name)
		default:
			v[name] = json.RawMessage(to)
		}
		return v
	case []any:
		if name == "+" {
			return slices.Insert(v, 0, any(json.RawMessage(to)))
		}
		i, err := strconv.Atoi(name)
		if err != nil || i >= len(v) {
			t.Fatalf("no element %s", name)
		}
		switch {
		case len(rest) > 0:
			v[i] = changeAny(t, v[i], rest, to)
		case to == "":
			return slices.Delete(v, i, i+1)
		default:
			v[i] = json.RawMessage(to)
		}
		return v
	}
	t.Fatalf("nothing inside at %s", name)
	return nil
}

// refusal is a changed example and the fault that it must have.
type refusal struct {
	reason, pointer string
	edits           []edit
}

func testRefusals(t *testing.T, form string, refusals []refusal) {
	for _, c := range refusals {
		name := fmt.Sprint(c.reason, c.edits)
		s := apply(t, source(t, form), c.edits...)
		pin, f := plan.CheckSource(s)
		if f == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if f.Reason != c.reason || f.Pointer != c.pointer {
			t.Errorf("%s:\n got %v\nwant %s at %s", name, f, c.reason, c.pointer)
		}
		if pin != (plan.Pin{}) || f.Message == "" {
			t.Errorf("%s: %v, %q", name, pin, f.Message)
		}
		all := plan.All(command(t, s))
		if len(all) == 0 || all[0] != *f {
			t.Errorf("%s: All begins with %v", name, all)
		}
	}
}

// command is a pinPlan of texts that are JSON.
func command(t testing.TB, s plan.Source) *schema.PinPlan {
	t.Helper()
	optional := func(text string) schema.Value {
		if text == "" {
			return ""
		}
		return value(t, text)
	}
	return &schema.PinPlan{
		Form: s.Form, RunID: s.RunID, PlanID: "p",
		Document: optional(s.Document), Identity: optional(s.Identity), Admission: optional(s.Admission), Params: optional(s.Params),
	}
}

func testAccepted(t *testing.T, form string, cases [][]edit) {
	for _, edits := range cases {
		pin, f := plan.CheckSource(apply(t, source(t, form), edits...))
		if f != nil {
			t.Errorf("%v: %v", edits, f)
			continue
		}
		rehydrate(t, pin, source(t, form).RunID)
	}
}

// rehydrate wants a pin to come back as it is.
func rehydrate(t testing.TB, pin plan.Pin, runID string) plan.Plan {
	t.Helper()
	row := plan.Row{RunID: runID, PlanID: "p", Pin: pin}
	event := row
	got, err := plan.Rehydrate(&row, &event, runID, "p")
	if err != nil || got.Pin != pin {
		t.Errorf("rehydrated: %v\n%+v", err, got)
	}
	return got
}

// scrambled writes a JSON text with other white space and the members of every object in reverse order.
func scrambled(t testing.TB, text string) string {
	var out bytes.Buffer
	var write func(v any)
	write = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			out.WriteString(" {\n")
			for i, name := range slices.Backward(slices.Sorted(maps.Keys(v))) {
				out.WriteString("\t" + quote(name) + " :")
				write(v[name])
				if i > 0 {
					out.WriteString(" ,")
				}
			}
			out.WriteString("\r\n}")
		case []any:
			out.WriteString("[ ")
			for i, element := range v {
				if i > 0 {
					out.WriteString(", ")
				}
				write(element)
			}
			out.WriteString(" ]")
		case string:
			out.WriteString(quote(v))
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(raw)
		}
	}
	write(parseAny(t, text))
	return out.String()
}

func quote(chars string) string { return string(schema.AppendString(nil, chars)) }

// leaves are the pointers of all scalars of a text, with another value of the same kind for each.
func leaves(t testing.TB, text string) []edit {
	var found []edit
	var walk func(v any, pointer string)
	walk = func(v any, pointer string) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				walk(v[name], pointer+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
			}
		case []any:
			for i, element := range v {
				walk(element, pointer+"/"+strconv.Itoa(i))
			}
		case string:
			found = append(found, edit{pointer, quote(v + "x")})
		case json.Number:
			found = append(found, edit{pointer, "1" + v.String()})
		case bool:
			found = append(found, edit{pointer, strconv.FormatBool(!v)})
		case nil:
			found = append(found, edit{pointer, "0"})
		}
	}
	walk(parseAny(t, text), "")
	return found
}
