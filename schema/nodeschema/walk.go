package nodeschema

import (
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// cost is what is known of a schema before it is compiled.
type cost struct {
	bytes   int // of its canonical form
	values  int // JSON values in it
	schemas int // itself and the schemas inside it
	places  int // bytes of the pointers to them
	steps   int // instructions of the patterns
	parsing int // what reading the classes of the patterns takes
}

// walker visits the places where keywords stand, enforces the limits there, and writes what of the schema the library is to
// see: that leaves out what 2020-12 does not know or we ignore. A value that is not what its keyword wants is copied as it is;
// the metaschema refuses it. The methods take the node that they visit.
type walker struct {
	text []byte
	cost cost
}

// schema visits what stands in the place of a schema. The pointer to it has so many bytes.
func (w *walker) schema(n *jsontree.Node, pointer int) error {
	w.cost.schemas++
	if w.cost.places += pointer; w.cost.places > MaxPlaces {
		return wrong(n, "the pointers to the schemas inside take more than %d bytes", MaxPlaces)
	}
	if n.Kind() != '{' {
		return w.copy(n)
	}
	return w.container(n, func(kid *jsontree.Node) error { return w.keyword(kid, pointer+len("/")+len(kid.Name)) })
}

// keyword visits one member of a schema.
func (w *walker) keyword(n *jsontree.Node, pointer int) error {
	switch n.Name {
	case "$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor", "$defs":
		return wrong(n, "%s is not allowed: write the schema out", n.Name)
	case "$schema":
		if uri, ok := n.Str(); !ok || uri != Dialect {
			return wrong(n, "$schema must be %s", Dialect)
		}
		return nil
	case "not", "if", "then", "else", "items", "contains", "unevaluatedItems", "additionalProperties", "propertyNames",
		"unevaluatedProperties", "contentSchema":
		w.name(n)
		return w.schema(n, pointer)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		w.name(n)
		return w.list(n, pointer)
	case "properties", "dependentSchemas":
		w.name(n)
		return w.named(n, pointer)
	case "patternProperties":
		w.name(n)
		for _, kid := range n.Kids {
			if err := w.pattern(kid, kid.Name); err != nil {
				return err
			}
		}
		return w.named(n, pointer)
	case "pattern":
		w.name(n)
		if text, ok := n.Str(); ok {
			if err := w.pattern(n, text); err != nil {
				return err
			}
		}
		return w.copy(n)
	case "maxLength", "minLength", "maxItems", "minItems", "maxContains", "minContains", "maxProperties", "minProperties":
		w.name(n)
		return w.count(n)
	case "type", "const", "enum", "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum", "multipleOf", "uniqueItems", "required",
		"dependentRequired", "$comment", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format",
		"contentEncoding", "contentMediaType":
		w.name(n)
		return w.copy(n)
	}
	return nil
}

// list visits an array of schemas. An index has at most four digits.
func (w *walker) list(n *jsontree.Node, pointer int) error {
	if n.Kind() != '[' {
		return w.copy(n)
	}
	return w.container(n, func(kid *jsontree.Node) error {
		w.separate()
		return w.schema(kid, pointer+len("/9999"))
	})
}

// named visits an object of schemas.
func (w *walker) named(n *jsontree.Node, pointer int) error {
	if n.Kind() != '{' {
		return w.copy(n)
	}
	return w.container(n, func(kid *jsontree.Node) error {
		w.name(kid)
		return w.schema(kid, pointer+len("/")+len(jsontree.Token(kid.Name)))
	})
}

// largestCount exceeds every length that a value can have, and stands for all that do: the library takes counts modulo 2^64.
const largestCount = "1000000000"

// count copies a count. Canonical JSON writes a whole number without a point, or with one only before e+.
func (w *walker) count(n *jsontree.Node) error {
	text := string(n.Text)
	whole := !strings.ContainsAny(text, "-.") || strings.Contains(text, "e+") && text[0] != '-'
	if n.Kind() == '0' && whole && (len(text) >= len(largestCount) || strings.Contains(text, "e+")) {
		text = largestCount
	}
	w.text = append(w.text, text...)
	return nil
}

func (w *walker) copy(n *jsontree.Node) error {
	w.text = append(w.text, n.Text...)
	return nil
}

// container writes an array or object and lets visit write what stands in it.
func (w *walker) container(n *jsontree.Node, visit func(kid *jsontree.Node) error) error {
	w.text = append(w.text, n.Text[0])
	for _, kid := range n.Kids {
		if err := visit(kid); err != nil {
			return err
		}
	}
	w.text = append(w.text, n.Text[len(n.Text)-1])
	return nil
}

// name begins a member.
func (w *walker) name(n *jsontree.Node) {
	w.separate()
	w.text = append(schema.AppendString(w.text, n.Name), ':')
}

// separate begins a member or an element.
func (w *walker) separate() {
	if last := w.text[len(w.text)-1]; last != '{' && last != '[' {
		w.text = append(w.text, ',')
	}
}
