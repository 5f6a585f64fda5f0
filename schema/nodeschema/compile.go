package nodeschema

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// The limits of a schema.
const (
	MaxSchemaBytes  = 16 << 10 // in canonical form
	MaxSchemaDepth  = 32       // of nested arrays and objects
	MaxPatternSteps = 5_000    // instructions of all patterns together
	MaxPatternParse = 20_000   // characters looked at to read the classes of all patterns, see parseWork
)

// Dialect is the URI of JSON Schema 2020-12, the only value of $schema.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a compiled schema. It never changes, and many goroutines may use it at once.
type Schema struct {
	root   *rule
	values int // JSON values in it
	steps  int // instructions of its patterns
}

// Invalid says why a text is no schema that we take, and where in the schema.
type Invalid struct{ Pointer, Message string }

// Error gives place and message on one line.
func (e *Invalid) Error() string {
	if e.Pointer == "" {
		return "schema: " + e.Message
	}
	return "schema at " + e.Pointer + ": " + e.Message
}

func wrong(n *jsontree.Node, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	return &Invalid{n.Pointer(), message}
}

// maxMessage is how many bytes of a message are kept: what it quotes can be as long as a schema.
const maxMessage = 1024

// Valid returns why Compile would refuse v, or nil, and takes less: it builds no pattern. The error is an *Invalid.
func Valid(v schema.Value) error {
	_, err := compile(v, compiler{checkOnly: true})
	return err
}

// Compile makes a Schema of v. The error is an *Invalid.
func Compile(v schema.Value) (*Schema, error) { return compile(v, compiler{}) }

func compile(v schema.Value, c compiler) (*Schema, error) {
	if v == "" {
		return nil, &Invalid{"", "there is none"}
	}
	if len(v) > MaxSchemaBytes {
		return nil, &Invalid{"", fmt.Sprintf("has %d bytes in canonical form, %d are the limit", len(v), MaxSchemaBytes)}
	}
	n := jsontree.Parse(v, "")
	if depth := n.Depth(); depth > MaxSchemaDepth {
		return nil, &Invalid{"", fmt.Sprintf("is nested %d deep, %d is the limit", depth, MaxSchemaDepth)}
	}
	root, err := c.rule(n)
	if err != nil {
		return nil, err
	}
	return &Schema{root, n.Count(), c.steps}, nil
}

// compiler compiles one schema. Its methods take the node of what they compile.
type compiler struct {
	checkOnly bool // build no pattern
	steps     int  // instructions of the patterns so far
	parsing   int  // what reading their classes took
}

// rule compiles what stands in the place of a schema.
func (c *compiler) rule(n *jsontree.Node) (*rule, error) {
	switch n.Kind() {
	case 't':
		return &rule{at: n, empty: true}, nil
	case 'f':
		return &rule{at: n, never: true}, nil
	case '{':
		return c.keywords(n)
	}
	return nil, wrong(n, "a schema is an object or a boolean")
}

func (c *compiler) keywords(n *jsontree.Node) (*rule, error) {
	r := &rule{at: n, empty: true}
	for _, kid := range n.Kids {
		k, known := keywords[kid.Name]
		if !known {
			continue
		}
		if err := k.compile(c, r, kid); err != nil {
			return nil, err
		}
		r.empty = r.empty && k.annotation
	}
	return r, nil
}

// keyword is what the 2020-12 vocabularies say about one keyword. compile checks its value and puts what it means into r.
type keyword struct {
	compile    func(c *compiler, r *rule, n *jsontree.Node) error
	annotation bool // it accepts every instance
}

// keywords are those of 2020-12. It is filled in init, as compiling a keyword may compile schemas inside it.
var keywords map[string]keyword

func init() {
	keywords = map[string]keyword{
		"$ref": forbidden, "$dynamicRef": forbidden, "$id": forbidden, "$anchor": forbidden, "$dynamicAnchor": forbidden, "$defs": forbidden,
		"$schema": {compileDialect, true}, "$comment": stringNote, "title": stringNote, "description": stringNote, "format": stringNote,
		"contentEncoding": stringNote, "contentMediaType": stringNote, "contentSchema": {compileContentSchema, true},
		"deprecated": flagNote, "readOnly": flagNote, "writeOnly": flagNote, "examples": {compileExamples, true},

		"type":  {compile: compileType},
		"const": {compile: compileConst},
		"enum":  {compile: compileEnum},

		"maximum":          number(func(r *numberRule, d decimal) { r.maximum = &d }),
		"minimum":          number(func(r *numberRule, d decimal) { r.minimum = &d }),
		"exclusiveMaximum": number(func(r *numberRule, d decimal) { r.exclusiveMaximum = &d }),
		"exclusiveMinimum": number(func(r *numberRule, d decimal) { r.exclusiveMinimum = &d }),
		"multipleOf":       {compile: compileMultipleOf},

		"maxLength": count(func(r *rule) **int { return &r.texts().maximum }),
		"minLength": count(func(r *rule) **int { return &r.texts().minimum }),
		"pattern":   {compile: compilePattern},

		"maxItems":         count(func(r *rule) **int { return &r.arrays().maximum }),
		"minItems":         count(func(r *rule) **int { return &r.arrays().minimum }),
		"maxContains":      count(func(r *rule) **int { return &r.arrays().maxContains }),
		"minContains":      count(func(r *rule) **int { return &r.arrays().minContains }),
		"uniqueItems":      {compile: compileUniqueItems},
		"prefixItems":      list(func(r *rule) *[]*rule { return &r.arrays().prefix }),
		"items":            one(func(r *rule) **rule { return &r.arrays().items }),
		"contains":         one(func(r *rule) **rule { return &r.arrays().contains }),
		"unevaluatedItems": one(func(r *rule) **rule { return &r.unevaluatedItems }),

		"maxProperties":         count(func(r *rule) **int { return &r.objects().maximum }),
		"minProperties":         count(func(r *rule) **int { return &r.objects().minimum }),
		"required":              {compile: compileRequired},
		"dependentRequired":     {compile: compileDependentRequired},
		"properties":            {compile: compileProperties},
		"patternProperties":     {compile: compilePatternProperties},
		"additionalProperties":  one(func(r *rule) **rule { return &r.objects().additional }),
		"propertyNames":         one(func(r *rule) **rule { return &r.objects().names }),
		"dependentSchemas":      {compile: compileDependentSchemas},
		"unevaluatedProperties": one(func(r *rule) **rule { return &r.unevaluatedProperties }),

		"allOf": list(func(r *rule) *[]*rule { return &r.logics().all }),
		"anyOf": list(func(r *rule) *[]*rule { return &r.logics().any }),
		"oneOf": list(func(r *rule) *[]*rule { return &r.logics().one }),
		"not":   one(func(r *rule) **rule { return &r.logics().not }),
		"if":    one(func(r *rule) **rule { return &r.logics().when }),
		"then":  one(func(r *rule) **rule { return &r.logics().then }),
		"else":  one(func(r *rule) **rule { return &r.logics().otherwise }),
	}
}

