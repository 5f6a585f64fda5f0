package schema

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Record is a JSON object of known members, on the wire or in our log.
//
// Members calls one method of m for each member, in canonical order (names sorted by UTF-16 code units), and nothing else.
// That list is the whole description of the record. It serves to write the record as canonical JSON and to read it strictly:
// members in any order, names exact, none unknown, none repeated, none missing, every bound checked.
type Record interface{ Members(m *Members) }

// Members takes a Record's list of members. Its methods are named after what the member holds. Those that begin with Opt are
// for members that may be left out: the zero value, or a nil pointer, is an absent member, and an absent member is not
// written. Lists are nil where they are empty.
type Members struct {
	mode mode
	dst  []byte // written so far

	text    string   // what is read; strings are cut from it. "" for a long text, from which they are copied
	scratch []string // a list being read

	slots   []slot // declared members of the records being read, the innermost record's last
	dec     jsontext.Decoder
	buf     bytes.Buffer // what dec reads
	numbers numbers

	scan    scanner // of a text being taken
	stopped bool    // the text is not what is taken
}

// mode is what declaring a member does.
type mode uint8

const (
	reading mode = iota // keep it for the reader of any JSON
	taking              // take it from canonical text
	writing             // write it
)

// slot is one declared member: what it may hold and where that is kept.
type slot struct {
	name     string
	kind     kind
	optional bool
	seen     bool
	min, max int32             // list: number of elements, hex: max characters
	target   any               // a pointer to the value, or for records a nested or a list
	word     string            // constant: the only value
	allowed  []string          // enum
	keyOK    func(string) bool // lists
}

// kind is what a member may hold.
type kind uint8

const (
	kindID kind = iota
	kindText
	kindHex
	kindEnum
	kindConst
	kindDecimal
	kindSum
	kindInt
	kindBool
	kindFlag
	kindIDs
	kindIDList
	kindEnums
	kindObject
	kindAny
	kindRaw
	kindVerdicts
	kindLists
	kindRecord
	kindRecords
	kindVariants
)

// Verdict is the result of one criterion: PASS, FAIL or INCONCLUSIVE.
type Verdict struct{ Criterion, Result string }

// PrincipalList is a list of principals under a key.
type PrincipalList struct {
	Key        string
	Principals []string
}

// declare deals with one member as the mode has it.
func (m *Members) declare(s slot) {
	switch m.mode {
	case taking:
		m.take(&s)
	case writing:
		m.write(&s)
	default:
		m.slots = append(m.slots, s)
	}
}

// ID is a string of 1 to 256 code points.
func (m *Members) ID(name string, p *string) { m.declare(slot{name: name, kind: kindID, target: p}) }

// OptID is an ID or "".
func (m *Members) OptID(name string, p *string) {
	m.declare(slot{name: name, kind: kindID, optional: true, target: p})
}

// Text is any string.
func (m *Members) Text(name string, p *string) {
	m.declare(slot{name: name, kind: kindText, target: p})
}

// OptText is any string but the empty one, which is an absent member.
func (m *Members) OptText(name string, p *string) {
	m.declare(slot{name: name, kind: kindText, optional: true, target: p})
}

// Hex is a string of n lower-case hexadecimal digits.
func (m *Members) Hex(name string, p *string, n int) {
	m.declare(slot{name: name, kind: kindHex, max: int32(n), target: p})
}

// OptHex is a Hex or "".
func (m *Members) OptHex(name string, p *string, n int) {
	m.declare(slot{name: name, kind: kindHex, optional: true, max: int32(n), target: p})
}

// Enum is one of the allowed strings.
func (m *Members) Enum(name string, p *string, allowed []string) {
	m.declare(slot{name: name, kind: kindEnum, target: p, allowed: allowed})
}

// OptEnum is one of the allowed strings or "".
func (m *Members) OptEnum(name string, p *string, allowed []string) {
	m.declare(slot{name: name, kind: kindEnum, optional: true, target: p, allowed: allowed})
}

// Const is a string that is always the same.
func (m *Members) Const(name, value string) {
	m.declare(slot{name: name, kind: kindConst, word: value})
}

// Decimal is a decimal string of up to 100 digits.
func (m *Members) Decimal(name string, p *Decimal) {
	m.declare(slot{name: name, kind: kindDecimal, target: p})
}

// OptDecimal is a Decimal or nil.
func (m *Members) OptDecimal(name string, p **Decimal) {
	m.declare(slot{name: name, kind: kindDecimal, optional: true, target: p})
}

// Sum is a decimal string of any length: sums of Decimals may outgrow 100 digits. Only our own records have them.
func (m *Members) Sum(name string, p *Decimal) {
	m.declare(slot{name: name, kind: kindSum, target: p})
}

// OptSum is a Sum or nil.
func (m *Members) OptSum(name string, p **Decimal) {
	m.declare(slot{name: name, kind: kindSum, optional: true, target: p})
}

// Int is a JSON integer from 0 to 2^53-1 without fraction and exponent. Only our own records have them.
func (m *Members) Int(name string, p *int64) { m.declare(slot{name: name, kind: kindInt, target: p}) }

// OptInt is an Int that is absent where it is 0.
func (m *Members) OptInt(name string, p *int64) {
	m.declare(slot{name: name, kind: kindInt, optional: true, target: p})
}

