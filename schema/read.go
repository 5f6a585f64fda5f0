package schema

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

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
	}
	raw, err := m.dec.ReadValue()
	if err != nil {
		return syntaxFault(err)
	}
	if problem := m.setFrom(s, raw); problem != "" {
		return m.wrong(s.name, problem)
	}
	return nil
}

// setFrom checks and keeps the value of a member. It says what is wrong with it, or "".
func (m *Members) setFrom(s *slot, raw jsontext.Value) (problem string) {
	switch s.kind {
	case kindObject, kindAny:
		return m.setValue(s, raw)
	case kindRaw:
		*s.target.(*Value) = Value(m.cut(raw))
		return ""
	case kindInt:
		return s.setInt(raw)
	case kindBool, kindFlag:
		return s.setBool(raw)
	}
	text, ok := m.unquote(raw)
	if !ok {
		return found("want a string", raw.Kind())
	}
	return s.setString(text)
}

// unquote returns the characters of the value just read, if that is a string.
func (m *Members) unquote(raw jsontext.Value) (string, bool) {
	if raw.Kind() != jsontext.KindString {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') >= 0 {
		plain, _ := jsontext.AppendUnquote(nil, raw)
		return string(plain), true
	}
	s := m.cut(raw)
	return s[1 : len(s)-1], true
}

// cut returns the text of the value just read, without allocating if the whole text is short.
func (m *Members) cut(raw []byte) string {
	if m.text == "" {
		return string(raw)
	}
	end := int(m.dec.InputOffset())
	return m.text[end-len(raw) : end]
}

// set keeps the value of a member, in new memory if the member is optional.
func set[T any](s *slot, v T) {
	if s.optional {
		kept := v // only this one goes to the heap
		*s.target.(**T) = &kept
		return
	}
	*s.target.(*T) = v
}

// setString checks and keeps the text of a member that is a string on the wire. It says what is wrong with it, or "".
func (s *slot) setString(text string) (problem string) {
	switch s.kind {
	case kindID:
		if text == "" || !isShort(text) {
			return wantID
		}
	case kindText:
		if text == "" && s.optional {
			return "an empty text is to be left out"
		}
	case kindHex:
		if len(text) != int(s.max) || !isLowerHex(text) {
			return "want " + count(s.max) + " lower-case hexadecimal digits"
		}
	case kindEnum:
		i := slices.Index(s.allowed, text)
		if i < 0 {
			return wantOneOf(s.allowed)
		}
		text = s.allowed[i]
	case kindConst:
		if text != s.word {
			return "want " + s.word
		}
		return ""
	case kindDecimal, kindSum:
		return s.setDecimal(text)
	}
	*s.target.(*string) = text
	return ""
}

func (s *slot) setDecimal(text string) (problem string) {
	if s.kind == kindDecimal && len(text) > maxDigits {
		return "want at most 100 digits"
	}
	d, err := ParseDecimal(text)
	if err != nil {
		return "want 0 or digits without a leading zero"
	}
	set(s, d)
	return ""
}

func (s *slot) setInt(raw jsontext.Value) (problem string) {
	const want = "want an integer from 0 to 9007199254740991"
	if raw.Kind() != jsontext.KindNumber {
		return found(want, raw.Kind())
	}
	n, ok := safeInteger(string(raw))
	if !ok || raw[0] == '-' {
		return want
	}
	if n == 0 && s.optional {
		return "a zero is to be left out"
	}
	*s.target.(*int64) = n
	return ""
}

func (s *slot) setBool(raw jsontext.Value) (problem string) {
	k := raw.Kind()
	if k != jsontext.KindTrue && k != jsontext.KindFalse {
		return found("want true or false", k)
	}
	if s.kind == kindBool {
		set(s, k == jsontext.KindTrue)
		return ""
	}
	if k == jsontext.KindFalse {
		return "false is to be left out"
	}
	*s.target.(*bool) = true
	return ""
}

// setValue keeps the canonical text of any value.
func (m *Members) setValue(s *slot, raw jsontext.Value) (problem string) {
	if s.kind == kindObject && raw.Kind() != jsontext.KindBeginObject {
		return found("want an object", raw.Kind())
	}
	if isCanonical(raw, m.dec.StackDepth(), m.numbers) {
		*s.target.(*Value) = Value(m.cut(raw))
		return ""
	}
	text, err := canonical(raw, m.numbers)
	if err != nil || !isCanonical(text, m.dec.StackDepth(), anyNumbers) {
		return "no valid JSON" // checkJSON says why
	}
	*s.target.(*Value) = Value(text)
	return ""
}

