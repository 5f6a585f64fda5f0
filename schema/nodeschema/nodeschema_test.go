package nodeschema_test

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

func compile(t testing.TB, text string) *nodeschema.Schema {
	t.Helper()
	s, err := nodeschema.Compile(canonical(t, text))
	if err != nil {
		t.Fatalf("%.200s: %v", text, err)
	}
	return s
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ text, pointer string }{
		{`1`, ""}, {`"x"`, ""}, {`null`, ""}, {`[]`, ""},
		{`{"$ref":"#"}`, "/$ref"}, {`{"$dynamicRef":"#"}`, "/$dynamicRef"}, {`{"$id":"x:y"}`, "/$id"}, {`{"$anchor":"a"}`, "/$anchor"},
		{`{"$dynamicAnchor":"a"}`, "/$dynamicAnchor"}, {`{"$defs":{}}`, "/$defs"},
		{`{"properties":{"a":{"$ref":"#"}}}`, "/properties/a/$ref"},
		{`{"allOf":[true,{"items":{"$id":"x:y"}}]}`, "/allOf/1/items/$id"},
		{`{"contentSchema":{"$ref":"#"}}`, "/contentSchema/$ref"},
		{`{"then":{"$ref":"#"}}`, "/then/$ref"},
		{`{"$schema":"http://json-schema.org/draft-07/schema#"}`, "/$schema"},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema#"}`, "/$schema"},
		{`{"items":{"$schema":1}}`, "/items/$schema"},
		{`{"pattern":"(?=a)"}`, "/pattern"}, {`{"pattern":"a{1001}"}`, "/pattern"}, {`{"pattern":"(?<!a)b"}`, "/pattern"}, {`{"pattern":"\\u0041"}`, "/pattern"},
		{`{"pattern":1}`, "/pattern"}, {`{"patternProperties":{"(":true}}`, "/patternProperties/("}, {`{"contentSchema":{"pattern":"("}}`, "/contentSchema/pattern"},
		{`{"type":"text"}`, "/type"}, {`{"type":[]}`, "/type"}, {`{"type":["null","null"]}`, "/type"}, {`{"type":null}`, "/type"}, {`{"type":{"a":"null"}}`, "/type"},
		{`{"enum":1}`, "/enum"}, {`{"maximum":"1"}`, "/maximum"}, {`{"exclusiveMaximum":true}`, "/exclusiveMaximum"},
		{`{"multipleOf":0}`, "/multipleOf"}, {`{"multipleOf":-1}`, "/multipleOf"}, {`{"maxLength":-1}`, "/maxLength"}, {`{"maxLength":1.5}`, "/maxLength"},
		{`{"minItems":"1"}`, "/minItems"}, {`{"uniqueItems":1}`, "/uniqueItems"}, {`{"required":["a","a"]}`, "/required"}, {`{"required":{"a":"b"}}`, "/required"},
		{`{"required":"a"}`, "/required"}, {`{"dependentRequired":[]}`, "/dependentRequired"}, {`{"dependentRequired":{"a":[1]}}`, "/dependentRequired/a"},
		{`{"items":[true]}`, "/items"}, {`{"items":1}`, "/items"}, {`{"prefixItems":[]}`, "/prefixItems"}, {`{"prefixItems":{}}`, "/prefixItems"}, {`{"anyOf":[1]}`, "/anyOf/0"},
		{`{"properties":[]}`, "/properties"}, {`{"properties":{"a":null}}`, "/properties/a"}, {`{"dependentSchemas":{"a":["b"]}}`, "/dependentSchemas/a"},
		{`{"title":1}`, "/title"}, {`{"$comment":{}}`, "/$comment"}, {`{"format":1}`, "/format"}, {`{"deprecated":0}`, "/deprecated"}, {`{"examples":{}}`, "/examples"},
		{`{"contentEncoding":1}`, "/contentEncoding"}, {`{"not":"x"}`, "/not"}, {`{"if":[]}`, "/if"},
	} {
		_, err := nodeschema.Compile(canonical(t, c.text))
		var invalid *nodeschema.Invalid
		if !errors.As(err, &invalid) || invalid.Pointer != c.pointer {
			t.Errorf("%s: %v, want a fault at %q", c.text, err, c.pointer)
		}
		if again := nodeschema.Valid(canonical(t, c.text)); again == nil || again.Error() != err.Error() {
			t.Errorf("%s: Valid says %v", c.text, again)
		}
	}
	if _, err := nodeschema.Compile(""); err == nil {
		t.Error("an absent schema compiles")
	}
}

