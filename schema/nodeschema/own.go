package nodeschema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// own are the keywords of one schema that this package answers itself, through the library's way of adding keywords:
//
//   - const, enum and uniqueItems. The library reads both numbers as fractions whenever it compares two, and its hashes of
//     elements forget signs and ends, so that 7,500 arrays of 1 and -1 made it compare for 42 seconds.
//   - propertyNames. The library's places of its failures depend on the order in which it walks a map.
type own struct {
	constant map[string]bool // by text, as enum: two values are equal if their canonical texts are
	enum     map[string]bool
	unique   bool
	names    *jsonschema.Schema

	constantKind *kind.Const // for failures
	enumKind     *kind.Enum
}

// takeOver moves these keywords from the schema that is being compiled to an own.
func takeOver(ctx *jsonschema.CompilerContext, _ map[string]any) (jsonschema.SchemaExt, error) {
	s := ctx.Enqueue(nil) // itself
	if s.Const == nil && s.Enum == nil && !s.UniqueItems && s.PropertyNames == nil {
		return nil, nil
	}
	o := &own{unique: s.UniqueItems, names: s.PropertyNames}
	if s.Const != nil {
		o.constant, o.constantKind = texts(*s.Const), &kind.Const{Want: *s.Const}
	}
	if s.Enum != nil {
		o.enum, o.enumKind = texts(s.Enum.Values...), &kind.Enum{Want: s.Enum.Values}
	}
	s.Const, s.Enum, s.UniqueItems, s.PropertyNames = nil, nil, false, nil
	return o, nil
}

func texts(values ...any) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[textOf(v)] = true
	}
	return set
}

// Validate applies the keywords to one value.
func (o *own) Validate(ctx *jsonschema.ValidatorContext, v any) {
	if o.constant != nil || o.enum != nil {
		text := textOf(v)
		if o.constant != nil && !o.constant[text] {
			ctx.AddError(o.constantKind)
		}
		if o.enum != nil && !o.enum[text] {
			ctx.AddError(o.enumKind)
		}
	}
	if items, ok := v.([]any); ok && o.unique {
		if i, j := repeated(items); j > 0 {
			ctx.AddError(&kind.UniqueItems{Duplicates: [2]int{i, j}})
		}
	}
	if members, ok := v.(map[string]any); ok && o.names != nil {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			ctx.AddErr(ctx.Validate(o.names, name, []string{name}))
		}
	}
}

// repeated returns the first element that equals an earlier one, and that one before it; if there is none, zeros.
func repeated(items []any) (earlier, later int) {
	first := make(map[string]int, len(items))
	for i, item := range items {
		text := textOf(item)
		if at, found := first[text]; found {
			return at, i
		}
		first[text] = i
	}
	return 0, 0
}

// textOf returns a text that two values have in common only if they are equal. Numbers have the text of canonical JSON.
func textOf(v any) string { return string(appendText(nil, v)) }

func appendText(text []byte, v any) []byte {
	switch v := v.(type) {
	case map[string]any:
		text = append(text, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text = appendText(schema.AppendString(text, name), v[name])
		}
		return append(text, '}')
	case []any:
		text = append(text, '[')
		for _, item := range v {
			text = append(appendText(text, item), ',')
		}
		return append(text, ']')
	case string:
		return schema.AppendString(text, v)
	}
	return fmt.Append(text, v)
}
