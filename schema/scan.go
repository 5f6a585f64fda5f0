package schema

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// isCanonical reports whether text is the canonical form of one JSON value that may stand at the given depth. It decides
// from the bytes alone: a text that it accepts is valid JSON, has unique names in order, and passes RULES 2.1.
func isCanonical(text []byte, depth int, n numbers) bool {
	s := scanner{text: text, depth: depth, numbers: n}
	return s.value() && s.at == len(text)
}

// scanner walks a text that may be canonical JSON. Each method reads one thing at s.at and answers false where it is not
// canonical; nothing is done to recover then.
type scanner struct {
	text    []byte
	at      int
	depth   int
	numbers numbers
}

// next returns the byte at s.at, or 0, which stands nowhere in canonical JSON.
func (s *scanner) next() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

// skip moves over c if it comes next.
func (s *scanner) skip(c byte) bool {
	if s.next() != c {
		return false
	}
	s.at++
	return true
}

// name moves over a member's name and the colon behind it, and the comma before it, if they come next. The first member
// follows the brace.
func (s *scanner) name(name string) bool {
	at := s.at
	if s.text[at-1] != '{' {
		if s.next() != ',' {
			return false
		}
		at++
	}
	end := at + len(name) + len(`"":`)
	if end > len(s.text) || s.text[at] != '"' || string(s.text[at+1:end-2]) != name || s.text[end-2] != '"' || s.text[end-1] != ':' {
		return false
	}
	s.at = end
	return true
}

func (s *scanner) value() bool {
	switch s.next() {
	case '{':
		return s.nested(s.object)
	case '[':
		return s.nested(s.array)
	case '"':
		_, ok := s.quoted()
		return ok
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	return s.number()
}

func (s *scanner) nested(read func() bool) bool {
	s.at++
	s.depth++
	ok := s.depth <= maxDepth && read()
	s.depth--
	return ok
}

// object reads the members and the closing brace.
func (s *scanner) object() bool {
	if s.skip('}') {
		return true
	}
	var last []byte
	for first := true; ; first = false {
		name, ok := s.str()
		if !ok || !first && compareNames(last, name) >= 0 {
			return false
		}
		if !s.skip(':') || !s.value() {
			return false
		}
		if s.skip('}') {
			return true
		}
		if !s.skip(',') {
			return false
		}
		last = name
	}
}

// array reads the elements and the closing bracket.
func (s *scanner) array() bool {
	if s.skip(']') {
		return true
	}
	for s.value() {
		if s.skip(']') {
			return true
		}
		if !s.skip(',') {
			return false
		}
	}
	return false
}

func (s *scanner) literal(word string) bool {
	if !bytes.HasPrefix(s.text[s.at:], []byte(word)) {
		return false
	}
	s.at += len(word)
	return true
}

// str reads a string and returns its characters, unescaped.
func (s *scanner) str() ([]byte, bool) {
	from := s.at
	escaped, ok := s.quoted()
	if !ok {
		return nil, false
	}
	if escaped {
		plain, _ := jsontext.AppendUnquote(nil, s.text[from:s.at])
		return plain, true
	}
	return s.text[from+1 : s.at-1], true
}

// quoted reads a string and says whether it has escapes.
func (s *scanner) quoted() (escaped, ok bool) {
	if !s.skip('"') {
		return false, false
	}
	start, ascii := s.at, true
	for s.at += plainLen(s.text[s.at:]); s.at < len(s.text); s.at += plainLen(s.text[s.at:]) {
		switch c := s.text[s.at]; {
		case c == '"':
			raw := s.text[start:s.at]
			s.at++
			return escaped, ascii || utf8.Valid(raw)
		case c == '\\':
			n := escapeLen(s.text[s.at:])
			if n == 0 {
				return false, false
			}
			s.at += n
			escaped = true
		case c < ' ':
			return false, false
		default:
			s.at += otherLen(s.text[s.at:])
			ascii = false
		}
	}
	return false, false
}

// plainLen returns how many bytes text begins with that are ASCII and stand for themselves in a JSON string: no quotes,
// backslashes and controls. It looks at eight bytes at once.
func plainLen(text []byte) int {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		// The highest bit of a byte is set where it was, and where the subtraction borrows: for the lowest such byte that is so
		// only if it is below the space, a quote or a backslash. Bytes after it do not matter.
		if found := (x | (x - ' '*each) | (x ^ '"'*each - each) | (x ^ '\\'*each - each)) & high; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(text) && isPlain[text[i]] {
		i++
	}
	return i
}

// otherLen returns how many bytes text begins with that are of characters beyond ASCII, or of none.
func otherLen(text []byte) int {
	i := 0
	for i < len(text) && text[i] >= utf8.RuneSelf {
		i++
	}
	return i
}

// escapeLen returns the length of the canonical escape that text begins with, or 0. Escaped are the quote, the backslash and
// the controls below U+0020: in the short form where there is one.
func escapeLen(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return 2
	}
	if len(text) < 6 || string(text[1:4]) != "u00" {
		return 0
	}
	high, low := text[4], text[5]
	digit := '0' <= low && low <= '9' || 'a' <= low && low <= 'f'
	switch {
	case high == '1' && digit:
		return 6
	case high == '0' && digit && low != '8' && low != '9' && low != 'a' && low != 'c' && low != 'd':
		return 6
	}
	return 0
}

// number reads a number. Integers of up to 15 digits are canonical as they are; others are compared with what ECMAScript
// would print.
func (s *scanner) number() bool {
	start := s.at
	for isNumberByte(s.next()) {
		s.at++
	}
	text := s.text[start:s.at]
	if isShortInteger(text) {
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil || f == 0 {
		return false
	}
	var buf [32]byte
	if !bytes.Equal(jsontext.AppendFloat(buf[:0], f, 64), text) {
		return false
	}
	return s.numbers == anyNumbers || checkNumber(string(text), exactNumbers) == ""
}

func isNumberByte(c byte) bool {
	return '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}

// isShortInteger reports whether text is an integer of up to 15 digits in canonical form, which "-0" is not.
func isShortInteger(text []byte) bool {
	if len(text) > 1 && text[0] == '-' {
		text = text[1:]
		if text[0] == '0' {
			return false
		}
	}
	if len(text) == 0 || len(text) > 15 || text[0] == '0' && len(text) > 1 {
		return false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
