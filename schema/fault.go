package schema

// The two codes of a Fault (RULES 2.1 and 2.2).
const (
	CodeJSONInvalid   = "JSON_INVALID"
	CodeSchemaInvalid = "SCHEMA_INVALID"
)

// Fault says why a text is refused. Pointer is the RFC 6901 pointer of the failing place; Message is a sentence for people,
// and no program should compare it.
type Fault struct{ Code, Pointer, Message string }

// Error gives code, place and message on one line.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Code + ": " + f.Message
	}
	return f.Code + " at " + f.Pointer + ": " + f.Message
}
