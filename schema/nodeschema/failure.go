package nodeschema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// explain says where one of the failures is, and what: the first one by place in the instance, then by place in the schema.
// The library visits members in any order.
func explain(e *jsonschema.ValidationError) (pointer, message string) {
	first := leaf(e)
	for _, token := range first.InstanceLocation {
		pointer += "/" + jsontree.Token(token)
	}
	alone := jsonschema.ValidationError{ErrorKind: first.ErrorKind}
	return jsontree.Shorten(pointer), short(strings.TrimPrefix(alone.Error(), "at '': "))
}

// leaf returns the first failure of those that no other causes.
func leaf(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	if len(e.Causes) > 0 {
		first := leaf(e.Causes[0])
		for _, cause := range e.Causes[1:] {
			if other := leaf(cause); compare(other, first) < 0 {
				first = other
			}
		}
		return first
	}
	if k, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(k.Properties)
		e.InstanceLocation = append(e.InstanceLocation, k.Properties[0])
	}
	return e
}

// compare orders failures. One schema has at most one failure of a keyword at a place.
func compare(a, b *jsonschema.ValidationError) int {
	return cmp.Or(
		slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, compareTokens),
		strings.Compare(a.SchemaURL, b.SchemaURL),
		slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()),
	)
}

// compareTokens puts short tokens first, so that indexes are in their order.
func compareTokens(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// maxMessage is how many bytes of a message are kept: what it quotes can be as long as a schema.
const maxMessage = 1024

func short(message string) string {
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage], "") + "..."
	}
	return message
}
