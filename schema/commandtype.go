package schema

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// TypeOf returns the member "type" of a JSON object, or "" where there is none. Of a text that is no valid JSON it may return
// anything.
func TypeOf(object []byte) string { return typeOf(object) }

// typeOf returns the type of the command in body, or "". The members of a body come in any order, and its type says how to
// read the others. Of a body that is no valid JSON typeOf may return anything: to find that is for the decoder.
func typeOf(body []byte) string {
	if name, ok := lastType(body); ok {
		return name
	}
	raw := typeMember(body)
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	name, _ := jsontext.AppendUnquote(nil, raw)
	return string(name)
}

// lastType returns the type if it comes last, without spaces and escapes, as in most commands when they are canonical.
func lastType(body []byte) (string, bool) {
	rest, ok := bytes.CutSuffix(body, []byte(`"}`))
	if !ok {
		return "", false
	}
	quote := bytes.LastIndexByte(rest, '"')
	if quote < 0 || !bytes.HasSuffix(rest[:quote], []byte(`,"type":`)) {
		return "", false
	}
	name := rest[quote+1:]
	return string(name), bytes.IndexByte(name, '\\') < 0
}

// typeMember returns the text of the outermost object's member "type", or the beginning of it, or nil.
func typeMember(body []byte) []byte {
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			end := i + 1 + plainLen(body[i+1:])
			if end == len(body) || body[end] != '"' {
				end = stringEnd(body, i)
			} else {
				end++
			}
			if depth == 1 && isTypeName(body[i:end]) {
				if value := afterColon(body[end:]); value != nil {
					return value[:valueLen(value)]
				}
			}
			i = end - 1
		}
	}
	return nil
}

func isTypeName(quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted) == `"type"`
	}
	name, _ := jsontext.AppendUnquote(nil, quoted)
	return string(name) == "type"
}

// afterColon returns what follows a colon and white space, or nil.
func afterColon(text []byte) []byte {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(text, space), []byte{':'})
	if !ok {
		return nil
	}
	return bytes.TrimLeft(rest, space)
}

// valueLen returns the length of the string that text begins with, or a part of any other value.
func valueLen(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return min(1, len(text))
	}
	return stringEnd(text, 0)
}

// typeFault is the fault of a valid JSON text whose type is that of no command.
func typeFault(body []byte) *Fault {
	if k := jsontext.Value(body).Kind(); k != jsontext.KindBeginObject {
		return &Fault{CodeSchemaInvalid, "", "want an object, found " + kindName(k)}
	}
	message := "type: there is no such command"
	switch raw := typeMember(body); {
	case raw == nil:
		message = "type is missing"
	case raw[0] != '"':
		message = "type: want a string, found " + kindName(jsontext.Value(raw).Kind())
	}
	return &Fault{CodeSchemaInvalid, "/type", message}
}
