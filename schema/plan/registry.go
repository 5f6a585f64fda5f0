package plan

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// registry is the admission of an execution plan: the host's capabilities {id, version, inputSchema?}, each id once. What is
// wrong with it shows where a step needs it.
type registry struct {
	fault   *Fault                    // the registry as a whole is no good
	byID    map[string]*jsontree.Node // the entries
	faults  map[string]*Fault         // an entry is no good
	schemas map[*jsontree.Node]*inputSchemas
	work    int // of all validations so far
}

// inputSchemas are what the input schema of a capability is compiled to: the whole, and once an input needs it the part that
// applies to inputs of which not all is known.
type inputSchemas struct{ whole, partly *nodeschema.Schema }

func (r *registry) open(admission string) {
	r.byID, r.faults, r.schemas = map[string]*jsontree.Node{}, map[string]*Fault{}, map[*jsontree.Node]*inputSchemas{}
	n, f := open(admission, "/admission", "unknown-capability")
	if f != nil {
		r.fault = f
		return
	}
	capabilities := n.Get("capabilities")
	if capabilities.Kind() != '[' {
		r.fault = &Fault{"unknown-capability", n.Pointer(), "the admission has no array of capabilities"}
		return
	}
	for _, entry := range capabilities.Kids {
		id, _ := entry.Get("id").Str()
		switch {
		case id == "":
			if r.fault == nil {
				r.fault = &Fault{"unknown-capability", entry.Pointer(), "a capability has no id"}
			}
		case r.byID[id] != nil:
			r.faults[id] = &Fault{"unknown-capability", entry.Pointer(), fmt.Sprintf("capability %q is registered twice", id)}
		case entry.Get("version").Kind() != '"':
			r.faults[id] = &Fault{"unknown-capability", entry.Pointer(), fmt.Sprintf("capability %q has no version", id)}
		}
		r.byID[id] = entry
	}
}

// find returns the entry of the capability that a step names.
func (r *registry) find(name *jsontree.Node) (*jsontree.Node, *Fault) {
	id, _ := name.Str()
	switch {
	case r.fault != nil:
		return nil, r.fault
	case r.byID[id] == nil:
		return nil, &Fault{"unknown-capability", name.Pointer(), fmt.Sprintf("capability %q is not registered", id)}
	case r.faults[id] != nil:
		return nil, r.faults[id]
	}
	return r.byID[id], nil
}

// schema returns the compiled input schema of a capability, or nil.
func (r *registry) schema(capability *jsontree.Node) (*inputSchemas, *Fault) {
	n := capability.Get("inputSchema")
	if n == nil || r.schemas[n] != nil {
		return r.schemas[n], nil
	}
	whole, f := r.compile(n, n.Text)
	if f != nil {
		return nil, f
	}
	r.schemas[n] = &inputSchemas{whole: whole}
	return r.schemas[n], nil
}

// compile compiles a text that comes of the input schema n.
func (r *registry) compile(n *jsontree.Node, text schema.Value) (*nodeschema.Schema, *Fault) {
	compiled, err := nodeschema.Compile(text)
	if err != nil {
		return nil, &Fault{"invalid-input", n.Pointer(), err.Error()}
	}
	r.work += compiled.BuildWork()
	return compiled, nil
}

// inputSchema returns the compiled input schema of a capability of an admission, or nil if there is none.
func inputSchema(admission schema.Value, capability string) (*nodeschema.Schema, *Fault) {
	var r registry
	r.open(string(admission))
	entry, f := r.find(jsontree.Parse(str(capability), ""))
	if f != nil {
		return nil, f
	}
	schemas, f := r.schema(entry)
	if schemas == nil {
		return nil, f
	}
	return schemas.whole, nil
}
