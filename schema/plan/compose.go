package plan

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// object composes a canonical JSON object out of canonical values.
type object struct{ members []member }

type member struct {
	name  string
	value schema.Value
}

// add adds a member. Names must be unique; nobody looks.
func (o *object) add(name string, value schema.Value) {
	o.members = append(o.members, member{name, value})
}

// copy adds a member of n, if n has it.
func (o *object) copy(n *jsontree.Node, name string) {
	if kid := n.Get(name); kid != nil {
		o.add(name, kid.Text)
	}
}

func (o *object) text() schema.Value {
	slices.SortFunc(o.members, func(a, b member) int { return jsontree.Compare(a.name, b.name) })
	text := []byte("{")
	for i, m := range o.members {
		if i > 0 {
			text = append(text, ',')
		}
		text = schema.AppendString(text, m.name)
		text = append(text, ':')
		text = append(text, m.value...)
	}
	return schema.Value(append(text, '}'))
}

// array composes a canonical JSON array out of canonical values.
func array(values []schema.Value) schema.Value {
	text := []byte("[")
	for i, v := range values {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, v...)
	}
	return schema.Value(append(text, ']'))
}

// str composes a canonical JSON string.
func str(chars string) schema.Value { return schema.Value(schema.AppendString(nil, chars)) }
