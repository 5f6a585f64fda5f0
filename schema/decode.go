package schema

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxDigits = 100     // of a decimal on the wire
	maxItems  = 1000    // of a list on the wire
	maxShared = 4 << 10 // bytes of a text whose strings share one copy of it
)

// Decode reads the body of a command: RULES 2 steps 1 and 2. It reads the tokens of a valid body once. Only a refused one is
// read again: a text that is not JSON is JSON_INVALID, whatever else is wrong with it. The command shares no memory with the
// body; the strings of a short body share one copy of it.
func Decode(body []byte) (Command, *Fault) {
	c := newCommand(typeOf(body))
	if c == nil {
		if f := checkJSON(body, exactNumbers); f != nil {
			return nil, f
		}
		return nil, typeFault(body)
	}
	if f := decode(body, c, exactNumbers); f != nil {
		return nil, f
	}
	return c, nil
}

// DecodeRecord reads a record of a known kind into r, which must be empty: from our log, or a part of a command. It rounds
// numbers as CanonicalStored does. The error is a *Fault.
func DecodeRecord(raw []byte, r Record) error {
	if f := decode(raw, r, anyNumbers); f != nil {
		return f
	}
	return nil
}

// decode reads canonical text as it comes, and any other in a way that needs more time.
func decode(text []byte, r Record, n numbers) *Fault {
	m := borrow()
	defer giveBack(m)
	m.share(text)
	if m.takeAll(text, r, n) {
		return nil
	}
	return m.readAll(text, r, n)
}

// readAll reads a whole text, which m shares, of any form.
func (m *Members) readAll(text []byte, r Record, n numbers) *Fault {
	m.begin(text, n)
	f := m.readRecord("", r)
	if f == nil && isSpace(text[m.dec.InputOffset():]) {
		return nil
	}
	if invalid := checkJSON(text, n); invalid != nil {
		return invalid
	}
	return f
}

// idle holds Members for the next call: making one costs more than a decoding.
var idle = make(chan *Members, 8)

func borrow() *Members {
	select {
	case m := <-idle:
		return m
	default:
		return new(Members)
	}
}

// giveBack forgets what m was used for.
func giveBack(m *Members) {
	clear(m.slots)
	m.slots = m.slots[:0]
	clear(m.scratch)
	if m.buf.Cap() > maxShared || cap(m.scratch) > maxItems {
		m.dec, m.scratch = jsontext.Decoder{}, nil // they hold on to a long text or list
	}
	m.text, m.buf = "", bytes.Buffer{}
	select {
	case idle <- m:
	default:
	}
}

// share lets the strings of a short text share one copy of it.
func (m *Members) share(text []byte) {
	if len(text) <= maxShared {
		m.text = string(text)
	}
}

// begin makes m ready to read a text.
func (m *Members) begin(text []byte, n numbers) {
	m.numbers = n
	m.buf = *bytes.NewBuffer(slices.Clip(text))
	m.dec.Reset(&m.buf, jsontext.AllowDuplicateNames(true)) // readRecord, readObject and setValue look after names
}

// readRecord reads an object into r; name is the member that holds it.
func (m *Members) readRecord(name string, r Record) *Fault {
	if f := m.open(name, jsontext.KindBeginObject); f != nil {
		return f
	}
	first := len(m.slots)
	r.Members(m)
	expected := first
	for m.more(jsontext.KindEndObject) {
		raw, err := m.dec.ReadValue()
		if err != nil {
			return syntaxFault(err)
		}
		i := m.find(raw[1:len(raw)-1], first, expected)
		if i < 0 {
			return m.fault(short(m.dec.StackPointer().LastToken()) + " is no member here")
		}
		s := &m.slots[i] // stays good for reading when m.slots grows
		if s.seen {
			return m.fault(s.name + " is repeated")
		}
		s.seen = true
		if f := m.read(s); f != nil {
			return f
		}
		expected = i + 1
	}
	if f := m.shut(); f != nil {
		return f
	}
	for i := first; i < len(m.slots); i++ {
		if s := &m.slots[i]; !s.seen && !s.optional {
			return m.faultAt(s.name, s.name+" is missing")
		}
	}
	clear(m.slots[first:])
	m.slots = m.slots[:first]
	return m.check(r)
}

// find returns the slot from first on whose name this is, or -1. Canonical input has them in order, so that the slot expected
// next, or one soon after, is the right one.
func (m *Members) find(name []byte, first, expected int) int {
	for i := expected; i < len(m.slots); i++ {
		if m.slots[i].name == string(name) {
			return i
		}
	}
	for i := first; i < expected; i++ {
		if m.slots[i].name == string(name) {
			return i
		}
	}
	if bytes.IndexByte(name, '\\') < 0 {
		return -1
	}
	plain, _ := jsontext.AppendUnquote(nil, slices.Concat([]byte{'"'}, name, []byte{'"'}))
	if bytes.IndexByte(plain, '\\') >= 0 {
		return -1 // no member of ours has a backslash in its name
	}
	return m.find(plain, first, expected)
}

// checked is a Record with a rule about its members together. check names the member that is wrong and says how; both are
// empty where all is well.
type checked interface {
	check() (member, problem string)
}

func (m *Members) check(r Record) *Fault {
	c, ok := r.(checked)
	if !ok {
		return nil
	}
	if member, problem := c.check(); problem != "" {
		return m.faultAt(member, member+": "+problem)
	}
	return nil
}

// open reads the beginning of an array or object, which is the value of the named member.
func (m *Members) open(name string, begin jsontext.Kind) *Fault {
	tok, err := m.dec.ReadToken()
	switch {
	case err != nil:
		return syntaxFault(err)
	case tok.Kind() == begin:
		return nil
	}
	return m.wrong(name, found("want "+kindName(begin), tok.Kind()))
}

// more reports whether the array or object goes on, neither at its end nor at broken text.
func (m *Members) more(end jsontext.Kind) bool {
	k := m.dec.PeekKind()
	return k != end && k != jsontext.KindInvalid
}

// shut reads the end of an array or object.
func (m *Members) shut() *Fault {
	if _, err := m.dec.ReadToken(); err != nil {
		return syntaxFault(err)
	}
	return nil
}

// found is the problem of a value that is not of the kind that its member wants.
func found(want string, k jsontext.Kind) (problem string) { return want + ", found " + kindName(k) }

// wrong is the fault of the value just read, which belongs to the named member.
func (m *Members) wrong(name, problem string) *Fault {
	if name == "" {
		return m.fault(problem)
	}
	return m.fault(name + ": " + problem)
}

func (m *Members) fault(message string) *Fault {
	return newFault(CodeSchemaInvalid, m.dec.StackPointer(), message)
}

// faultAt is a fault of a member of the object just read, be the member there or not.
func (m *Members) faultAt(name, message string) *Fault {
	return newFault(CodeSchemaInvalid, m.dec.StackPointer().AppendToken(name), message)
}

// kindName says what a value is.
func kindName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	}
	return k.String() // null, true or false
}
