package nodeschema_test

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// hostile are schemas and instances that cost as much as the limits allow. The instance repeats its element, where # is its
// number, as often as MaxWork lets it; @ is that number in binary, digits of 1 and -1.
var hostile = []struct{ name, schema, open, element, close string }{
	{"enum of large numbers", `{"items":{"enum":[` + repeat("1e300", 2300) + `,1]}}`, "[", "1", "]"},
	{"enum of tiny numbers", `{"items":{"enum":[` + repeat("5e-324", 30) + `]}}`, "[", "5e-324", "]"},
	{"constants of large numbers", `{"items":{"anyOf":[` + repeat(`{"const":#e300}`, 800) + `]}}`, "[", "1e-9", "]"},
	{"constants of objects", `{"anyOf":[` + repeat(`{"const":{"a":#}}`, 800) + `]}`, "{", `"#":1`, "}"},
	{"enum of long strings", `{"items":{"enum":[` + repeat(`"`+strings.Repeat("x", 200)+`#"`, 75) + `]}}`, "[", `"` + strings.Repeat("x", 200) + `1"`, "]"},
	{"anyOf of types", `{"items":{"anyOf":[` + repeat(`{"type":"integer"}`, 780) + `,{"type":"number"}]}}`, "[", "0.5", "]"},
	{"anyOf of types, none right", `{"items":{"anyOf":[` + repeat(`{"type":"integer"}`, 780) + `]}}`, "[", "5e-324", "]"},
	{"allOf of false", `{"items":{"allOf":[` + repeat("false", 2700) + `]}}`, "[", "1", "]"},
	{"anyOf of false", `{"items":{"anyOf":[` + repeat("false", 2700) + `,true]}}`, "[", "1", "]"},
	{"oneOf of constants", `{"items":{"oneOf":[` + repeat(`{"const":#}`, 1000) + `]}}`, "[", "9", "]"},
	{"multipleOf", `{"items":{"anyOf":[` + repeat(`{"multipleOf":9e-324}`, 700) + `,true]}}`, "[", "1.7976931348623157e+308", "]"},
	{"multipleOf, short numbers", `{"items":{"allOf":[` + repeat(`{"multipleOf":5e-324}`, 20) + `]}}`, "[", "1e+300", "]"},
	{"multipleOf, none right", `{"items":{"allOf":[` + repeat(`{"multipleOf":7e300}`, 20) + `]}}`, "[", "7e-300", "]"},
	{"one multipleOf", `{"items":{"multipleOf":5e-324}}`, "[", "1.7976931348623155e+308", "]"},
	{"nested anyOf", strings.Repeat(`{"anyOf":[{"type":"null"},`, 15) + `{"items":{"type":"integer"}}` + strings.Repeat("]}", 15), "[", "1", "]"},
	{"nested unique arrays", strings.Repeat(`{"uniqueItems":true,"items":`, 25) + "{}" + strings.Repeat("}", 25), "[", "[[[[[#]]]]]", "]"},
	{"unique items", `{"uniqueItems":true}`, "[", "#", "]"},
	{"unique items, all in one bucket of a hash", `{"uniqueItems":true}`, "[", "[@]", "]"},
	{"twenty unique items", `{"uniqueItems":true}`, "[", "[" + strings.TrimSuffix(strings.Repeat("1,", 6000), ",") + ",#]", "]"},
	{"unevaluated items, none right", `{"unevaluatedItems":false}`, "[", "1", "]"},
	{"unevaluated properties", `{"unevaluatedProperties":false,"anyOf":[` + repeat(`{"properties":{"#":true}}`, 400) + `]}`, "{", `"#":1`, "}"},
	{"unevaluated items, small schema", `{"unevaluatedItems":true,"allOf":[{"allOf":[{"prefixItems":[true]}]}]}`, "[", "1", "]"},
	{"unevaluated items, many times", `{"items":{"unevaluatedItems":true,"allOf":[` + repeat(`{"contains":true}`, 800) + `]}}`, "[", "[1,2,3,4,5,6,7,8,9]", "]"},
	{"property names", `{"propertyNames":{"maxLength":9}}`, "{", `"#":1`, "}"},
	{"property names, none right", `{"propertyNames":{"allOf":[` + repeat("false", 100) + `]}}`, "{", `"#":1`, "}"},
	{"long required names", `{"items":{"required":["` + strings.Repeat("x", 16000) + `"]}}`, "[", "[]", "]"},
	{"long required names, members", `{"items":{"dependentRequired":{"` + strings.Repeat("x", 16000) + `":[]}}}`, "[", `{"x":1,"xx":1,"xxx":1,"xxxx":1}`, "]"},
	{"pattern properties", `{"additionalProperties":{"patternProperties":{` + repeat(`"^#[ab]*$":true`, 400) + `}}}`, "{", `"#":{"abab":1,"#":2}`, "}"},
	{"if on if", strings.Repeat(`{"if":{"type":"null"},"else":`, 15) + `{"items":{"type":"integer"}}` + strings.Repeat("}", 15), "[", "1", "]"},
	{"contains", `{"contains":{"anyOf":[` + repeat(`{"type":"integer"}`, 780) + `]},"minContains":0}`, "[", "0.5", "]"},
	{"contains, none right", `{"contains":false}`, "[", "1", "]"},
	{"not", `{"items":{"allOf":[` + repeat(`{"not":{"type":"integer"}}`, 550) + `]}}`, "[", "0.5", "]"},
	{"bounds", `{"items":{"allOf":[` + repeat(`{"maximum":1,"minimum":0,"exclusiveMinimum":0}`, 300) + `]}}`, "[", "0.5", "]"},
	{"bounds, none right", `{"items":{"allOf":[` + repeat(`{"maximum":0,"minimum":9,"exclusiveMinimum":9}`, 3) + `]}}`, "[", "1", "]"},
	{"a pattern", `{"items":{"pattern":"^(a?){140}(a){100}$"}}`, "[", `"` + strings.Repeat("a", 199) + `"`, "]"},
	{"a greedy pattern", `{"pattern":".{0,100}.{0,100}.{0,100}c$"}`, `"`, strings.Repeat("aab", 20), `"`},
	{"a large pattern", `{"pattern":"` + strings.Repeat(".{0,490}", 5) + `c$"}`, `"`, strings.Repeat("aab", 2), `"`},
	{"many empty strings", `{"items":{"pattern":"^(.{0,100}){2}"}}`, "[", `""`, "]"},
}

