package schema

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxDigits = 100     // of a decimal on the wire
	maxItems  = 1000    // of a list
	maxShared = 4 << 10 // bytes of a text whose strings share memory with it
)

// Decode reads the body of a command: RULES 2 steps 1 and 2. It reads the tokens of a valid body once. Only a refused one is
// read again: a text that is not JSON is JSON_INVALID, whatever else is wrong with it.
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

func decode(text []byte, r Record, n numbers) *Fault {
	m := borrow()
	defer giveBack(m)
	m.begin(text, n)
	f := m.readRecord("", r)
	if f == nil {
		if rest := text[m.dec.InputOffset():]; len(rest) == 0 || len(bytes.TrimLeft(rest, " \t\r\n")) == 0 {
			return nil
		}
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
	m.text, m.buf = "", bytes.Buffer{}
	select {
	case idle <- m:
	default:
	}
}

func (m *Members) begin(text []byte, n numbers) {
	m.numbers = n
	m.buf = *bytes.NewBuffer(text)
	if len(text) <= maxShared {
		m.text = string(text)
	}
	m.dec.Reset(&m.buf, jsontext.AllowDuplicateNames(true)) // readRecord and isCanonical look after names
}

// readRecord reads an object into r; name is the member that holds it.
func (m *Members) readRecord(name string, r Record) *Fault {
	if m.dec.PeekKind() != jsontext.KindBeginObject {
		return m.refuse(name, "want an object")
	}
	m.dec.ReadToken()
	first := len(m.slots)
	r.Members(m)
	expected := first
	for m.dec.PeekKind() == jsontext.KindString {
		raw, err := m.dec.ReadValue()
		if err != nil {
			return m.broken(err)
		}
		i := m.find(raw[1:len(raw)-1], first, expected)
		if i < 0 {
			return m.fault(string(raw) + " is no member here")
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
	if _, err := m.dec.ReadToken(); err != nil {
		return m.broken(err)
	}
	for i := first; i < len(m.slots); i++ {
		if s := &m.slots[i]; !s.seen && !s.optional {
			return m.missing(s.name)
		}
	}
	clear(m.slots[first:])
	m.slots = m.slots[:first]
	if c, ok := r.(checked); ok {
		return m.whole(c)
	}
	return nil
}

// checked is a Record with a rule about its members together. check names the member that is wrong and says how; both are
// empty where all is well.
type checked interface {
	check() (member, problem string)
}

func (m *Members) whole(c checked) *Fault {
	member, problem := c.check()
	if problem == "" {
		return nil
	}
	return m.at(member, member+": "+problem)
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

// read reads the value of a member.
func (m *Members) read(s *slot) *Fault {
	switch s.kind {
	case kindIDs, kindIDList, kindEnums:
		return m.readStrings(s)
	case kindVerdicts:
		return m.readVerdicts(s)
	case kindLists:
		return m.readLists(s)
	case kindRecord:
		return m.readNested(s)
	case kindRecords:
		return m.readRecords(s)
	case kindObject, kindAny:
		return m.readValue(s)
	case kindInt:
		return m.readInt(s)
	case kindBool, kindFlag:
		return m.readBool(s)
	}
	text, ok := m.readString()
	if !ok {
		return m.refuse(s.name, "want a string")
	}
	return m.setString(s, text)
}

// setString checks and keeps the text of a member that is a string on the wire.
func (m *Members) setString(s *slot, text string) *Fault {
	switch s.kind {
	case kindID:
		if text == "" || !isShort(text) {
			return m.wrong(s.name, "want 1 to 256 characters")
		}
	case kindText:
		if text == "" && s.optional {
			return m.wrong(s.name, "an empty text is to be left out")
		}
	case kindHex:
		if len(text) != int(s.max) || !isLowerHex(text) {
			return m.wrong(s.name, "want "+DecimalOf(uint64(s.max)).String()+" lower-case hexadecimal digits")
		}
	case kindEnum:
		i := slices.Index(s.allowed, text)
		if i < 0 {
			return m.wrong(s.name, "want one of "+strings.Join(s.allowed, ", "))
		}
		text = s.allowed[i]
	case kindConst:
		if text != s.word {
			return m.wrong(s.name, "want "+s.word)
		}
		return nil
	case kindDecimal, kindSum:
		return m.setDecimal(s, text)
	}
	*s.target.(*string) = text
	return nil
}

func (m *Members) setDecimal(s *slot, text string) *Fault {
	if s.kind == kindDecimal && len(text) > maxDigits {
		return m.wrong(s.name, "want at most 100 digits")
	}
	d, err := ParseDecimal(text)
	if err != nil {
		return m.wrong(s.name, "want 0 or digits without a leading zero")
	}
	set(s, d)
	return nil
}

// set keeps the value of a member, in new memory if the member is optional.
func set[T any](s *slot, v T) {
	if s.optional {
		*s.target.(**T) = &v
		return
	}
	*s.target.(*T) = v
}

func isLowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// readString reads a string. It answers false, and leaves the value where it is, if something else comes.
func (m *Members) readString() (string, bool) {
	if m.dec.PeekKind() != jsontext.KindString {
		return "", false
	}
	raw, err := m.dec.ReadValue()
	if err != nil {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		plain, _ := jsontext.AppendUnquote(nil, raw)
		return string(plain), true
	}
	s := m.cut(raw)
	return s[1 : len(s)-1], true
}

// cut returns the value just read as a string, without allocating if the text is short.
func (m *Members) cut(raw []byte) string {
	if m.text == "" {
		return string(raw)
	}
	end := int(m.dec.InputOffset())
	return m.text[end-len(raw) : end]
}

func (m *Members) readInt(s *slot) *Fault {
	const want = "want an integer from 0 to 9007199254740991"
	if m.dec.PeekKind() != jsontext.KindNumber {
		return m.refuse(s.name, want)
	}
	raw, err := m.dec.ReadValue()
	if err != nil {
		return m.broken(err)
	}
	n, ok := safeInteger(string(raw))
	if !ok || raw[0] == '-' {
		return m.wrong(s.name, want)
	}
	if n == 0 && s.optional {
		return m.wrong(s.name, "a zero is to be left out")
	}
	*s.target.(*int64) = n
	return nil
}

func (m *Members) readBool(s *slot) *Fault {
	k := m.dec.PeekKind()
	if k != jsontext.KindTrue && k != jsontext.KindFalse {
		return m.refuse(s.name, "want true or false")
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return m.broken(err)
	}
	if s.kind == kindBool {
		set(s, k == jsontext.KindTrue)
		return nil
	}
	if k == jsontext.KindFalse {
		return m.wrong(s.name, "false is to be left out")
	}
	*s.target.(*bool) = true
	return nil
}

// readValue reads any JSON and keeps its canonical text.
func (m *Members) readValue(s *slot) *Fault {
	if s.kind == kindObject && m.dec.PeekKind() != jsontext.KindBeginObject {
		return m.refuse(s.name, "want an object")
	}
	raw, err := m.dec.ReadValue()
	if err != nil {
		return m.broken(err)
	}
	if isCanonical(raw, m.dec.StackDepth(), m.numbers) {
		*s.target.(*Value) = Value(m.cut(raw))
		return nil
	}
	text, err := canonical(raw, m.numbers)
	if err != nil {
		return m.broken(err)
	}
	if !isCanonical(text, m.dec.StackDepth(), anyNumbers) {
		return m.wrong(s.name, "nested deeper than 512")
	}
	*s.target.(*Value) = Value(text)
	return nil
}

func (m *Members) readNested(s *slot) *Fault {
	if r, ok := s.target.(Record); ok {
		return m.readRecord(s.name, r)
	}
	return m.readRecord(s.name, s.target.(optional).record())
}

func (m *Members) readRecords(s *slot) *Fault {
	if m.dec.PeekKind() != jsontext.KindBeginArray {
		return m.refuse(s.name, "want an array")
	}
	m.dec.ReadToken()
	list := s.target.(records)
	list.clear()
	for !m.endOf(jsontext.KindEndArray) {
		if list.len() == int(s.max) {
			return m.wrong(s.name, "want at most "+DecimalOf(uint64(s.max)).String()+" elements")
		}
		if f := m.readRecord(s.name, list.grow()); f != nil {
			return f
		}
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return m.broken(err)
	}
	if list.len() < int(s.min) {
		return m.wrong(s.name, "want at least "+DecimalOf(uint64(s.min)).String()+" elements")
	}
	return nil
}

// endOf reports whether the array or object is over, or the text broken.
func (m *Members) endOf(end jsontext.Kind) bool {
	k := m.dec.PeekKind()
	return k == end || k == jsontext.KindInvalid
}

func (m *Members) readStrings(s *slot) *Fault {
	list, f := m.readList(s)
	if f != nil {
		return f
	}
	if s.kind != kindIDList && repeats(list) {
		return m.wrong(s.name, "an element is repeated")
	}
	set(s, list)
	return nil
}

// readList reads an array of strings, each of which it checks.
func (m *Members) readList(s *slot) ([]string, *Fault) {
	if m.dec.PeekKind() != jsontext.KindBeginArray {
		return nil, m.refuse(s.name, "want an array")
	}
	m.dec.ReadToken()
	list := m.scratch[:0]
	for !m.endOf(jsontext.KindEndArray) {
		if s.max > 0 && len(list) == int(s.max) {
			return nil, m.wrong(s.name, "want at most 1000 elements")
		}
		text, ok := m.readString()
		switch {
		case !ok:
			return nil, m.refuse(s.name, "want a string")
		case s.kind == kindEnums && !slices.Contains(s.allowed, text):
			return nil, m.wrong(s.name, "want "+strings.Join(s.allowed, " or "))
		case s.kind != kindEnums && (text == "" || !isShort(text)):
			return nil, m.wrong(s.name, "want 1 to 256 characters")
		}
		list = append(list, text)
	}
	m.scratch = list
	if _, err := m.dec.ReadToken(); err != nil {
		return nil, m.broken(err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	return slices.Clone(list), nil
}

// repeats reports whether two elements are equal.
func repeats(list []string) bool {
	ascending := true
	for i := 1; ascending && i < len(list); i++ {
		ascending = list[i-1] < list[i]
	}
	if ascending {
		return false
	}
	sorted := slices.Sorted(slices.Values(list))
	return len(slices.Compact(sorted)) < len(list)
}

func (m *Members) readVerdicts(s *slot) *Fault {
	var list []Verdict
	f := m.readObject(s.name, func(key string) *Fault {
		text, ok := m.readString()
		if !ok {
			return m.refuse(s.name, "want a string")
		}
		i := slices.Index(s.allowed, text)
		if i < 0 {
			return m.wrong(s.name, "want one of "+strings.Join(s.allowed, ", "))
		}
		list = append(list, Verdict{key, s.allowed[i]})
		return nil
	})
	if f != nil {
		return f
	}
	slices.SortFunc(list, func(a, b Verdict) int { return compareNames(a.Criterion, b.Criterion) })
	for i := 1; i < len(list); i++ {
		if list[i-1].Criterion == list[i].Criterion {
			return m.wrong(s.name, "a name is repeated")
		}
	}
	*s.target.(*[]Verdict) = list
	return nil
}

func (m *Members) readLists(s *slot) *Fault {
	var list []PrincipalList
	f := m.readObject(s.name, func(key string) *Fault {
		if !s.keyOK(key) {
			return m.wrong(s.name, "a name that may not stand here")
		}
		principals, f := m.readList(s)
		list = append(list, PrincipalList{key, principals})
		return f
	})
	if f != nil {
		return f
	}
	slices.SortFunc(list, func(a, b PrincipalList) int { return compareNames(a.Key, b.Key) })
	for i := 1; i < len(list); i++ {
		if list[i-1].Key == list[i].Key {
			return m.wrong(s.name, "a name is repeated")
		}
	}
	set(s, list)
	return nil
}

// readObject reads an object of any members; f reads the value of each.
func (m *Members) readObject(name string, f func(key string) *Fault) *Fault {
	if m.dec.PeekKind() != jsontext.KindBeginObject {
		return m.refuse(name, "want an object")
	}
	m.dec.ReadToken()
	for !m.endOf(jsontext.KindEndObject) {
		key, ok := m.readString()
		if !ok {
			return m.refuse(name, "want a name")
		}
		if fault := f(key); fault != nil {
			return fault
		}
	}
	if _, err := m.dec.ReadToken(); err != nil {
		return m.broken(err)
	}
	return nil
}

// refuse reads the value that comes next, which is not of the kind that the member wants.
func (m *Members) refuse(name, want string) *Fault {
	raw, err := m.dec.ReadValue()
	if err != nil {
		return m.broken(err)
	}
	return m.wrong(name, want+", found "+kindName(raw))
}

// kindName says what a value is.
func kindName(raw []byte) string {
	switch Value(raw[:1]).Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return string(raw) // null, true or false
}

// wrong is the fault of the value just read, which belongs to the named member.
func (m *Members) wrong(name, problem string) *Fault {
	if name == "" {
		return m.fault(problem)
	}
	return m.fault(name + ": " + problem)
}

func (m *Members) fault(message string) *Fault {
	return &Fault{CodeSchemaInvalid, string(m.dec.StackPointer()), message}
}

// at is a fault of a member of the object just read.
func (m *Members) at(name, message string) *Fault {
	return &Fault{CodeSchemaInvalid, string(m.dec.StackPointer().AppendToken(name)), message}
}

func (m *Members) missing(name string) *Fault { return m.at(name, name+" is missing") }

// broken is the fault of a text that is no JSON. checkJSON finds a better one.
func (m *Members) broken(err error) *Fault {
	return &Fault{CodeJSONInvalid, "", err.Error()}
}

// typeOf returns the type of the command in body, or "". Of a body that is no valid JSON it may return anything: that is for
// the decoder to find.
func typeOf(body []byte) string {
	raw := typeMember(body)
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	name, _ := jsontext.AppendUnquote(nil, raw)
	return string(name)
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
			end := stringEnd(body, i)
			value := afterColon(body[end:])
			if depth == 1 && value != nil && isTypeName(body[i:end]) {
				return value[:valueLen(value)]
			}
			i = end - 1
		}
	}
	return nil
}

// afterColon returns what follows a colon and white space, or nil.
func afterColon(text []byte) []byte {
	const space = " \t\r\n"
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

func isTypeName(quoted []byte) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted) == `"type"`
	}
	name, _ := jsontext.AppendUnquote(nil, quoted)
	return string(name) == "type"
}

// typeFault is the fault of a valid JSON text that is no command that we know.
func typeFault(body []byte) *Fault {
	body = bytes.TrimLeft(body, " \t\r\n")
	if body[0] != '{' {
		return &Fault{CodeSchemaInvalid, "", "want an object, found " + kindName(body)}
	}
	message := "type: no command has this type"
	switch raw := typeMember(body); {
	case raw == nil:
		message = "type is missing"
	case raw[0] != '"':
		message = "type: want a string"
	case !utf8.Valid(raw):
		message = "type: not a string"
	}
	return &Fault{CodeSchemaInvalid, "/type", message}
}
