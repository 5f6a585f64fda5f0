package events

import (
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

// appendMessage appends m as one canonical JSON object. What is not UTF-8 goes
// into the member whose name ends in Base64, so that any bytes survive.
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
	if utf8.Valid(value) {
		dst = append(dst, `":`...)
		return schema.AppendString(dst, string(value))
	}
	dst = append(dst, `Base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, value)
	return append(dst, '"')
}

// appendIDs writes the header: "id" for the usual single value, "ids" for a
// header given several times or with bytes that are not UTF-8 (base64 each).
func appendIDs(dst []byte, ids []string) []byte {
	switch {
	case ids == nil:
		return dst
	case len(ids) == 1 && utf8.ValidString(ids[0]):
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

// parseMessage reads what appendMessage wrote.
func parseMessage(raw []byte) (Message, error) {
	var m Message
	value, err := schema.ParseValue(raw)
	if err != nil {
		return m, err
	}
	if value.Kind() != '{' {
		return m, fmt.Errorf("message line is not an object")
	}
	var seen [4]bool // body, seq, subject, ts
	for name, member := range value.Members() {
		if err := m.set(name, member, &seen); err != nil {
			return m, fmt.Errorf("message line: %s: %w", name, err)
		}
	}
	if seen != [4]bool{true, true, true, true} {
		return m, fmt.Errorf("message line lacks one of body, seq, subject, ts")
	}
	return m, nil
}

func (m *Message) set(name string, member schema.Value, seen *[4]bool) error {
	text, isText := member.Str()
	if name != "seq" && name != "idsBase64" && !isText {
		return fmt.Errorf("not a string")
	}
	switch name {
	case "body":
		m.Body, seen[0] = []byte(text), true
	case "bodyBase64":
		body, err := base64.StdEncoding.DecodeString(text)
		m.Body, seen[0] = body, true
		return err
	case "id":
		m.IDs = []string{text}
	case "idsBase64":
		return m.setIDs(member)
	case "seq":
		seq, ok := member.Int()
		if !ok || seq < 0 {
			return fmt.Errorf("not a sequence")
		}
		m.Seq, seen[1] = uint64(seq), true
	case "subject":
		m.Subject, seen[2] = text, true
	case "subjectBase64":
		subject, err := base64.StdEncoding.DecodeString(text)
		m.Subject, seen[2] = string(subject), true
		return err
	case "ts":
		ts, err := strconv.ParseInt(text, 10, 64)
		m.Time, seen[3] = ts, true
		return err
	default:
		return fmt.Errorf("unknown member")
	}
	return nil
}

func (m *Message) setIDs(member schema.Value) error {
	if member.Kind() != '[' {
		return fmt.Errorf("not an array")
	}
	m.IDs = []string{}
	for element := range member.Elements() {
		text, ok := element.Str()
		if !ok {
			return fmt.Errorf("not an array of strings")
		}
		id, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return err
		}
		m.IDs = append(m.IDs, string(id))
	}
	return nil
}