func repeat(text string, times int) string {
	parts := make([]string, times)
	for i := range parts {
		parts[i] = strings.ReplaceAll(text, "#", fmt.Sprint(i))
		if strings.Contains(text, "@") {
			binary := strings.NewReplacer("0", ",-1", "1", ",1").Replace(fmt.Sprintf("%014b", i))
			parts[i] = strings.ReplaceAll(text, "@", binary[1:])
		}
	}
	return strings.Join(parts, ",")
}

// atLimit returns the schema and the largest instance that it validates.
func atLimit(t testing.TB, text, open, element, end string) (*nodeschema.Schema, schema.Value) {
	s := compile(t, text)
	instance := func(times int) string {
		if open == `"` {
			return open + strings.Repeat(element, times) + end
		}
		return open + repeat(element, times) + end
	}
	high := 1
	for s.Fits(len(instance(high))) {
		high *= 2
	}
	tooMany := high/2 + sort.Search(high/2, func(more int) bool { return !s.Fits(len(instance(high/2 + more))) })
	return s, canonical(t, instance(tooMany-1))
}

// TestHostile: the worst that we could construct ends soon. The limit here is lax, for slow machines; the benchmark measures.
func TestHostile(t *testing.T) {
	for _, c := range hostile {
		s, v := atLimit(t, c.schema, c.open, c.element, c.close)
		start := time.Now()
		f := s.Check(v)
		took := time.Since(start)
		if took > 5*time.Second || f != nil && f.Reason == nodeschema.TooLarge {
			t.Errorf("%s: %v for %d bytes: %v", c.name, took, len(v), f)
		}
		if testing.Verbose() {
			t.Logf("%-44s %7.1f ms for %d bytes", c.name, float64(took.Microseconds())/1000, len(v))
		}
	}
}

