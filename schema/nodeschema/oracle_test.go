package nodeschema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// oracle is an independent validator of JSON Schema 2020-12.
func oracle(text string) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(jsonschema.SchemeURLLoader{}) // loads nothing
	if err := c.AddResource("mem:///schema", doc); err != nil {
		return nil, err
	}
	return c.Compile("mem:///schema")
}

func oracleAccepts(t testing.TB, s *jsonschema.Schema, instance schema.Value) bool {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(instance)))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v) == nil
}

func canonical(t testing.TB, text string) schema.Value {
	v, err := schema.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestOracle draws schemas and instances out of small vocabularies, so that they often meet, and compares every answer.
func TestOracle(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := drawSchema(rt, 3)
		want, oracleErr := oracle(text)
		got, err := nodeschema.Compile(canonical(t, text))
		if (err == nil) != (oracleErr == nil) {
			rt.Fatalf("Compile(%s): %v; the oracle: %v", text, err, oracleErr)
		}
		if err != nil {
			return
		}
		for range 10 {
			instance := canonical(t, drawInstance(rt, 3))
			failure := got.Check(instance)
			if (failure == nil) != oracleAccepts(t, want, instance) {
				rt.Fatalf("schema %s\ninstance %s\nfailure %v; the oracle: %v", text, instance, failure, want)
			}
			if again := got.Check(instance); failure != nil && *again != *failure {
				rt.Fatalf("%v, then %v", failure, again)
			}
		}
	})
}

var (
	scalars  = []string{"null", "true", "false", "0", "1", "2", "3", "-1", "0.5", "1.5", "6", "1e300", "-2.5e-300", `""`, `"a"`, `"b"`, `"ab"`, `"😀"`}
	numbers  = []string{"0", "1", "2", "3", "-1", "0.5", "1.5", "0.1", "6", "1e300", "1e299", "2.5e-300", "0.25"}
	names    = []string{"a", "b", "ab", "c", ""}
	patterns = []string{"a", "^a$", "b?", "^[ab]{2}$", "😀|c", "^$"}
)

func quoted(name string) string { return string(schema.AppendString(nil, name)) }

func pick(t *rapid.T, from []string) string { return rapid.SampledFrom(from).Draw(t, "pick") }

