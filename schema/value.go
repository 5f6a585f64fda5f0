package schema

import (
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Value is the canonical JSON text of one value; "" is an absent one. Two values are deeply equal if and only if they are
// equal as strings. Its methods answer false, or nothing, where the value is of another kind.
type Value string

// ParseValue returns the Value of a JSON text. It rounds numbers as CanonicalStored does; what a publisher sent goes through
// Decode or Canonical first. The error is a *Fault.
func ParseValue(raw []byte) (Value, error) {
	if isCanonical(raw, 0, anyNumbers) {
		return Value(raw), nil
	}
	text, err := CanonicalStored(raw)
	return Value(text), err
}

// Kind returns the kind of v by one byte: { [ " 0 (a number) t f n, and 0 for an absent value.
func (v Value) Kind() byte {
	if v == "" {
		return 0
	}
	if c := v[0]; c != '-' && (c < '0' || c > '9') {
		return c
	}
	return '0'
}

// Member returns the member of an object by its name.
func (v Value) Member(name string) (Value, bool) {
	for n, m := range v.Members() {
		if n == name {
			return m, true
		}
	}
	return "", false
}

// Members gives the members of an object in their canonical order.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		if v.Kind() != '{' {
			return
		}
		for at := 1; v[at] != '}'; at = v.afterComma(at) {
			end := stringEnd(v, at)
			name, _ := v[at:end].Str()
			at = v.valueEnd(end + 1)
			if !yield(name, v[end+1:at]) {
				return
			}
		}
	}
}

// Elements gives the elements of an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != '[' {
			return
		}
		for at := 1; v[at] != ']'; at = v.afterComma(at) {
			start := at
			at = v.valueEnd(at)
			if !yield(v[start:at]) {
				return
			}
		}
	}
}

// Str returns the characters of a string.
func (v Value) Str() (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	inside := string(v[1 : len(v)-1])
	if strings.IndexByte(inside, '\\') < 0 {
		return inside, true
	}
	text, _ := jsontext.AppendUnquote(nil, v)
	return string(text), true
}

// Int returns a number that is an integer within ±(2^53-1).
func (v Value) Int() (int64, bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	return safeInteger(string(v))
}

// afterComma steps over the comma at the given place, if there is one.
func (v Value) afterComma(at int) int {
	if v[at] == ',' {
		return at + 1
	}
	return at
}

// valueEnd returns where the value that starts at the given place ends.
func (v Value) valueEnd(at int) int {
	for depth := 0; ; {
		switch v[at] {
		case '"':
			at = stringEnd(v, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default:
			at++
		}
		if depth == 0 && (at == len(v) || v[at] == ',' || v[at] == '}' || v[at] == ']') {
			return at
		}
	}
}

// stringEnd returns where the string that starts at the given place ends, behind its closing quote. In a text that is not
// valid JSON it returns some place not before at+1 and not behind the end.
func stringEnd[T ~string | ~[]byte](text T, at int) int {
	for at++; at < len(text); at++ {
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return len(text)
}