var forbidden = keyword{compile: func(_ *compiler, _ *rule, n *jsontree.Node) error {
	return wrong(n, "%s is not allowed: write the schema out", n.Name)
}}

var stringNote = keyword{annotation: true, compile: func(_ *compiler, _ *rule, n *jsontree.Node) error {
	return want(n, n.Kind() == '"', "a string")
}}

var flagNote = keyword{annotation: true, compile: func(_ *compiler, _ *rule, n *jsontree.Node) error {
	return want(n, isFlag(n), "a boolean")
}}

// want is the error of a keyword whose value is not what it must be.
func want(n *jsontree.Node, ok bool, what string) error {
	if ok {
		return nil
	}
	return wrong(n, "%s must be %s", n.Name, what)
}

func isFlag(n *jsontree.Node) bool { return n.Kind() == 't' || n.Kind() == 'f' }

func compileDialect(_ *compiler, _ *rule, n *jsontree.Node) error {
	uri, ok := n.Str()
	return want(n, ok && uri == Dialect, Dialect)
}

func compileExamples(_ *compiler, _ *rule, n *jsontree.Node) error {
	return want(n, n.Kind() == '[', "an array")
}

func compileContentSchema(c *compiler, _ *rule, n *jsontree.Node) error {
	_, err := c.rule(n)
	return err
}

// one is a keyword whose value is a schema; into says where it goes.
func one(into func(r *rule) **rule) keyword {
	return keyword{compile: func(c *compiler, r *rule, n *jsontree.Node) error {
		inner, err := c.rule(n)
		*into(r) = inner
		return err
	}}
}

// list is a keyword whose value is a non-empty array of schemas.
func list(into func(r *rule) *[]*rule) keyword {
	return keyword{compile: func(c *compiler, r *rule, n *jsontree.Node) error {
		if err := want(n, n.Kind() == '[' && len(n.Kids) > 0, "a non-empty array of schemas"); err != nil {
			return err
		}
		for _, kid := range n.Kids {
			inner, err := c.rule(kid)
			if err != nil {
				return err
			}
			*into(r) = append(*into(r), inner)
		}
		return nil
	}}
}

// named compiles a keyword whose value is an object of schemas, in canonical order.
func (c *compiler) named(n *jsontree.Node, each func(name *jsontree.Node, inner *rule) error) error {
	if err := want(n, n.Kind() == '{', "an object of schemas"); err != nil {
		return err
	}
	for _, kid := range n.Kids {
		inner, err := c.rule(kid)
		if err != nil {
			return err
		}
		if err := each(kid, inner); err != nil {
			return err
		}
	}
	return nil
}

// names reads an array of unique strings.
func names(n *jsontree.Node) ([]string, error) {
	found := make([]string, 0, len(n.Kids))
	seen := make(map[string]bool, len(n.Kids))
	for _, kid := range n.Kids {
		name, ok := kid.Str()
		if !ok || seen[name] {
			return nil, errNames
		}
		seen[name] = true
		found = append(found, name)
	}
	if n.Kind() != '[' {
		return nil, errNames
	}
	return found, nil
}

var errNames = errors.New("not an array of unique strings")

func compileType(_ *compiler, r *rule, n *jsontree.Node) error {
	types := []string{}
	if name, ok := n.Str(); ok {
		types = append(types, name)
	} else if types, _ = names(n); len(types) == 0 {
		return wrong(n, "type must be a type or a non-empty array of unique types")
	}
	for _, name := range types {
		t := slices.Index(typeNames, name)
		if t < 0 {
			return wrong(n, "type: there is no type %q", name)
		}
		r.types |= 1 << t
	}
	return nil
}

func compileConst(_ *compiler, r *rule, n *jsontree.Node) error {
	r.constant = n.Text
	return nil
}

func compileEnum(_ *compiler, r *rule, n *jsontree.Node) error {
	if err := want(n, n.Kind() == '[', "an array"); err != nil {
		return err
	}
	r.enum = make(map[schema.Value]bool, len(n.Kids))
	for _, kid := range n.Kids {
		r.enum[kid.Text] = true
	}
	return nil
}