// TestCompileAccepts: keywords stand only in the places of schemas, and unknown ones are nobody's business.
func TestCompileAccepts(t *testing.T) {
	for _, text := range []string{
		`true`, `false`, `{}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema"}`,
		`{"properties":{"$ref":{"type":"string"},"$id":true,"$defs":false,"type":{}}}`,
		`{"patternProperties":{"$ref":{}}}`, `{"dependentSchemas":{"$id":{}}}`, `{"dependentRequired":{"$ref":["$id"]}}`, `{"required":["$ref"]}`,
		`{"const":{"$ref":"#"}}`, `{"enum":[{"$ref":"#","type":7}]}`, `{"default":{"$id":1}}`, `{"examples":[{"$anchor":1}]}`,
		`{"definitions":{"a":{"$ref":"#","type":7}}}`, `{"definitions":3}`, `{"dependencies":{"a":7}}`, `{"dependencies":[{"$ref":1}]}`,
		`{"$recursiveRef":7}`, `{"$recursiveRef":"#"}`, `{"$recursiveAnchor":"x"}`, `{"$vocabulary":[]}`, `{"$vocabulary":{"x:unknown":true}}`,
		`{"x-mine":{"$ref":"#"}}`, `{"additionalItems":{"$ref":"#"}}`, `{"id":"http://x/y","extends":1}`,
		`{"format":"no-such-format"}`, `{"format":"date","contentMediaType":"application/json","contentSchema":{"type":"object"}}`,
		`{"maxLength":1e300,"minItems":2.0,"enum":[]}`, `{"then":false,"else":{"type":"null"},"minContains":3}`,
		`{"pattern":"^(?i)[\\p{L}\\d]+\\/x$"}`,
	} {
		compile(t, text)
		if err := nodeschema.Valid(canonical(t, text)); err != nil {
			t.Error(err)
		}
	}
}

// TestIgnored: what Compile ignores does nothing, however it looks.
func TestIgnored(t *testing.T) {
	for _, text := range []string{
		`{"dependencies":{"a":["z"]}}`, `{"additionalItems":false}`, `{"$recursiveRef":"#/nowhere"}`, `{"definitions":{"a":false}}`, `{"format":"date"}`,
		`{"contentMediaType":"application/json","contentEncoding":"base64","contentSchema":false}`, `{"then":false,"else":false}`, `{"minContains":9,"maxContains":0}`,
		`{"unknown":{"type":"null"}}`, `{"default":1,"title":"t","readOnly":true}`,
	} {
		for _, instance := range []string{`{"a":1}`, `[1,2]`, `"!"`, `7`} {
			if f := compile(t, text).Check(canonical(t, instance)); f != nil {
				t.Errorf("%s refuses %s: %v", text, instance, f)
			}
		}
	}
}