// Bool is true or false.
func (m *Members) Bool(name string, p *bool) { m.declare(slot{name: name, kind: kindBool, target: p}) }

// OptBool is true, false or nil.
func (m *Members) OptBool(name string, p **bool) {
	m.declare(slot{name: name, kind: kindBool, optional: true, target: p})
}

// Flag is true, or absent where it is false.
func (m *Members) Flag(name string, p *bool) {
	m.declare(slot{name: name, kind: kindFlag, optional: true, target: p})
}

// IDs is a list of at most 1000 ids, all different.
func (m *Members) IDs(name string, p *[]string) {
	m.declare(slot{name: name, kind: kindIDs, max: maxItems, target: p})
}

// IDList is a list of ids of any length, in which ids may repeat.
func (m *Members) IDList(name string, p *[]string) {
	m.declare(slot{name: name, kind: kindIDList, target: p})
}

// OptIDList is an IDList or nil.
func (m *Members) OptIDList(name string, p **[]string) {
	m.declare(slot{name: name, kind: kindIDList, optional: true, target: p})
}

// Enums is a list of allowed strings, all different.
func (m *Members) Enums(name string, p *[]string, allowed []string) {
	m.declare(slot{name: name, kind: kindEnums, target: p, allowed: allowed})
}

// Object is any JSON object.
func (m *Members) Object(name string, p *Value) {
	m.declare(slot{name: name, kind: kindObject, target: p})
}

// OptObject is any JSON object or "".
func (m *Members) OptObject(name string, p *Value) {
	m.declare(slot{name: name, kind: kindObject, optional: true, target: p})
}

// Any is any JSON value, null included.
func (m *Members) Any(name string, p *Value) { m.declare(slot{name: name, kind: kindAny, target: p}) }

// OptAny is any JSON value, null included, or "".
func (m *Members) OptAny(name string, p *Value) {
	m.declare(slot{name: name, kind: kindAny, optional: true, target: p})
}

// OptRaw is any value, taken as it stands: for text of our own that is known to be canonical.
func (m *Members) OptRaw(name string, p *Value) {
	m.declare(slot{name: name, kind: kindRaw, optional: true, target: p})
}

// Verdicts is an object whose members, of any name, are PASS, FAIL or INCONCLUSIVE. The slice is in canonical order.
func (m *Members) Verdicts(name string, p *[]Verdict) {
	m.declare(slot{name: name, kind: kindVerdicts, target: p, allowed: Results})
}

// Lists is an object whose members, of names that keyOK admits, are lists as IDList reads them. The slice is in canonical
// order.
func (m *Members) Lists(name string, p *[]PrincipalList, keyOK func(string) bool) {
	m.declare(slot{name: name, kind: kindLists, target: p, keyOK: keyOK})
}

// OptLists is Lists or nil.
func (m *Members) OptLists(name string, p **[]PrincipalList, keyOK func(string) bool) {
	m.declare(slot{name: name, kind: kindLists, optional: true, target: p, keyOK: keyOK})
}

// Record is a nested object.
func (m *Members) Record(name string, r Record) {
	m.declare(slot{name: name, kind: kindRecord, target: r})
}

// OptRecord is a nested object or nil.
func OptRecord[T any, P interface {
	*T
	Record
}](m *Members, name string, p **T) {
	m.declare(slot{name: name, kind: kindRecord, optional: true, target: nested[T, P]{p}})
}

// Records is a list of min to max objects.
func Records[T any, P interface {
	*T
	Record
}](m *Members, name string, p *[]T, min, max int) {
	m.declare(slot{name: name, kind: kindRecords, min: int32(min), max: int32(max), target: list[T, P]{p}})
}

// OptVariants is a list of objects of several kinds, each with a member "type", that may be left out. Only [DecodeCanonical]
// reads it.
func (m *Members) OptVariants(name string, v Variants) {
	m.declare(slot{name: name, kind: kindVariants, optional: true, target: v})
}

// Variants takes what a list of objects of several kinds holds.
type Variants interface {
	// Next returns an empty record for the next object, whose type that is, or nil where there is no such type.
	Next(objectType []byte) Record
	// Keep gets the text of the whole list, once all of it is read.
	Keep(list Value)
}

// nested is the target of OptRecord.
type nested[T any, P interface {
	*T
	Record
}] struct{ p **T }

func (n nested[T, P]) absent() bool { return *n.p == nil }

// record returns the object, making it if it is absent.
func (n nested[T, P]) record() Record {
	if *n.p == nil {
		*n.p = new(T)
	}
	return P(*n.p)
}

// list is the target of Records.
type list[T any, P interface {
	*T
	Record
}] struct{ p *[]T }

func (l list[T, P]) len() int        { return len(*l.p) }
func (l list[T, P]) at(i int) Record { return P(&(*l.p)[i]) }
func (l list[T, P]) clear()          { *l.p = nil }

// grow appends an empty object and returns it.
func (l list[T, P]) grow() Record {
	var zero T
	*l.p = append(*l.p, zero)
	return l.at(l.len() - 1)
}

// optional and records are what write and read see of nested and list.
type (
	optional interface {
		absent() bool
		record() Record
	}
	records interface {
		len() int
		at(i int) Record
		clear()
		grow() Record
	}
)
