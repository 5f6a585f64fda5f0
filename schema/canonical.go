package schema

import (
	"bytes"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxDepth   = 512       // of nested arrays and objects, the outermost counted as 1
	maxInteger = 1<<53 - 1 // of a number written without fraction and exponent
	space      = " \t\r\n" // the white space of JSON
)

// numbers says which JSON numbers a text may hold.
type numbers bool

const (
	// exactNumbers are those that RULES 2.1 admits: no publisher's number may change by being read.
	exactNumbers numbers = true
	// anyNumbers are all with a finite float64, the nearest one. Canonical texts need it: 1e20 is exact, and canonical JSON
	// writes it as an integer beyond 2^53.
	anyNumbers numbers = false
)

// Canonical returns the RFC 8785 form of a text that a publisher sent, after the checks of RULES 2.1. The error is a *Fault.
func Canonical(raw []byte) ([]byte, error) { return canonical(raw, exactNumbers) }

// CanonicalStored returns the RFC 8785 form of a text that we or an original implementation wrote before. It differs from
// Canonical in the numbers: those without an exact float64 are rounded, as ECMAScript does, and not refused.
func CanonicalStored(raw []byte) ([]byte, error) { return canonical(raw, anyNumbers) }

func canonical(raw []byte, n numbers) ([]byte, error) {
	if isCanonical(raw, 0, n) {
		return bytes.Clone(raw), nil
	}
	if f := checkJSON(raw, n); f != nil {
		return nil, f
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Canonicalize(); err != nil {
		return nil, &Fault{CodeJSONInvalid, "", err.Error()}
	}
	return v, nil
}

// Unquote appends the characters of a JSON string to dst.
func Unquote(dst, quoted []byte) ([]byte, error) { return jsontext.AppendUnquote(dst, quoted) }

// CutString appends to dst the characters of the JSON string that text begins with, and returns what follows that string. It
// takes only UTF-8 with no escapes but those of quotes and backslashes; ok is false, and dst unchanged, for any other text.
func CutString(dst, text []byte) (longer, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return dst, text, false
	}
	longer = dst
	for from, at := 1, 1; at < len(text); {
		at += plainLen(text[at:])
		if at == len(text) {
			break
		}
		switch c := text[at]; {
		case c == '"':
			return append(longer, text[from:at]...), text[at+1:], true
		case c >= utf8.RuneSelf:
			n := otherLen(text[at:])
			if !utf8.Valid(text[at : at+n]) {
				return dst, text, false
			}
			at += n
		case c == '\\' && at+1 < len(text) && (text[at+1] == '"' || text[at+1] == '\\'):
			longer = append(longer, text[from:at]...)
			from, at = at+1, at+2
		default:
			return dst, text, false
		}
	}
	return dst, text, false
}

// AppendString appends s as a canonical JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	quoted, from := append(dst, '"'), 0
	for i := range len(s) {
		c := s[i]
		switch {
		case isPlain[c]:
		case c == '"' || c == '\\':
			quoted = append(append(quoted, s[from:i]...), '\\')
			from = i
		default:
			dst, _ = jsontext.AppendQuote(dst, s)
			return dst
		}
	}
	return append(append(quoted, s[from:]...), '"')
}

// isPlain has the ASCII characters that stand for themselves in a JSON string.
var isPlain = func() (plain [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// checkJSON makes the checks of RULES 2.1, whatever the text means; n relaxes those about numbers. It walks the whole text,
// token by token, and serves where a text is refused or not canonical, not on the ordinary path.
func checkJSON(raw []byte, n numbers) *Fault {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	invalid := func(message string) *Fault {
		return newFault(CodeJSONInvalid, dec.StackPointer(), message)
	}
	for first := true; first || dec.StackDepth() > 0; first = false {
		tok, err := dec.ReadToken()
		if err != nil {
			return syntaxFault(err)
		}
		if dec.StackDepth() > maxDepth {
			return invalid("nested deeper than 512")
		}
		if tok.Kind() != jsontext.KindNumber {
			continue
		}
		if problem := checkNumber(tok.String(), n); problem != "" {
			return invalid(problem)
		}
	}
	if !isSpace(raw[dec.InputOffset():]) {
		return &Fault{CodeJSONInvalid, "", "something follows the JSON value"}
	}
	return nil
}

func isSpace(text []byte) bool { return len(text) == 0 || len(bytes.TrimLeft(text, space)) == 0 }

// syntaxFault is the fault of a text that the JSON decoder refuses.
func syntaxFault(err error) *Fault {
	syntactic, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return &Fault{CodeJSONInvalid, "", "the text ends too early"} // io.EOF: it holds no value at all
	}
	where := "byte " + strconv.FormatInt(syntactic.ByteOffset, 10)
	return newFault(CodeJSONInvalid, syntactic.JSONPointer, where+": "+syntactic.Err.Error())
}

// checkNumber says what is wrong with a number of valid syntax, or "".
func checkNumber(text string, n numbers) string {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return "the number is no finite float64"
	case n == anyNumbers:
		return ""
	case f == 0 && !isZero(text):
		return "the number is not zero but becomes zero as a float64"
	case isInteger(text) && !isSafe(text):
		return "the integer is beyond 2^53-1: write large numbers as strings"
	}
	return ""
}

// isZero reports whether a JSON number has only zeros before its exponent.
func isZero(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == 'e' || c == 'E':
			return true
		case '1' <= c && c <= '9':
			return false
		}
	}
	return true
}

// isInteger reports whether a JSON number is written without fraction and exponent.
func isInteger(text string) bool {
	for i := range len(text) {
		if c := text[i]; c == '.' || c == 'e' || c == 'E' {
			return false
		}
	}
	return true
}

// isSafe reports whether an integer is within ±(2^53-1).
func isSafe(text string) bool {
	_, ok := safeInteger(text)
	return ok
}

// safeInteger returns the value of a JSON integer within ±(2^53-1).
func safeInteger(text string) (int64, bool) {
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil && -maxInteger <= i && i <= maxInteger
}

// compareNames orders member names as RFC 8785 does, by their UTF-16 code units. Of valid UTF-8 only one pair of ranges
// sorts otherwise than by bytes: U+E000 to U+FFFF, first byte EE or EF, come after everything beyond U+FFFF.
func compareNames[T string | []byte](a, b T) int {
	for i := range min(len(a), len(b)) {
		c, d := a[i], b[i]
		if c == d {
			continue
		}
		if c >= 0xEE && d >= 0xEE && (c >= 0xF0) != (d >= 0xF0) {
			c, d = d, c
		}
		if c < d {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
