package wire

import (
	_ "embed" // the schemas
	"encoding/json"
	"fmt"
	"strings"
)

// Schemas is the JSON Schema of everything in this package, by name under $defs.
//
//go:embed schemas.json
var Schemas []byte

const defsPrefix = "#/$defs/"

// Schema is the schema of one name in Schemas by itself: what it refers to is
// put in its place.
func Schema(name string) (string, error) {
	var file struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(Schemas, &file); err != nil {
		return "", fmt.Errorf("schemas: %w", err)
	}
	schema, ok := file.Defs[name]
	if !ok {
		return "", fmt.Errorf("no schema %q", name)
	}
	text, err := json.Marshal(inline(schema, file.Defs))
	return string(text), err
}

// EndpointSchemas are the schemas of an endpoint's request and response.
func EndpointSchemas(e Endpoint) (request, response string, err error) {
	name := strings.ToUpper(string(e[:1])) + string(e[1:])
	if request, err = Schema(name + "Request"); err != nil {
		return "", "", err
	}
	response, err = Schema(name + "Response")
	return request, response, err
}

// inline replaces references; the schemas do not refer to themselves.
func inline(value any, defs map[string]any) any {
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return inline(defs[strings.TrimPrefix(ref, defsPrefix)], defs)
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = inline(member, defs)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = inline(v[i], defs)
		}
		return out
	}
	return value
}
