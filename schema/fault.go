package schema

import "github.com/go-json-experiment/json/jsontext"

// The two codes of a Fault (RULES 2.1 and 2.2).
const (
	CodeJSONInvalid   = "JSON_INVALID"
	CodeSchemaInvalid = "SCHEMA_INVALID"
)

// Fault says why a text is refused. Pointer is the RFC 6901 pointer of the failing place; Message is a sentence for people,
// and no program should compare it. Both are short, however long the names in the text are.
type Fault struct{ Code, Pointer, Message string }

// Error gives code, place and message on one line.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Code + ": " + f.Message
	}
	return f.Code + " at " + f.Pointer + ": " + f.Message
}

const (
	maxPointer = 2048 // bytes of a fault's pointer
	maxQuoted  = 64   // characters of a name in a fault's message
)

// newFault returns a fault at the given place, or at the nearest one around it whose pointer is not too long.
func newFault(code string, at jsontext.Pointer, message string) *Fault {
	for len(at) > maxPointer {
		at = at.Parent()
	}
	return &Fault{code, string(at), message}
}

// short returns the beginning of a name that somebody else chose.
func short(name string) string {
	n := 0
	for i := range name {
		if n == maxQuoted {
			return name[:i] + "..."
		}
		n++
	}
	return name
}
