package schema

import "slices"

// A text that we wrote, and a body as our clients make it, is canonical: its members come in the order in which a Record
// lists them. Such a text is taken here in one pass, in step with that list, and nothing of the list is kept. Whatever is not
// exactly so stops the taking without a word: the reader of any JSON (decode.go) then says what the text is. What is taken
// here, that reader takes too, with the same values; FuzzDecodeCanonical holds both to it.

// DecodeCanonical reads a record of a known kind into r, which must be empty. It answers false where raw is not the canonical
// form of such a record; r is dropped then, and DecodeRecord says why.
func DecodeCanonical(raw []byte, r Record) bool {
	m := borrow()
	defer giveBack(m)
	m.share(raw)
	return m.takeAll(raw, r, anyNumbers)
}

// takeAll takes a whole text, which m shares.
func (m *Members) takeAll(raw []byte, r Record, n numbers) bool {
	m.mode, m.stopped = taking, false
	m.scan = scanner{text: raw, numbers: n}
	ok := m.takeRecord(r) && m.scan.at == len(raw)
	m.mode, m.scan = reading, scanner{}
	return ok
}

// takeRecord takes an object with the members that r lists.
func (m *Members) takeRecord(r Record) bool {
	if !m.scan.skip('{') {
		return false
	}
	m.scan.depth++
	r.Members(m)
	m.scan.depth--
	if m.stopped || !m.scan.skip('}') {
		return false
	}
	c, ok := r.(checked)
	if !ok {
		return true
	}
	_, problem := c.check()
	return problem == ""
}

// take takes a member if it comes next. One that must be there and is not stops the taking.
func (m *Members) take(s *slot) {
	switch {
	case m.stopped:
	case m.scan.name(s.name):
		m.stopped = !m.takeValue(s)
	case !s.optional:
		m.stopped = true
	}
}

func (m *Members) takeValue(s *slot) bool {
	switch s.kind {
	case kindIDs, kindIDList, kindEnums:
		return m.takeStrings(s)
	case kindVerdicts:
		return m.takeVerdicts(s)
	case kindLists:
		return m.takeLists(s)
	case kindRecord:
		return m.takeNested(s)
	case kindRecords:
		return m.takeRecords(s)
	case kindVariants:
		return m.takeVariants(s)
	case kindConst:
		word, ok := m.scan.str()
		return ok && string(word) == s.word
	case kindEnum:
		word, ok := m.takeWord(s.allowed)
		*s.target.(*string) = word
		return ok
	case kindObject, kindAny, kindRaw, kindInt, kindBool, kindFlag:
		return m.takePlain(s)
	}
	text, ok := m.takeText()
	return ok && s.setString(text) == ""
}

// takePlain takes a value that is checked by its text.
func (m *Members) takePlain(s *slot) bool {
	from := m.scan.at
	if !m.scan.value() {
		return false
	}
	raw := m.scan.text[from:m.scan.at]
	switch s.kind {
	case kindInt:
		return s.setInt(raw) == ""
	case kindBool, kindFlag:
		return s.setBool(raw) == ""
	case kindObject:
		if raw[0] != '{' {
			return false
		}
	}
	*s.target.(*Value) = Value(m.part(from, m.scan.at))
	return true
}

// part returns a part of the text, without allocating if the text is short.
func (m *Members) part(from, to int) string {
	if m.text == "" {
		return string(m.scan.text[from:to])
	}
	return m.text[from:to]
}

// takeText takes a string and returns its characters.
func (m *Members) takeText() (string, bool) {
	from := m.scan.at
	escaped, ok := m.scan.quoted()
	switch {
	case !ok:
		return "", false
	case escaped:
		plain, err := Unquote(nil, m.scan.text[from:m.scan.at])
		return string(plain), err == nil
	}
	return m.part(from+1, m.scan.at-1), true
}

// takeWord takes one of the allowed strings.
func (m *Members) takeWord(allowed []string) (string, bool) {
	word, ok := m.scan.str()
	if !ok {
		return "", false
	}
	for _, a := range allowed {
		if a == string(word) {
			return a, true
		}
	}
	return "", false
}

// takeArray takes an array; each takes one element.
func (m *Members) takeArray(each func() bool) bool {
	if !m.scan.skip('[') {
		return false
	}
	m.scan.depth++
	defer func() { m.scan.depth-- }()
	if m.scan.skip(']') {
		return true
	}
	for each() {
		if m.scan.skip(']') {
			return true
		}
		if !m.scan.skip(',') {
			return false
		}
	}
	return false
}

// takeObject takes an object of any members; each takes the value of one.
func (m *Members) takeObject(each func(name string) bool) bool {
	if !m.scan.skip('{') {
		return false
	}
	m.scan.depth++
	defer func() { m.scan.depth-- }()
	if m.scan.skip('}') {
		return true
	}
	for last, first := "", true; ; first = false {
		name, ok := m.takeText()
		if !ok || !first && compareNames(last, name) >= 0 || !m.scan.skip(':') || !each(name) {
			return false
		}
		if m.scan.skip('}') {
			return true
		}
		if !m.scan.skip(',') {
			return false
		}
		last = name
	}
}

func (m *Members) takeStrings(s *slot) bool {
	list, ok := m.takeList(s)
	if !ok || s.kind != kindIDList && repeats(list) {
		return false
	}
	set(s, list)
	return true
}

func (m *Members) takeList(s *slot) ([]string, bool) {
	list := m.scratch[:0]
	ok := m.takeArray(func() bool {
		text, ok := m.takeText()
		list = append(list, text)
		return ok && s.wrongElement(text) == "" && (s.max == 0 || len(list) <= int(s.max))
	})
	m.scratch = list
	if !ok || len(list) == 0 {
		return nil, ok
	}
	return slices.Clone(list), true
}

func (m *Members) takeVerdicts(s *slot) bool {
	var list []Verdict
	ok := m.takeObject(func(name string) bool {
		result, ok := m.takeWord(s.allowed)
		list = append(list, Verdict{name, result})
		return ok
	})
	set(s, list)
	return ok
}

func (m *Members) takeLists(s *slot) bool {
	var list []PrincipalList
	ok := m.takeObject(func(name string) bool {
		principals, ok := m.takeList(s)
		list = append(list, PrincipalList{name, principals})
		return ok && s.keyOK(name)
	})
	set(s, list)
	return ok
}

func (m *Members) takeNested(s *slot) bool {
	if r, ok := s.target.(Record); ok {
		return m.takeRecord(r)
	}
	return m.takeRecord(s.target.(optional).record())
}

func (m *Members) takeRecords(s *slot) bool {
	list := s.target.(records)
	list.clear()
	ok := m.takeArray(func() bool { return list.len() < int(s.max) && m.takeRecord(list.grow()) })
	return ok && list.len() >= int(s.min)
}

func (m *Members) takeVariants(s *slot) bool {
	v, from := s.target.(Variants), m.scan.at
	ok := m.takeArray(func() bool {
		r := v.Next(firstType(m.scan.text[m.scan.at:]))
		return r != nil && m.takeRecord(r)
	})
	if ok {
		v.Keep(Value(m.part(from, m.scan.at)))
	}
	return ok
}

// firstType returns the member "type" of the object that a text begins with. Where there is none it may be anything: the
// record of that type then does not find it either.
func firstType(text []byte) []byte {
	raw := typeMember(text)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}