func TestLimits(t *testing.T) {
	nested := func(depth int) string {
		return strings.Repeat(`{"not":`, depth-1) + "{}" + strings.Repeat("}", depth-1)
	}
	inConst := func(depth int) string {
		return `{"const":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
	}
	sized := func(size int) string { return `{"title":"` + strings.Repeat("x", size-len(`{"title":""}`)) + `"}` }
	for _, c := range []struct {
		name, text string
		ok         bool
	}{
		{"32 deep", nested(32), true}, {"33 deep", nested(33), false},
		{"32 deep in a value", inConst(32), true}, {"33 deep in a value", inConst(33), false},
		{"16 KiB", sized(16 << 10), true}, {"one byte more", sized(16<<10 + 1), false},
		{"white space does not count", "  " + sized(16<<10), true},
		{"a big pattern", `{"pattern":"` + strings.Repeat("(ab){300}", 4) + `"}`, true},
		{"patterns that are together too big", `{"anyOf":[` + strings.Repeat(`{"pattern":"(ab){300}"},`, 9) + `{"pattern":"x"}]}`, false},
		{"a pattern that grows", `{"pattern":"` + strings.Repeat(`.{0,1000}`, 20) + `"}`, false},
		{"many Unicode classes", `{"pattern":"` + strings.Repeat(`\\p{L}`, 40) + `"}`, true},
		{"too many Unicode classes", `{"pattern":"` + strings.Repeat(`\\p{L}`, 41) + `"}`, false},
		{"Unicode classes in brackets", `{"pattern":"^[\\p{L}\\p{M}\\p{N}_ -]{1,64}[^\\PL\\PN]$"}`, true},
		{"too many Unicode classes in brackets", `{"pattern":"[` + strings.Repeat(`\\p{L}`, 6) + `]"}`, false},
		{"Unicode classes without case", `{"pattern":"(?i)[\\p{L}\\PN]{3}"}`, true},
		{"too many Unicode classes without case", `{"pattern":"x(?-s)(?s-iU:` + strings.Repeat(`\\p{L}`, 13) + `)"}`, false},
		{"classes without case", `{"pattern":"(?i:[a-z][^0-9])(?:[ж-я])[a-я]"}`, true},
		{"a wide class without case", `{"pattern":"(?i)[a-\\x{FFFF}]"}`, false},
		{"a wide class in its own script", `{"pattern":"(?i)[a-𐐀]"}`, false},
		{"wide classes with case", `{"pattern":"` + strings.Repeat(`[a-\\x{FFFFF}]`, 900) + `"}`, true},
		{"a huge pattern", `{"pattern":"` + strings.Repeat(`x{1000}`, 2000) + `"}`, false},
	} {
		if _, err := nodeschema.Compile(canonical(t, c.text)); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestWork: where values times bytes exceed the limit nothing is validated.
func TestWork(t *testing.T) {
	text := func(bytes int) schema.Value { return schema.Value(`"` + strings.Repeat("x", bytes-2) + `"`) }
	for _, c := range []struct {
		schema   string
		instance schema.Value
		reason   string // "valid", "", or too-large
	}{
		{`{"type":"string"}`, text(250_000), "valid"},
		{`{"type":"string"}`, text(250_001), nodeschema.TooLarge},
		{`{"type":"null"}`, text(250_000), ""},
		{`{"type":"null"}`, text(250_001), nodeschema.TooLarge},
		{`{}`, text(500_000), "valid"}, {`true`, text(500_001), nodeschema.TooLarge},
		{`{"enum":["a",{"b":[null]}]}`, text(83_333), ""}, // 6 values
		{`{"enum":["a",{"b":[null]}]}`, text(83_334), nodeschema.TooLarge},
		{`{"definitions":[1,2,3,4,5,6,7,8]}`, text(50_000), "valid"}, // 10 values, ignored or not
		{`{"definitions":[1,2,3,4,5,6,7,8]}`, text(50_001), nodeschema.TooLarge},
		{`{"pattern":"^x{70}x*$"}`, text(60_000), "valid"},
		{`{"pattern":"^x{1000}x*$"}`, text(6_000), nodeschema.TooLarge},
		{`{"pattern":"^x{1000}x*$"}`, text(3_000), "valid"},
	} {
		f, got := compile(t, c.schema).Check(c.instance), "valid"
		if f != nil {
			got = f.Reason
		}
		if got != c.reason {
			t.Errorf("%s with %d bytes: %v", c.schema, len(c.instance), f)
		}
	}
}

// TestFailure: which failure, and where.
func TestFailure(t *testing.T) {
	for _, c := range []struct{ schema, instance, want string }{
		{`{"type":"object"}`, `1`, `refused by its schema at "/type"`},
		{`false`, `1`, `refused by its schema at ""`},
		{`{"properties":{"a/b":{"maximum":3}}}`, `{"a/b":4}`, `at /a~1b: refused by its schema at "/properties/a~1b/maximum"`},
		{`{"properties":{"a":false}}`, `{"a":4}`, `at /a: refused by its schema at "/properties/a"`},
		{`{"items":{"type":"string"}}`, `["x",1,2]`, `at /1: refused by its schema at "/items/type"`},
		{`{"additionalProperties":false}`, `{"z":1,"b":1}`, `at /b: refused by its schema at "/additionalProperties"`},
		{`{"propertyNames":{"maxLength":1}}`, `{"a":1,"bb":1}`, `at /bb: refused by its schema at "/propertyNames"`},
		{`{"anyOf":[{"type":"null"},{"properties":{"a":false}}]}`, `{"a":1}`, `refused by its schema at "/anyOf"`},
		{`{"allOf":[{"type":"object"},{"properties":{"a":{"const":2}}}]}`, `{"a":1}`, `at /a: refused by its schema at "/allOf/1/properties/a/const"`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, `refused by its schema at "/then/required"`},
		{`{"unevaluatedProperties":{"type":"null"}}`, `{"a":1}`, `at /a: refused by its schema at "/unevaluatedProperties/type"`},
	} {
		f := compile(t, c.schema).Check(canonical(t, c.instance))
		if f == nil || f.Error() != c.want {
			t.Errorf("%s with %s: %v", c.schema, c.instance, f)
		}
	}
}

// TestUnevaluated: what counts as evaluated, keyword by keyword; the oracle agrees.
func TestUnevaluated(t *testing.T) {
	const no = `"unevaluatedProperties":false,"unevaluatedItems":false`
	for _, c := range []struct {
		schema, instance string
		valid            bool
	}{
		{`{"if":{"properties":{"a":true}},` + no + `}`, `{"a":1}`, true},
		{`{"if":{"properties":{"a":{"type":"null"}}},` + no + `}`, `{"a":1}`, false},
		{`{"if":{"properties":{"a":true},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},` + no + `}`, `{"a":1,"b":1}`, true},
		{`{"if":{"properties":{"a":true},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},` + no + `}`, `{"c":1}`, true},
		{`{"if":{"properties":{"a":true},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},` + no + `}`, `{"b":1}`, false},
		{`{"allOf":[{"unevaluatedProperties":true}],` + no + `}`, `{"a":1}`, true},
		{`{"allOf":[{"unevaluatedItems":{"type":"integer"}}],` + no + `}`, `[1]`, true},
		{`{"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]}`, `{"a":1}`, false},
		{`{"not":{"not":{"properties":{"a":true}}},` + no + `}`, `{"a":1}`, false},
		{`{"anyOf":[{"prefixItems":[true]},{"prefixItems":[true,true]}],` + no + `}`, `[1,2]`, true},
		{`{"oneOf":[{"prefixItems":[true,{"type":"null"}]},{"prefixItems":[true]}],` + no + `}`, `[1,2]`, false},
		{`{"contains":{"type":"null"},` + no + `}`, `[null,null]`, true},
		{`{"contains":{"type":"null"},` + no + `}`, `[null,1]`, false},
		{`{"dependentSchemas":{"a":{"properties":{"a":true}}},` + no + `}`, `{"a":1}`, true},
		{`{"patternProperties":{"^a":true},"additionalProperties":{"type":"null"},` + no + `}`, `{"a":1,"b":null}`, true},
		{`{"properties":{"a":{"properties":{"b":true}}},` + no + `}`, `{"a":{"b":1},"b":1}`, false},
	} {
		instance := canonical(t, c.instance)
		if f := compile(t, c.schema).Check(instance); (f == nil) != c.valid {
			t.Errorf("%s with %s: %v", c.schema, c.instance, f)
		}
		want, err := oracle(c.schema)
		if err != nil {
			t.Fatal(err)
		}
		if oracleAccepts(t, want, instance) != c.valid {
			t.Errorf("%s with %s: the oracle disagrees", c.schema, c.instance)
		}
	}
}

// TestCounts: a count over every length is just that. (The oracle, which takes such counts modulo 2^64, is not asked.)
func TestCounts(t *testing.T) {
	for _, count := range []string{"1e300", "18446744073709551616", "4294967296", "9007199254740993"} {
		for _, keyword := range []string{"Length", "Items", "Properties"} {
			for _, instance := range []string{`"x"`, `[1]`, `{"a":1}`} {
				if f := compile(t, `{"max`+keyword+`":`+count+`}`).Check(canonical(t, instance)); f != nil {
					t.Errorf("max%s %s: %v", keyword, count, f)
				}
			}
		}
		if f := compile(t, `{"minLength":`+count+`}`).Check(`"x"`); f == nil {
			t.Errorf("minLength %s accepts one character", count)
		}
		if f := compile(t, `{"contains":true,"minContains":`+count+`}`).Check(`[1]`); f == nil {
			t.Errorf("minContains %s accepts one", count)
		}
	}
}

// TestPatternSteps: the bound that is known before a pattern is compiled holds after it. A pattern is accepted under the
// limit only if its program is; here the limit is met from both sides.
func TestPatternSteps(t *testing.T) {
	for _, pattern := range []string{
		"", "a", "abc", "[a-z]+", "(a|b|cd)*", "^x?y{3}$", "x{2,}", "(x{3,7}){5}", `\bword\b`, "(?i)straße", `\p{Greek}+`, "((((a))))", "(a*)*", ".{0,900}", "(|a){50}",
		"(?:ab|c.d){1,300}", "x{0}", "x{1000}", strings.Repeat("(a?){30}", 20),
	} {
		parsed, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		program, err := syntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		need := len(program.Inst)
		copies := nodeschema.MaxPatternSteps / need
		text := fmt.Sprintf(`{"anyOf":[%s]}`, strings.TrimSuffix(strings.Repeat(fmt.Sprintf(`{"pattern":%s},`, quoted(pattern)), copies+1), ","))
		if len(text) > nodeschema.MaxSchemaBytes {
			continue
		}
		if _, err := nodeschema.Compile(canonical(t, text)); err == nil {
			t.Errorf("%d copies of %q, which needs %d instructions, are under the limit", copies+1, pattern, need)
		}
	}
	if !regexp.MustCompile("^(?:a{1000})$").MatchString(strings.Repeat("a", 1000)) {
		t.Error("this Go knows another repeat limit")
	}
}

// TestCheckPartly: unknown members leave open what depends on them, and only that.
func TestCheckPartly(t *testing.T) {
	const unknown = `"?"`
	for _, c := range []struct {
		schema, instance string
		refused          bool
	}{
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":"?"}`, false},
		{`{"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}`, `{"a":"?","b":"x"}`, true},
		{`{"required":["a"]}`, `{"a":"?"}`, false},
		{`{"required":["b"]}`, `{"a":"?"}`, true},
		{`{"type":"object"}`, `{"a":"?"}`, false},
		{`{"type":"array"}`, `{"a":"?"}`, true},
		{`{"additionalProperties":false,"properties":{"a":true}}`, `{"a":"?","b":"?"}`, true}, // whatever b is
		{`{"additionalProperties":{"type":"null"}}`, `{"a":"?"}`, false},
		{`{"maxProperties":1}`, `{"a":"?","b":1}`, true},
		{`{"propertyNames":{"pattern":"^b"}}`, `{"a":"?"}`, true},
		{`{"const":{"a":1}}`, `{"a":"?"}`, false},
		{`{"enum":[{"a":1}]}`, `{"a":"?"}`, false},
		{`{"anyOf":[{"properties":{"a":{"type":"null"}}},{"required":["z"]}]}`, `{"a":"?"}`, false},
		{`{"anyOf":[{"properties":{"b":{"type":"null"}}},{"required":["z"]}]}`, `{"a":"?","b":1}`, true},
		{`{"oneOf":[{"properties":{"a":{"type":"null"}}},{"properties":{"a":{"type":"string"}}}]}`, `{"a":"?"}`, false},
		{`{"oneOf":[true,{"required":["a"]}]}`, `{"a":"?"}`, true},
		{`{"not":{"properties":{"a":{"type":"null"}}}}`, `{"a":"?"}`, false},
		{`{"not":{"required":["a"]}}`, `{"a":"?"}`, true},
		{`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":"?"}`, true},
		{`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":"?","c":1}`, false},
		{`{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}`, `{"a":"?"}`, false},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":"?"}`, true},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":"?"}`, true},
		{`{"dependentSchemas":{"a":{"properties":{"a":{"type":"null"}}}}}`, `{"a":"?"}`, false},
		{`{"unevaluatedProperties":false,"anyOf":[{"properties":{"b":true,"a":{"type":"null"}}},{"properties":{"a":true}}]}`, `{"a":"?","b":1}`, false},
		{`{"unevaluatedProperties":false,"properties":{"a":true}}`, `{"a":"?","b":1}`, true},
		{`{"items":{"type":"integer"}}`, `[1,"?"]`, false},
		{`{"items":{"type":"integer"}}`, `["x","?"]`, true},
		{`{"prefixItems":[{"type":"null"}],"items":false}`, `["?","?"]`, true},
		{`{"uniqueItems":true}`, `[1,"?","?"]`, false},
		{`{"uniqueItems":true}`, `[1,"?",1]`, true},
		{`{"contains":{"type":"null"}}`, `[1,"?"]`, false},
		{`{"contains":{"type":"null"},"minContains":2}`, `[1,"?"]`, true},
		{`{"contains":{"type":"null"},"maxContains":1}`, `[null,"?"]`, false},
		{`{"contains":{"type":"null"},"maxContains":1}`, `[null,"?",null]`, true},
		{`{"maxItems":1}`, `["?","?"]`, true},
		{`false`, `["?"]`, true},
	} {
		s := compile(t, c.schema)
		f := s.CheckPartly(jsontree.Parse(canonical(t, c.instance), "/input"), func(kid *jsontree.Node) bool { return kid.Text == unknown })
		if (f != nil) != c.refused {
			t.Errorf("%s with %s: %v", c.schema, c.instance, f)
		}
		if f != nil && !strings.HasPrefix(f.Pointer, "/input") {
			t.Errorf("%s with %s: pointer %s", c.schema, c.instance, f.Pointer)
		}
		if f != nil {
			refusesEverything(t, s, c.instance)
		}
	}
}

// refusesEverything puts values in the place of what was unknown: a schema that refused partly must refuse them all.
func refusesEverything(t *testing.T, s *nodeschema.Schema, instance string) {
	t.Helper()
	for _, value := range []string{"null", "1", `"x"`, "[]", `{"b":1}`, "true"} {
		if s.Check(canonical(t, strings.ReplaceAll(instance, `"?"`, value))) == nil {
			t.Errorf("with %s it is valid", value)
		}
	}
}