func (m *Members) readNested(s *slot) *Fault {
	if r, ok := s.target.(Record); ok {
		return m.readRecord(s.name, r)
	}
	return m.readRecord(s.name, s.target.(optional).record())
}

func (m *Members) readRecords(s *slot) *Fault {
	if f := m.open(s.name, jsontext.KindBeginArray); f != nil {
		return f
	}
	list := s.target.(records)
	list.clear()
	for m.more(jsontext.KindEndArray) {
		if list.len() == int(s.max) {
			return m.tooMany(s)
		}
		if f := m.readRecord(s.name, list.grow()); f != nil {
			return f
		}
	}
	if f := m.shut(); f != nil {
		return f
	}
	if list.len() < int(s.min) {
		return m.wrong(s.name, "want at least "+count(s.min)+" elements")
	}
	return nil
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

// readList reads an array of strings and checks each of them.
func (m *Members) readList(s *slot) ([]string, *Fault) {
	if f := m.open(s.name, jsontext.KindBeginArray); f != nil {
		return nil, f
	}
	list := m.scratch[:0]
	for m.more(jsontext.KindEndArray) {
		raw, err := m.dec.ReadValue()
		if err != nil {
			return nil, syntaxFault(err)
		}
		text, ok := m.unquote(raw)
		switch {
		case s.max > 0 && len(list) == int(s.max):
			return nil, m.tooMany(s)
		case !ok:
			return nil, m.wrong(s.name, found("want strings", raw.Kind()))
		}
		if problem := s.wrongElement(text); problem != "" {
			return nil, m.wrong(s.name, problem)
		}
		list = append(list, text)
	}
	m.scratch = list
	if f := m.shut(); f != nil || len(list) == 0 {
		return nil, f
	}
	return slices.Clone(list), nil
}

// wrongElement says what is wrong with an element of a list of strings, or "".
func (s *slot) wrongElement(text string) (problem string) {
	switch {
	case s.kind == kindEnums && !slices.Contains(s.allowed, text):
		return wantOneOf(s.allowed)
	case s.kind != kindEnums && (text == "" || !isShort(text)):
		return wantID
	}
	return ""
}

// tooMany is the fault of a list, one of whose elements has just been read.
func (m *Members) tooMany(s *slot) *Fault {
	return newFault(CodeSchemaInvalid, m.dec.StackPointer().Parent(), s.name+": want at most "+count(s.max)+" elements")
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
		raw, err := m.dec.ReadValue()
		if err != nil {
			return syntaxFault(err)
		}
		text, _ := m.unquote(raw)
		i := slices.Index(s.allowed, text)
		if i < 0 {
			return m.wrong(s.name, wantOneOf(s.allowed))
		}
		list = append(list, Verdict{key, s.allowed[i]})
		return nil
	})
	if f != nil {
		return f
	}
	if !sortNames(list, func(v Verdict) string { return v.Criterion }) {
		return m.wrong(s.name, "a name is repeated")
	}
	set(s, list)
	return nil
}

func (m *Members) readLists(s *slot) *Fault {
	var list []PrincipalList
	f := m.readObject(s.name, func(key string) *Fault {
		if !s.keyOK(key) {
			return m.wrong(s.name, "this name may not stand here")
		}
		principals, f := m.readList(s)
		list = append(list, PrincipalList{key, principals})
		return f
	})
	if f != nil {
		return f
	}
	if !sortNames(list, func(l PrincipalList) string { return l.Key }) {
		return m.wrong(s.name, "a name is repeated")
	}
	set(s, list)
	return nil
}

// readObject reads an object of any members; read reads the value of each.
func (m *Members) readObject(name string, read func(key string) *Fault) *Fault {
	if f := m.open(name, jsontext.KindBeginObject); f != nil {
		return f
	}
	for m.more(jsontext.KindEndObject) {
		raw, err := m.dec.ReadValue()
		if err != nil {
			return syntaxFault(err)
		}
		key, _ := m.unquote(raw)
		if f := read(key); f != nil {
			return f
		}
	}
	return m.shut()
}

// sortNames puts the members of an object in canonical order. It answers false where a name is repeated.
func sortNames[T any](list []T, name func(T) string) bool {
	slices.SortFunc(list, func(a, b T) int { return compareNames(name(a), name(b)) })
	for i := 1; i < len(list); i++ {
		if name(list[i-1]) == name(list[i]) {
			return false
		}
	}
	return true
}

func isLowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

const wantID = "want 1 to 256 characters"

func wantOneOf(allowed []string) string { return "want one of " + strings.Join(allowed, ", ") }

func count(n int32) string { return DecimalOf(uint64(n)).String() }
