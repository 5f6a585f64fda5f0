package nodeschema_test

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

func canonical(t testing.TB, text string) schema.Value {
	v, err := schema.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func quoted(name string) string { return string(schema.AppendString(nil, name)) }

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
		{`{"multipleOf":0}`, "/multipleOf"}, {`{"multipleOf":-1}`, "/multipleOf"}, {`{"maxLength":-1}`, "/maxLength"}, {`{"maxLength":1.5}`, "/maxLength"}, {`{"maxLength":1e-7}`, "/maxLength"}, {`{"maxLength":-1e300}`, "/maxLength"},
		{`{"minItems":"1"}`, "/minItems"}, {`{"uniqueItems":1}`, "/uniqueItems"}, {`{"required":["a","a"]}`, "/required"}, {`{"required":{"a":"b"}}`, "/required"},
		{`{"required":"a"}`, "/required"}, {`{"dependentRequired":[]}`, "/dependentRequired"}, {`{"dependentRequired":{"a":[1]}}`, "/dependentRequired/a/0"},
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
		`{"properties":{"":{"properties":{"~":{"not":{}},"/a//":false,"~1":{"type":"null"},"%25 #?":{},"é\u0000":{"type":"null"},"0":{}}}}}`,
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
		{"a long name around many schemas", `{"properties":{"` + strings.Repeat("~", 7000) + `":{"anyOf":[` + repeat("{}", 17) + `]}}}`, true},
		{"a long name around too many schemas", `{"properties":{"` + strings.Repeat("~", 7000) + `":{"anyOf":[` + repeat("{}", 18) + `]}}}`, false},
		{"a long name around many values", `{"properties":{"` + strings.Repeat("~", 7000) + `":{"enum":[` + repeat("{}", 1000) + `]}}}`, true},
		{"as many schemas as there is room for", `{"anyOf":[` + repeat("{}", 5400) + `]}`, true},
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

// TestFailure: which failure, and where: the first place in the instance, and the first keyword there.
func TestFailure(t *testing.T) {
	for _, c := range []struct{ schema, instance, want string }{
		{`{"type":"object"}`, `1`, `got number, want object`},
		{`false`, `1`, `false schema`},
		{`{"properties":{"a/b":{"maximum":3}}}`, `{"a/b":4}`, `at /a~1b: maximum: got 4, want 3`},
		{`{"properties":{"a":false}}`, `{"a":4}`, `at /a: false schema`},
		{`{"properties":{"a":{"type":"null"},"b":false,"c":{"items":false}}}`, `{"a":4,"b":1,"c":[1]}`, `at /a: got number, want null`},
		{`{"items":{"type":"string"}}`, `["x",1,2]`, `at /1: got number, want string`},
		{`{"items":{"type":"null"}}`, `[null,null,1,3,4,5,6,7,8,9,10]`, `at /2: got number, want null`},
		{`{"required":["b","a"],"minProperties":1,"properties":{"x":false}}`, `{}`, `minProperties: got 0, want 1`},
		{`{"required":["b","a"]}`, `{}`, `missing properties 'b', 'a'`},
		{`{"additionalProperties":false}`, `{"z":1,"b":1}`, `at /b: additional properties 'b', 'z' not allowed`},
		{`{"propertyNames":{"maxLength":1}}`, `{"a":1,"bb":1,"cc":1}`, `at /bb: maxLength: got 2, want 1`},
		{`{"additionalProperties":{"additionalProperties":{"propertyNames":{"const":"x"}}}}`, `{"a":{"b":{"c":1,"d":1}},"e":{"f":{"g":1}}}`, `at /a/b/c: value must be 'x'`},
		{`{"anyOf":[{"type":"null"},{"properties":{"a":false}}]}`, `{"a":1}`, `got object, want null`},
		{`{"oneOf":[true,true]}`, `1`, `'oneOf' failed, subschemas 0, 1 matched`},
		{`{"not":true}`, `1`, `'not' failed`},
		{`{"contains":{"type":"null"}}`, `[]`, `no items match contains schema`},
		{`{"uniqueItems":true}`, `[1,2,1,2]`, `items at 0 and 2 are equal`},
		{`{"enum":["a",1]}`, `{"a":1}`, `value must be one of 'a', 1`},
		{`{"allOf":[{"type":"object"},{"properties":{"a":{"const":2}}}]}`, `{"a":1}`, `at /a: value must be 2`},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, `missing property 'b'`},
		{`{"dependentRequired":{"b":["y"],"a":["x"]}}`, `{"a":1,"b":1}`, `properties 'x' required, if 'a' exists`},
		{`{"unevaluatedProperties":{"type":"null"}}`, `{"a":1}`, `at /a: got number, want null`},
	} {
		s, instance := compile(t, c.schema), canonical(t, c.instance)
		for range 20 { // the library walks maps
			if f := s.Check(instance); f == nil || f.Error() != c.want {
				t.Errorf("%s with %s: %v", c.schema, c.instance, f)
				break
			}
		}
	}
}

// TestLongFailure: what a failure quotes can be long, the failure is not.
func TestLongFailure(t *testing.T) {
	long := strings.Repeat("é", 5000)
	for _, c := range []struct{ schema, instance string }{
		{`{"enum":["` + long + `"]}`, `1`},
		{`{"required":["` + long + `"]}`, `{}`},
		{`{"additionalProperties":{"additionalProperties":false}}`, `{"` + long + `":{"` + long + `":1}}`},
		{`{"pattern":"^é"}`, `"a` + long + `"`},
	} {
		f := compile(t, c.schema).Check(canonical(t, c.instance))
		if f == nil || len(f.Message) > 1030 || len(f.Pointer) > 2048 || !utf8.ValidString(f.Error()) {
			t.Errorf("%.60s: %v", c.schema, f)
		}
	}
}

// TestCounts: a count over every length is just that. The library takes counts modulo 2^64.
func TestCounts(t *testing.T) {
	for _, count := range []string{"1e300", "1.5e21", "18446744073709551616", "18446744073709551617", "4294967296", "9007199254740993"} {
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
