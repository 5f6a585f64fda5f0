package events

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// NanosPerMilli converts a raw stream stamp to the milliseconds that rules use.
const NanosPerMilli = 1_000_000

// Message is one command as it came in, raw and exact. A decision depends on
// these fields and the ledger's state, and on nothing else (RULES 1).
type Message struct {
	Seq     uint64   // stream sequence: the commandSeq of its decision
	Time    int64    // stream timestamp in nanoseconds since 1970, as the stream has it
	Subject string   // NATS subject; may be any bytes
	IDs     []string // values of the header Aiws-Command-Id; nil when there is none
	Body    []byte   // the command's JSON, as published
}

// Millis is the stream timestamp in milliseconds, rounded down and never below
// zero: the clock that rules see (RULES 1 "now").
func (m *Message) Millis() schema.Decimal {
	if m.Time < 0 {
		return schema.Decimal{}
	}
	return schema.DecimalOf(uint64(m.Time / NanosPerMilli))
}

// appendMessage appends m as one canonical JSON object. What is not UTF-8, or is
// shorter so, goes into the member whose name ends in Base64: any bytes survive,
// and none take more than four thirds of their length.
func appendMessage(dst []byte, m *Message) []byte {
	dst = append(dst, '{')
	dst = appendBytes(dst, "body", m.Body)
	dst = appendIDs(dst, m.IDs)
	dst = append(dst, `,"seq":`...)
	dst = strconv.AppendUint(dst, m.Seq, 10)
	dst = append(dst, ',')
	dst = appendBytes(dst, "subject", []byte(m.Subject))
	dst = append(dst, `,"ts":"`...)
	dst = strconv.AppendInt(dst, m.Time, 10)
	return append(dst, `"}`...)
}

