package nodeschema_test

import (
	"fmt"
	"strings"
	"testing"
)

// answers are instances, with spaces between them, that a schema accepts or refuses.
type answers struct{ schema, accepts, refuses string }

func testAnswers(t *testing.T, cases []answers) {
	for _, c := range cases {
		s := compile(t, c.schema)
		for _, instance := range instances(c.accepts) {
			if f := s.Check(canonical(t, instance)); f != nil {
				t.Errorf("%s refuses %s: %v", c.schema, instance, f)
			}
		}
		for _, instance := range instances(c.refuses) {
			if s.Check(canonical(t, instance)) == nil {
				t.Errorf("%s accepts %s", c.schema, instance)
			}
		}
	}
}

// instances splits a list at its spaces, but for those between quotes.
func instances(list string) []string {
	var quote bool
	return strings.FieldsFunc(list, func(r rune) bool {
		quote = quote != (r == '"')
		return r == ' ' && !quote
	})
}

// TestKeywords: what every keyword of 2020-12 accepts and refuses.
func TestKeywords(t *testing.T) {
	testAnswers(t, []answers{
		{`true`, `null 1 [] {}`, ``},
		{`false`, ``, `null 1 [] {}`},
		{`{}`, `null 1 [] {}`, ``},

		{`{"type":"null"}`, `null`, `false 0 "" [] {}`},
		{`{"type":"boolean"}`, `true false`, `null 0 "true"`},
		{`{"type":"object"}`, `{} {"a":1}`, `null []`},
		{`{"type":"array"}`, `[] [1]`, `null {}`},
		{`{"type":"string"}`, `"" "a"`, `null 1`},
		{`{"type":"number"}`, `0 -1.5 1e300 5e-324`, `"1" null`},
		{`{"type":"integer"}`, `0 -1 2.0 1e300 9007199254740993`, `0.5 1e-300 "1"`},
		{`{"type":["integer","null"]}`, `null 1`, `1.5 "a"`},
		{`{"const":{"a":[1,2]}}`, `{"a":[1,2]} {"a":[1.0,2e0]}`, `{"a":[2,1]} {"a":[1,2],"b":1} [1,2]`},
		{`{"const":{"a":1,"b":2}}`, `{"b":2,"a":1}`, `{"a":2,"b":1} {"a":1} {}`},
		{`{"const":null}`, `null`, `false 0 ""`},
		{`{"const":"1"}`, `"1"`, `1 "1 " "1,"`},
		{`{"const":0.1}`, `0.1 1e-1`, `0.10000000000000002 0`},
		{`{"enum":[1,"a",null,[1]]}`, `1 "a" null [1]`, `2 "b" false [] [1,1] ["1"]`},
		{`{"enum":[]}`, ``, `null 1`},

		{`{"maximum":3}`, `3 -5 3.0 "9"`, `3.0000000000000004 1e300`},
		{`{"minimum":-0.5}`, `-0.5 0 "x"`, `-0.51 -1e300`},
		{`{"exclusiveMaximum":1e300}`, `9.999999999999999e299 -1e300`, `1e300 1.0000000000000002e300`},
		{`{"exclusiveMinimum":0}`, `5e-324`, `0 -5e-324`},
		{`{"multipleOf":2}`, `0 4 -2 1e300 "x"`, `3 0.5`},
		{`{"multipleOf":0.1}`, `0.3 0.7 1 1e21 -0.1`, `0.35 5e-324`},
		{`{"multipleOf":1e300}`, `0 1e300 3e300`, `1 1.5e300 1e299`},
		{`{"multipleOf":5e-324}`, `0 1e308 1.5e-323`, `8.4e-323`},

		{`{"maxLength":2}`, `"" "ab" "😀😀" 123`, `"abc"`},
		{`{"minLength":2}`, `"ab" "éé" 1`, `"" "a" "😀"`},
		{`{"pattern":"^a+$"}`, `"a" "aaa" 1`, `"" "ab"`},
		{`{"pattern":"b"}`, `"abc"`, `"ac"`},
		{`{"pattern":"^\\p{Lu}\\d$"}`, `"É7"`, `"é7"`},

		{`{"maxItems":1}`, `[] [1] {}`, `[1,2]`},
		{`{"minItems":1.0}`, `[1] "x"`, `[]`},
		{`{"uniqueItems":true}`, `[] [1] [1,"1",true,null,[1],{"a":1}] [[1],[-1]] [{"a":1},{"a":2}] 1`, `[1,1.0] [{"a":1,"b":2},{"b":2,"a":1}] [[1,[2]],0,[1,[2]]] [null,null]`},
		{`{"uniqueItems":true}`, `[["a","b"],["a,b"],["a\",\"b"]] ["[1,]",[1],"1"] [{"a":"b"},["a","b"],{}]`, `["a","b","a"]`},
		{`{"uniqueItems":false}`, `[1,1]`, ``},
		{`{"prefixItems":[{"type":"null"},{"type":"integer"}]}`, `[] [null] [null,1,"x"] {}`, `[1] [null,null]`},
		{`{"items":{"type":"integer"}}`, `[] [1,2] {}`, `[1,"x"]`},
		{`{"items":false}`, `[]`, `[1]`},
		{`{"prefixItems":[true],"items":{"type":"integer"}}`, `["x",1]`, `[1,"x"]`},
		{`{"contains":{"type":"null"}}`, `[null] [1,null] {}`, `[] [1]`},
		{`{"contains":{"type":"null"},"minContains":2}`, `[null,1,null]`, `[null,1] []`},
		{`{"contains":{"type":"null"},"minContains":0}`, `[] [1]`, ``},
		{`{"contains":{"type":"null"},"maxContains":1}`, `[null,1]`, `[null,null] []`},
		{`{"minContains":9,"maxContains":0}`, `[] [1]`, ``},
		{`{"prefixItems":[true],"unevaluatedItems":false}`, `[] [1]`, `[1,2]`},
		{`{"unevaluatedItems":{"type":"null"}}`, `[null]`, `[1]`},

		{`{"maxProperties":1}`, `{} {"a":1} []`, `{"a":1,"b":2}`},
		{`{"minProperties":1}`, `{"a":1} []`, `{}`},
		{`{"required":["a","b"]}`, `{"a":1,"b":null} []`, `{"a":1} {}`},
		{`{"required":[]}`, `{}`, ``},
		{`{"dependentRequired":{"a":["b"]}}`, `{} {"b":1} {"a":1,"b":1} 1`, `{"a":1}`},
		{`{"dependentSchemas":{"a":{"required":["b"]},"c":false}}`, `{} {"b":1} {"a":1,"b":1}`, `{"a":1} {"c":1}`},
		{`{"properties":{"a":{"type":"integer"},"b":false}}`, `{} {"a":1,"c":"x"} []`, `{"a":"x"} {"b":1}`},
		{`{"patternProperties":{"^a":{"type":"integer"},"b$":{"maximum":3}}}`, `{"a":9,"b":3,"ab":2,"c":"x"}`, `{"ab":4} {"a1":"x"} {"xb":4}`},
		{`{"properties":{"a":true},"patternProperties":{"^b":true},"additionalProperties":{"type":"null"}}`, `{"a":1,"b1":1,"c":null}`, `{"c":1}`},
		{`{"additionalProperties":false}`, `{} []`, `{"a":1}`},
		{`{"propertyNames":{"maxLength":1}}`, `{} {"a":1,"é":1} ["ab"]`, `{"ab":1}`},
		{`{"propertyNames":{"enum":["a"]}}`, `{"a":1}`, `{"a":1,"b":1}`},
		{`{"propertyNames":false}`, `{} 1`, `{"a":1}`},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{} {"a":1}`, `{"b":1}`},
		{`{"unevaluatedProperties":{"type":"null"}}`, `{"a":null}`, `{"a":1}`},

		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, `1 2 "x"`, `0 3`},
		{`{"anyOf":[{"type":"null"},{"minimum":3}]}`, `null 3 "x"`, `2`},
		{`{"oneOf":[{"minimum":1},{"maximum":2}]}`, `0 3`, `1 2 "x"`},
		{`{"not":{"type":"null"}}`, `1 "x"`, `null`},
		{`{"if":{"minimum":3},"then":{"multipleOf":2},"else":{"multipleOf":3}}`, `4 0 -3`, `3 2`},
		{`{"if":{"minimum":3},"then":{"multipleOf":2}}`, `2 1 4`, `3`},
		{`{"if":{"minimum":3},"else":{"multipleOf":2}}`, `3 5 2`, `1`},
		{`{"then":false,"else":false}`, `1`, ``},

		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"null"}`, `null`, `1`},
		{`{"$comment":"c","title":"t","description":"d","default":7,"examples":[7],"deprecated":true,"readOnly":true,"writeOnly":true}`, `1 "x"`, ``},
		{`{"format":"date"}`, `"no date" 1`, ``},
		{`{"contentEncoding":"base64","contentMediaType":"application/json","contentSchema":false}`, `"!" 1`, ``},
	})
}

