package plan

import (
	"fmt"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// MaxSchemaWork bounds the validation of all inputs of one execution plan, in the unit of nodeschema.MaxWork.
const MaxSchemaWork = 10 * nodeschema.MaxWork

// validate applies the input schema of a capability, if it has one. ResolveInput validates every input in full; here members of
// an object that are or contain references are left out, with what of the schema needs them. An input that is itself a
// reference, or an array with references in it, waits.
func (r *registry) validate(capability, input *jsontree.Node) *Fault {
	schemas, f := r.schema(capability)
	switch {
	case f != nil || schemas == nil:
		return f
	case !holdsReference(input):
		return r.apply(schemas.whole, input, input.Text)
	case isReference(input) || input.Kind() != '{':
		return nil
	}
	inputSchema := capability.Get("inputSchema")
	if f := hasRequired(inputSchema, input); f != nil {
		return f
	}
	if schemas.partly == nil {
		if schemas.partly, f = r.compile(inputSchema, partOf(inputSchema)); f != nil {
			return f
		}
	}
	return r.apply(schemas.partly, input, known(input))
}

// apply validates text, which is the input or a part of it.
func (r *registry) apply(compiled *nodeschema.Schema, input *jsontree.Node, text schema.Value) *Fault {
	if r.work += compiled.Work(len(text)); r.work > MaxSchemaWork {
		return &Fault{"invalid-input", input.Pointer(), fmt.Sprintf("validating the inputs of the plan takes more than %d units of work", MaxSchemaWork)}
	}
	if failure := compiled.Check(text); failure != nil {
		return &Fault{"invalid-input", input.Pointer() + failure.Pointer, failure.Message}
	}
	return nil
}

// onWhole are the keywords that may refuse an object for members that are left out. Of required, hasRequired takes care.
var onWhole = []string{
	"const", "enum", "required", "minProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
	"unevaluatedProperties",
}

// partOf returns an input schema without the keywords onWhole. If what is left refuses an object without some of its members,
// then the schema refuses it with them, whatever they are.
func partOf(inputSchema *jsontree.Node) schema.Value {
	if inputSchema.Kind() != '{' {
		return inputSchema.Text
	}
	part := object{}
	for _, keyword := range inputSchema.Kids {
		if !slices.Contains(onWhole, keyword.Name) {
			part.add(keyword.Name, keyword.Text)
		}
	}
	return part.text()
}

// hasRequired: what the root of the schema requires is there, known or not.
func hasRequired(inputSchema, input *jsontree.Node) *Fault {
	required := inputSchema.Get("required")
	if required == nil {
		return nil
	}
	for _, kid := range required.Kids {
		if name, _ := kid.Str(); input.Get(name) == nil {
			return &Fault{"invalid-input", input.Pointer(), fmt.Sprintf("missing property %s", kid.Text)}
		}
	}
	return nil
}

// known returns an object without the members that are or contain references.
func known(input *jsontree.Node) schema.Value {
	part := object{}
	for _, member := range input.Kids {
		if !holdsReference(member) {
			part.add(member.Name, member.Text)
		}
	}
	return part.text()
}