func appendBytes(dst []byte, name string, value []byte) []byte {
	dst = append(append(dst, '"'), name...)
	if isText(value) {
		dst = append(dst, `":`...)
		return schema.AppendString(dst, value)
	}
	dst = append(dst, `Base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, value)
	return append(dst, '"')
}

// isText says whether bytes are written as text: they are UTF-8, and escaping
// does not make them longer than base64 does.
func isText(value []byte) bool {
	if !utf8.Valid(value) {
		return false
	}
	escapes := 0
	for _, c := range value {
		escapes += int(escape[c])
	}
	return 3*escapes <= len(value)+16
}

// escape has how much longer a byte is, at the most, in a JSON string.
var escape = func() (longer [256]uint8) {
	for c := range ' ' {
		longer[c] = uint8(len(`\u0000`) - 1)
	}
	longer['"'], longer['\\'] = 1, 1
	return longer
}()

// appendIDs writes the header: "id" for the usual single value, "ids" for a
// header given several times or whose value is not written as text (base64 each).
func appendIDs(dst []byte, ids []string) []byte {
	switch {
	case ids == nil:
		return dst
	case len(ids) == 1 && isText([]byte(ids[0])):
		return schema.AppendString(append(dst, `,"id":`...), ids[0])
	}
	dst = append(dst, `,"idsBase64":[`...)
	for i, id := range ids {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, []byte(id))
		dst = append(dst, '"')
	}
	return append(dst, ']')
}

// messageParser reads the message lines of a block. What it reads shares a few
// pieces of memory.
type messageParser struct {
	bodies []byte   // room for the bodies of the messages to come
	ids    []string // room for their ids
}

// bodiesRoom is how much memory bodies share.
const bodiesRoom = 64 << 10

// parse reads what appendMessage wrote: our own text, in that very form and
// order. Anything else is an error.
func (p *messageParser) parse(raw []byte) (Message, error) {
	var m Message
	l := line{rest: raw}
	l.cut("{")
	m.Body = p.body(&l)
	l.text = string(l.rest) // what follows is cut from it
	m.IDs = p.idsOf(&l)
	l.cut(`,"seq":`)
	m.Seq = l.sequence()
	l.cut(",")
	m.Subject = l.chars("subject")
	l.cut(`,"ts":`)
	stamp, err := strconv.ParseInt(l.string(), 10, 64)
	if m.Time = stamp; err != nil {
		l.fail("ts")
	}
	l.cut("}")
	if l.err == nil && len(l.rest) > 0 {
		l.fail("end")
	}
	return m, l.err
}

// body takes the first member.
func (p *messageParser) body(l *line) []byte {
	if !l.skip(`"body":`) {
		l.cut(`"bodyBase64":`)
		return []byte(l.base64())
	}
	if cap(p.bodies)-len(p.bodies) < len(l.rest) {
		p.bodies = make([]byte, 0, max(bodiesRoom, len(l.rest)))
	}
	start := len(p.bodies)
	p.bodies = l.appendString(p.bodies)
	return p.bodies[start:len(p.bodies):len(p.bodies)]
}

// idsOf takes what appendIDs wrote.
func (p *messageParser) idsOf(l *line) []string {
	if l.skip(`,"id":`) {
		p.ids = append(p.ids, l.string())
		return p.ids[len(p.ids)-1 : len(p.ids) : len(p.ids)]
	}
	if !l.skip(`,"idsBase64":[`) {
		return nil
	}
	ids := []string{}
	for !l.skip("]") && l.err == nil {
		if len(ids) > 0 {
			l.cut(",")
		}
		ids = append(ids, l.base64())
	}
	return ids
}

// line reads a message line from its beginning to its end.
type line struct {
	rest []byte
	text string // that it ends with; strings are cut from it
	err  error
}

func (l *line) fail(what string) {
	if l.err == nil {
		l.err = fmt.Errorf("message line: %s is not as it was written", what)
	}
	l.rest = nil
}

// skip takes text if it comes next.
func (l *line) skip(text string) bool {
	if len(l.rest) < len(text) || string(l.rest[:len(text)]) != text {
		return false
	}
	l.rest = l.rest[len(text):]
	return true
}

func (l *line) cut(text string) {
	if !l.skip(text) {
		l.fail(text)
	}
}

// appendString takes a JSON string and appends its characters to dst.
func (l *line) appendString(dst []byte) []byte {
	if longer, rest, ok := schema.CutString(dst, l.rest); ok {
		l.rest = rest
		return longer
	}
	return append(dst, l.string()...) // not as we write it, but perhaps a string
}

// string takes a JSON string and returns its characters.
func (l *line) string() string {
	quoted := l.quoted()
	switch {
	case quoted == nil:
		return ""
	case bytes.IndexByte(quoted, '\\') >= 0:
		plain, err := schema.Unquote(nil, quoted)
		if err != nil {
			l.fail("a string")
		}
		return string(plain)
	case len(l.text) < len(l.rest)+len(quoted): // it stands before the text
		return string(quoted[1 : len(quoted)-1])
	}
	end := len(l.text) - len(l.rest) // the text and the rest end together
	return l.text[end-len(quoted)+1 : end-1]
}

// quoted takes a JSON string as it stands, or nil.
func (l *line) quoted() []byte {
	end := stringEnd(l.rest)
	if end < 0 {
		l.fail("a string")
		return nil
	}
	quoted := l.rest[:end]
	l.rest = l.rest[end:]
	return quoted
}

// stringEnd is the length of the JSON string at the beginning of text, or -1.
func stringEnd(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return -1
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// chars takes a member that appendBytes wrote.
func (l *line) chars(name string) string {
	l.cut(`"` + name)
	if l.skip(`":`) {
		return l.string()
	}
	l.cut(`Base64":`)
	return l.base64()
}

func (l *line) base64() string {
	plain, err := base64.StdEncoding.DecodeString(l.string())
	if err != nil {
		l.fail("base64")
	}
	return string(plain)
}

func (l *line) sequence() uint64 {
	digits := 0
	for digits < len(l.rest) && l.rest[digits] >= '0' && l.rest[digits] <= '9' {
		digits++
	}
	seq, err := strconv.ParseUint(string(l.rest[:digits]), 10, 64)
	if err != nil {
		l.fail("seq")
		return 0
	}
	l.rest = l.rest[digits:]
	return seq
}
