package schema

// AppendRecord appends r as canonical JSON. What it writes is valid under the schema if the values of r are.
func AppendRecord(dst []byte, r Record) []byte {
	m := borrow()
	m.mode = writing
	m.dst = dst
	m.writeRecord(r)
	dst, m.dst = m.dst, nil
	m.mode = reading
	giveBack(m)
	return dst
}

func (m *Members) writeRecord(r Record) {
	m.dst = append(m.dst, '{')
	r.Members(m)
	m.dst = append(m.dst, '}')
}

// write appends a member unless it is absent.
func (m *Members) write(s *slot) {
	switch s.kind {
	case kindID, kindText, kindHex, kindEnum:
		if p := s.target.(*string); !s.optional || *p != "" {
			m.writeName(s.name)
			m.writeString(*p)
		}
	case kindConst:
		m.writeName(s.name)
		m.writeString(s.word)
	case kindDecimal, kindSum:
		if p := value[Decimal](s); p != nil {
			m.writeName(s.name)
			m.dst = append(m.dst, '"')
			m.dst = append(p.Append(m.dst), '"')
		}
	case kindInt:
		if p := s.target.(*int64); !s.optional || *p != 0 {
			m.writeName(s.name)
			m.dst = DecimalOf(uint64(*p)).Append(m.dst)
		}
	case kindBool:
		if p := value[bool](s); p != nil {
			m.writeName(s.name)
			m.writeBool(*p)
		}
	case kindFlag:
		if *s.target.(*bool) {
			m.writeName(s.name)
			m.writeBool(true)
		}
	case kindObject, kindAny, kindRaw:
		if p := s.target.(*Value); !s.optional || *p != "" {
			m.writeName(s.name)
			m.dst = append(m.dst, *p...)
		}
	case kindIDs, kindIDList, kindEnums:
		if p := value[[]string](s); p != nil {
			m.writeName(s.name)
			m.writeStrings(*p)
		}
	case kindVerdicts:
		m.writeName(s.name)
		m.writeVerdicts(*s.target.(*[]Verdict))
	case kindLists:
		if p := value[[]PrincipalList](s); p != nil {
			m.writeName(s.name)
			m.writeLists(*p)
		}
	case kindRecord:
		m.writeNested(s)
	case kindRecords:
		m.writeName(s.name)
		m.writeRecords(s.target.(records))
	}
}

// value returns a slot's value, or nil where it is absent. Required members have a pointer to it, optional ones a pointer to
// that.
func value[T any](s *slot) *T {
	if s.optional {
		return *s.target.(**T)
	}
	return s.target.(*T)
}

func (m *Members) writeName(name string) {
	if m.dst[len(m.dst)-1] != '{' {
		m.dst = append(m.dst, ',')
	}
	m.dst = append(m.dst, '"')
	m.dst = append(m.dst, name...)
	m.dst = append(m.dst, '"', ':')
}

func (m *Members) writeString(s string) { m.dst = AppendString(m.dst, s) }

func (m *Members) writeBool(b bool) {
	if b {
		m.dst = append(m.dst, "true"...)
	} else {
		m.dst = append(m.dst, "false"...)
	}
}

func (m *Members) writeStrings(list []string) {
	m.dst = append(m.dst, '[')
	for i, s := range list {
		m.writeComma(i)
		m.writeString(s)
	}
	m.dst = append(m.dst, ']')
}

func (m *Members) writeVerdicts(list []Verdict) {
	m.dst = append(m.dst, '{')
	for i, v := range list {
		m.writeComma(i)
		m.writeString(v.Criterion)
		m.dst = append(m.dst, ':')
		m.writeString(v.Result)
	}
	m.dst = append(m.dst, '}')
}

func (m *Members) writeLists(list []PrincipalList) {
	m.dst = append(m.dst, '{')
	for i, l := range list {
		m.writeComma(i)
		m.writeString(l.Key)
		m.dst = append(m.dst, ':')
		m.writeStrings(l.Principals)
	}
	m.dst = append(m.dst, '}')
}

func (m *Members) writeNested(s *slot) {
	r, always := s.target.(Record)
	if !always {
		o := s.target.(optional)
		if o.absent() {
			return
		}
		r = o.record()
	}
	m.writeName(s.name)
	m.writeRecord(r)
}

func (m *Members) writeRecords(list records) {
	m.dst = append(m.dst, '[')
	for i := range list.len() {
		m.writeComma(i)
		m.writeRecord(list.at(i))
	}
	m.dst = append(m.dst, ']')
}

func (m *Members) writeComma(i int) {
	if i > 0 {
		m.dst = append(m.dst, ',')
	}
}