func drawInstance(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
		return pick(t, scalars)
	}
	var parts []string
	if rapid.Bool().Draw(t, "array") {
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			parts = append(parts, drawInstance(t, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	for _, name := range names {
		if rapid.Bool().Draw(t, name) {
			parts = append(parts, quoted(name)+":"+drawInstance(t, depth-1))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// drawSchema draws a schema that is mostly valid: now and then a keyword gets a value of the wrong kind.
func drawSchema(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 9).Draw(t, "boolean") == 0 {
		return pick(t, []string{"true", "false", "{}", "{}", `{"type":"integer"}`, `{"title":"t"}`})
	}
	var parts []string
	used := map[string]bool{}
	theme := rapid.SampledFrom(themes).Draw(t, "theme")
	for range rapid.IntRange(0, 5).Draw(t, "keywords") {
		k := pick(t, theme)
		if !used[k] {
			used[k] = true
			parts = append(parts, quoted(k)+":"+drawKeyword(t, k, depth))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// themes are keywords that have to do with one another: drawn out of all, they would rarely meet.
var themes = [][]string{
	{
		"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "unevaluatedProperties", "dependentSchemas",
		"required", "allOf", "anyOf", "oneOf", "if", "then", "else",
	},
	{"prefixItems", "items", "contains", "minContains", "maxContains", "unevaluatedItems", "unevaluatedItems", "allOf", "anyOf", "oneOf", "if", "then", "else", "not"},
	{"type", "const", "enum", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "maxLength", "minLength", "pattern", "not"},
	{"maxItems", "minItems", "uniqueItems", "maxProperties", "minProperties", "dependentRequired", "propertyNames", "type", "properties", "items"},
	{"format", "title", "readOnly", "examples", "contentSchema", "contentMediaType", "additionalItems", "id", "unknown", "$schema", "items", "properties"},
}

func drawKeyword(t *rapid.T, k string, depth int) string {
	if rapid.IntRange(0, 99).Draw(t, "wrong") == 0 {
		// no count over 2^63: the oracle takes it modulo 2^64
		return pick(t, []string{"null", "-1", "1.5", `"a"`, "[]", `["a","a"]`, `[1]`, `{"a":1}`, "[{}]", "{}", "true", "1e18"})
	}
	schemas := func() string {
		var parts []string
		for range rapid.IntRange(1, 3).Draw(t, "schemas") {
			parts = append(parts, drawSchema(t, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	object := func(keys []string, value func() string) string {
		var parts []string
		for _, key := range keys {
			if rapid.IntRange(0, 2).Draw(t, "key") == 0 {
				parts = append(parts, quoted(key)+":"+value())
			}
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	nameList := func() string {
		var parts []string
		for _, name := range names {
			if rapid.IntRange(0, 3).Draw(t, name) == 0 {
				parts = append(parts, quoted(name))
			}
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	inner := func() string { return drawSchema(t, depth-1) }
	switch k {
	case "type":
		return pick(t, []string{`"null"`, `"boolean"`, `"object"`, `"array"`, `"number"`, `"string"`, `"integer"`, `["object","array"]`, `["integer","string"]`})
	case "const":
		return drawInstance(t, 2)
	case "enum", "examples":
		return "[" + drawInstance(t, 1) + "," + drawInstance(t, 2) + "]"
	case "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
		return pick(t, numbers)
	case "multipleOf":
		return pick(t, []string{"1", "2", "0.5", "0.1", "3", "2.5e-300", "1e299"})
	case "maxLength", "minLength", "maxItems", "minItems", "maxContains", "minContains", "maxProperties", "minProperties":
		return pick(t, []string{"0", "1", "2", "3", "2.0", "1e9"})
	case "pattern":
		return quoted(pick(t, patterns))
	case "uniqueItems", "readOnly":
		return pick(t, []string{"true", "false"})
	case "required":
		return nameList()
	case "dependentRequired":
		return object(names, nameList)
	case "properties", "dependentSchemas":
		return object(names, inner)
	case "patternProperties":
		return object(patterns, inner)
	case "prefixItems", "allOf", "anyOf", "oneOf":
		return schemas()
	case "format", "title", "contentMediaType":
		return `"date"`
	case "additionalItems", "id", "unknown":
		return pick(t, []string{"1", "false", `"x"`, `{"type":7}`, `{"$ref":"#/nowhere"}`})
	case "$schema":
		return quoted(nodeschema.Dialect)
	}
	return inner()
}

// TestOracleNumbers compares arithmetic over numbers of every size.
func TestOracleNumbers(t *testing.T) {
	number := rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "small") {
			return fmt.Sprint(rapid.IntRange(-40, 40).Draw(t, "n")) + pick(t, []string{"", ".5", ".25", "e1", "e-1", "e20", "e21", "e22"})
		}
		return fmt.Sprint(rapid.Float64().Draw(t, "f"))
	})
	rapid.Check(t, func(rt *rapid.T) {
		a, b := canonical(t, number.Draw(rt, "a")), canonical(t, number.Draw(rt, "b"))
		for _, k := range []string{"maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "const"} {
			text := fmt.Sprintf(`{"type":["integer","string"],%q:%s}`, k, b)
			if k == "multipleOf" {
				if b == "0" || b[0] == '-' {
					continue
				}
				text = fmt.Sprintf(`{"multipleOf":%s}`, b)
			}
			want, err := oracle(text)
			if err != nil {
				rt.Fatal(err)
			}
			s, err := nodeschema.Compile(canonical(t, text))
			if err != nil {
				rt.Fatal(err)
			}
			if f := s.Check(a); (f == nil) != oracleAccepts(t, want, a) {
				rt.Fatalf("%s with %s: %v", text, a, f)
			}
		}
	})
}

// TestPartlyIsSound: what CheckPartly refuses is refused whatever the unknown members are, and with nothing unknown it is
// Check.
func TestPartlyIsSound(t *testing.T) {
	isUnknown := func(kid *jsontree.Node) bool { return kid.Text == `"?"` }
	rapid.Check(t, func(rt *rapid.T) {
		text := drawSchema(rt, 3)
		s, err := nodeschema.Compile(canonical(t, text))
		if err != nil {
			return
		}
		parts := make([]string, rapid.IntRange(1, 4).Draw(rt, "length"))
		known := make([]bool, len(parts))
		for i := range parts {
			known[i] = rapid.Bool().Draw(rt, "known")
			parts[i] = `"?"`
			if known[i] {
				parts[i] = drawInstance(rt, 2)
			}
		}
		join := func() string { return "[" + strings.Join(parts, ",") + "]" }
		if rapid.Bool().Draw(rt, "object") {
			join = func() string {
				text := ""
				for i, part := range parts {
					text += "," + quoted(names[i]) + ":" + part
				}
				return "{" + text[1:] + "}"
			}
		}
		partly := join()
		failure := s.CheckPartly(jsontree.Parse(canonical(t, partly), ""), isUnknown)
		for range 10 {
			for i := range parts {
				if !known[i] {
					parts[i] = drawInstance(rt, 2)
				}
			}
			whole := canonical(t, join())
			full := s.Check(whole)
			if failure != nil && full == nil {
				rt.Fatalf("schema %s refuses %s, not %s", text, partly, whole)
			}
			if same := s.CheckPartly(jsontree.Parse(whole, ""), isUnknown); (same == nil) != (full == nil) {
				rt.Fatalf("schema %s, instance %s: %v and %v", text, whole, same, full)
			}
		}
	})
}
