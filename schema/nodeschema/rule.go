package nodeschema

import (
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// rule is one compiled position of a schema. What it does not restrict is nil or zero.
type rule struct {
	at    *jsontree.Node // where it stands in the schema
	empty bool           // accepts everything and evaluates nothing: true, {}, or annotations only
	never bool           // accepts nothing: false

	types    types
	constant schema.Value
	enum     map[schema.Value]bool

	number *numberRule
	text   *textRule
	array  *arrayRule
	object *objectRule
	logic  *logicRule

	unevaluatedItems      *rule
	unevaluatedProperties *rule
}

func (r *rule) numbers() *numberRule { return ensure(&r.number) }
func (r *rule) texts() *textRule     { return ensure(&r.text) }
func (r *rule) arrays() *arrayRule   { return ensure(&r.array) }
func (r *rule) objects() *objectRule { return ensure(&r.object) }
func (r *rule) logics() *logicRule   { return ensure(&r.logic) }

func ensure[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

// types is a set of the types in typeNames, by their index.
type types uint8

var typeNames = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

const (
	typeNull types = 1 << iota
	typeBoolean
	typeObject
	typeArray
	typeNumber
	typeString
	typeInteger
)

// typesOf returns the types that n has: two for an integer, else one.
func typesOf(n *jsontree.Node) types {
	switch n.Kind() {
	case 'n':
		return typeNull
	case 't', 'f':
		return typeBoolean
	case '{':
		return typeObject
	case '[':
		return typeArray
	case '"':
		return typeString
	}
	if parseDecimal(string(n.Text)).isInteger() {
		return typeNumber | typeInteger
	}
	return typeNumber
}