// TestUnevaluated: what counts as evaluated, keyword by keyword.
func TestUnevaluated(t *testing.T) {
	const no = `"unevaluatedProperties":false,"unevaluatedItems":false`
	const condition = `"if":{"properties":{"a":true},"required":["a"]},"then":{"properties":{"b":true}},"else":{"properties":{"c":true}},`
	testAnswers(t, []answers{
		{`{"if":{"properties":{"a":true}},` + no + `}`, `{"a":1}`, `{"b":1}`},
		{`{"if":{"properties":{"a":{"type":"null"}}},` + no + `}`, `{"a":null}`, `{"a":1}`},
		{`{` + condition + no + `}`, `{"a":1,"b":1} {"c":1}`, `{"b":1} {"a":1,"c":1}`},
		{`{"allOf":[{"unevaluatedProperties":true}],` + no + `}`, `{"a":1}`, `[1]`},
		{`{"allOf":[{"unevaluatedItems":{"type":"integer"}}],` + no + `}`, `[1]`, `["x"]`},
		{`{"allOf":[{"properties":{"a":true}},{"unevaluatedProperties":false}]}`, `{}`, `{"a":1}`},
		{`{"not":{"not":{"properties":{"a":true}}},` + no + `}`, `{}`, `{"a":1}`},
		{`{"anyOf":[{"prefixItems":[true]},{"prefixItems":[true,true]}],` + no + `}`, `[1,2]`, `[1,2,3]`},
		{`{"oneOf":[{"prefixItems":[true,{"type":"null"}]},{"prefixItems":[true]}],` + no + `}`, ``, `[1,2]`},
		{`{"contains":{"type":"null"},` + no + `}`, `[null,null]`, `[null,1]`},
		{`{"dependentSchemas":{"a":{"properties":{"a":true}}},` + no + `}`, `{"a":1}`, `{"b":1}`},
		{`{"patternProperties":{"^a":true},"additionalProperties":{"type":"null"},` + no + `}`, `{"a":1,"b":null}`, `{"b":1}`},
		{`{"properties":{"a":{"properties":{"b":true}}},` + no + `}`, `{"a":{"b":1}}`, `{"a":{"b":1},"b":1}`},
	})
}

// TestMixedUp: arrays and objects that the library's own hash of elements cannot tell apart.
func TestMixedUp(t *testing.T) {
	var elements []string
	for i := range 64 {
		element := fmt.Sprintf("[%06b]", i)
		elements = append(elements, strings.NewReplacer("0", "1,", "1", "-1,", "[", "[", "]", "0]").Replace(element))
	}
	s := compile(t, `{"uniqueItems":true}`)
	if f := s.Check(canonical(t, "["+strings.Join(elements, ",")+"]")); f != nil {
		t.Error(f)
	}
	if s.Check(canonical(t, "["+strings.Join(append(elements, elements[63]), ",")+"]")) == nil {
		t.Error("a repeated element is accepted")
	}
}