// TestHostilePatterns: as many schemas as fit a command, in whose patterns reading costs most, are read soon. It reads an
// eighth of them.
func TestHostilePatterns(t *testing.T) {
	start := time.Now()
	for _, pattern := range []string{
		strings.Repeat(`\p{L}`, 40), "[" + strings.Repeat(`\p{L}`, 5) + "]", "(?i)" + strings.Repeat(`\p{L}`, 12), "(?i)" + strings.Repeat(`[^\pL]`, 5), "(?i)" + strings.Repeat("[!-я]", 9),
		strings.Repeat("(?i)[ -~]|", 78), strings.Repeat("x*", 1600), strings.Repeat("(?:a|b)", 2300), strings.Repeat("a|", 8000), strings.Repeat("(", 900) + "a" + strings.Repeat(")", 900),
		strings.Repeat("(a|", 500) + "b" + strings.Repeat(")", 500), strings.Repeat("x{1,9}", 280), strings.Repeat("[a-\U0010FFFF]", 1100), strings.Repeat(`[^\W\S]`, 1600), strings.Repeat("(?i)é", 2000),
	} {
		v := schema.Value(`{"pattern":` + quoted(pattern) + `}`)
		for range schema.MaxBody / max(len(v), 160) / 8 { // a node takes more than its schema
			if err := nodeschema.Valid(v); err != nil {
				t.Errorf("%.40s: %.80v", pattern, err)
				break
			}
		}
		took := time.Since(start)
		if took > 5*time.Second {
			t.Errorf("%.40s: %v", pattern, took)
		}
		if testing.Verbose() {
			t.Logf("%-30.30s %v", pattern, 8*took)
		}
		start = time.Now()
	}
}

// hostileSchemas take longest to read and to compile.
var hostileSchemas = map[string]string{
	"schemas":         `{"anyOf":[` + repeat("{}", 5400) + `]}`,
	"true":            `{"anyOf":[` + repeat("true", 3200) + `]}`,
	"types":           `{"anyOf":[` + repeat(`{"type":"null"}`, 1000) + `]}`,
	"properties":      `{"properties":{` + repeat(`"#":{}`, 1700) + `}}`,
	"nested":          strings.Repeat(`{"not":`, 29) + `{"anyOf":[` + repeat("{}", 1800) + `]}` + strings.Repeat("}", 29),
	"long-name":       `{"properties":{"` + strings.Repeat("~", 100) + `":{"anyOf":[` + repeat("{}", 1100) + `]}}}`,
	"longer-name":     `{"properties":{"` + strings.Repeat("~", 7000) + `":{"anyOf":[` + repeat("{}", 17) + `]}}}`,
	"pattern":         `{"pattern":"` + strings.Repeat(".{0,490}", 5) + `c$"}`,
	"patterns":        `{"anyOf":[` + repeat(`{"pattern":"a#"}`, 800) + `]}`,
	"unicode-pattern": `{"pattern":"` + strings.Repeat(`\\p{L}`, 40) + `"}`,
	"enum":            `{"enum":[` + repeat("[]", 5000) + `]}`,
	"no-schemas":      `{"anyOf":[` + repeat("1", 8000) + `]}`,
}

// TestHostileSchemas: as many large schemas as fit a command are read soon, and one is compiled soon. It reads an eighth of them.
func TestHostileSchemas(t *testing.T) {
	for name, text := range hostileSchemas {
		v := canonical(t, text)
		start := time.Now()
		for range schema.MaxBody / len(v) / 8 {
			_ = nodeschema.Valid(v)
		}
		valid := time.Since(start)
		start = time.Now()
		_, _ = nodeschema.Compile(v)
		compiled := time.Since(start)
		if valid > 5*time.Second || compiled > 5*time.Second {
			t.Errorf("%s: valid %v, compiled %v", name, valid, compiled)
		}
		if testing.Verbose() {
			t.Logf("%-16s %v, %v", name, 8*valid, compiled)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, c := range hostile {
		b.Run(strings.ReplaceAll(c.name, " ", "-"), func(b *testing.B) {
			s, v := atLimit(b, c.schema, c.open, c.element, c.close)
			b.SetBytes(int64(len(v)))
			b.ReportAllocs()
			for b.Loop() {
				s.Check(v)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	ordinary := canonical(b, `{"type":"object","required":["sku","quantity"],"properties":{"sku":{"type":"string","minLength":1,"pattern":"^[a-z-]{1,20}$"},
		"quantity":{"type":"integer","minimum":1}},"additionalProperties":false}`)
	run := func(name string, v schema.Value) {
		for how, f := range map[string]func(schema.Value) error{
			"valid":   nodeschema.Valid,
			"compile": func(v schema.Value) error { _, err := nodeschema.Compile(v); return err },
		} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = f(v)
				}
			})
		}
	}
	run("ordinary", ordinary)
	for name, text := range hostileSchemas {
		run(name, canonical(b, text))
	}
	b.Run("check", func(b *testing.B) {
		s := compile(b, string(ordinary))
		b.ReportAllocs()
		for b.Loop() {
			if f := s.Check(`{"quantity":3,"sku":"book-of-the-year"}`); f != nil {
				b.Fatal(f)
			}
		}
	})
}
