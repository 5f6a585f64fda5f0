package nodeschema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// The limits of a schema.
const (
	MaxSchemaBytes  = 16 << 10  // in canonical form
	MaxSchemaDepth  = 32        // of nested arrays and objects
	MaxPlaces       = 256 << 10 // bytes of the pointers to all schemas inside: the library keeps them
	MaxPatternSteps = 5_000     // instructions of all patterns together
	MaxPatternParse = 20_000    // characters looked at to read the classes of all patterns, see parseWork
)

// Dialect is the URI of JSON Schema 2020-12, the only value of $schema.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is a compiled schema. It never changes, and many goroutines may use it at once.
type Schema struct {
	compiled *jsonschema.Schema
	cost     cost
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
	return &Invalid{n.Pointer(), short(fmt.Sprintf(format, args...))}
}

// metaschema is what the library knows of 2020-12.
var metaschema = newCompiler().MustCompile(Dialect)

// newCompiler returns a compiler that loads nothing. Patterns are those of regexp, formats are not asserted: both are what the
// library does by itself.
func newCompiler() *jsonschema.Compiler {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nil)
	return c
}

// Valid returns why v is no schema that we take, or nil. It builds nothing, so that it takes less than Compile. The error is
// an *Invalid.
func Valid(v schema.Value) error {
	_, _, err := check(v)
	return err
}

// check returns what of v the library is to see, with what it will cost.
func check(v schema.Value) (document any, c cost, err error) {
	if v == "" {
		return nil, c, &Invalid{"", "there is none"}
	}
	if len(v) > MaxSchemaBytes {
		return nil, c, &Invalid{"", fmt.Sprintf("has %d bytes in canonical form, %d are the limit", len(v), MaxSchemaBytes)}
	}
	n := jsontree.Parse(v, "")
	if depth := n.Depth(); depth > MaxSchemaDepth {
		return nil, c, &Invalid{"", fmt.Sprintf("is nested %d deep, %d is the limit", depth, MaxSchemaDepth)}
	}
	w := walker{cost: cost{bytes: len(v), values: n.Count()}}
	if err := w.schema(n, 0); err != nil {
		return nil, c, err
	}
	document = decode(schema.Value(w.text))
	var failure *jsonschema.ValidationError
	if errors.As(metaschema.Validate(document), &failure) {
		pointer, message := explain(failure)
		return nil, c, &Invalid{pointer, message}
	}
	return document, w.cost, nil
}

// address is where a schema stands for the library, which takes all under json-schema.org for metaschemas and does not compare
// them with theirs: check has.
const address = "https://json-schema.org/node"

// Compile makes a Schema of v. The error is an *Invalid.
func Compile(v schema.Value) (*Schema, error) {
	document, cost, err := check(v)
	if err != nil {
		return nil, err
	}
	c := newCompiler()
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: address + "/own", Compile: takeOver})
	c.AssertVocabs()
	if err := c.AddResource(address, document); err != nil {
		return nil, &Invalid{"", short(err.Error())}
	}
	compiled, err := c.Compile(address)
	if err != nil {
		return nil, &Invalid{"", short(err.Error())}
	}
	return &Schema{compiled, cost}, nil
}

// decode makes of canonical JSON what the library works on. Numbers keep their text.
func decode(v schema.Value) any {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(string(v)))
	if err != nil {
		panic(fmt.Sprintf("nodeschema: no canonical JSON: %v", err))
	}
	return document
}
