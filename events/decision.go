package events

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Outcome is how a command ended.
type Outcome string

// The three outcomes (RULES 2).
const (
	OutcomeAccepted  Outcome = "accepted"
	OutcomeRejected  Outcome = "rejected"
	OutcomeDuplicate Outcome = "duplicate"
)

var outcomes = []string{string(OutcomeAccepted), string(OutcomeRejected), string(OutcomeDuplicate)}

// Unrouted is the ledger of every refusal that belongs to no open ledger.
const Unrouted = "_unrouted"

// ZeroHash is what the first record of a ledger has as Prev.
var ZeroHash = strings.Repeat("0", 2*sha256.Size)

// MaxRecord bounds an accepted record in canonical form, with prev and hash
// (RULES 2.10), in bytes.
const MaxRecord = 1_000_000

// Decision is the one decision record of a command (RULES 2). Seal completes
// it; afterwards it is not changed.
type Decision struct {
	Contract   string // "" where the subject names no valid one
	CommandSeq uint64
	CommandID  string
	Principal  string
	Type       string
	At         schema.Decimal // the ledger's now, milliseconds
	BodyHash   string         // hex sha256 of the body

	Outcome Outcome
	Code    Code   // rejected only
	Reason  string // rejected only, where a rule names one
	Pointer string // rejected only: RFC 6901, not hashed
	Message string // rejected only: prose, not hashed

	Of        uint64 // duplicate only: the commandSeq that it repeats
	OfOutcome Outcome
	OfCode    Code

	Events []Event // accepted only, never empty

	Prev string // hash of the ledger's record before, or ZeroHash
	Hash string // hex sha256 of the canonical record without hash, message and pointer

	// Unrouted says that the record stands in the chain of the ledger
	// _unrouted, whatever contract it names. It is not part of the record: a
	// reader of a log follows the same rule (see Routed).
	Unrouted bool

	// The canonical record without hash, message and pointer, made by Seal or
	// when it is first asked for, and the places where those three go.
	form              []byte
	hashAt, pointerAt int
	events            schema.Value // of a parsed record, as it stood there
}

// Ledger is the ledger whose chain holds the record.
func (d *Decision) Ledger() string {
	if d.Unrouted {
		return Unrouted
	}
	return d.Contract
}

// Final says whether the answer can never change: a refusal recorded in
// _unrouted may be followed by another decision on the same id (DESIGN 3).
func (d *Decision) Final() bool { return !d.Unrouted }

// Seal chains the record to prev and computes its hash. Afterwards the record
// is not changed.
func (d *Decision) Seal(prev string) {
	d.Prev = prev
	d.build()
	d.Hash = d.hash()
}

// CheckHash says whether the record's hash is that of its content.
func (d *Decision) CheckHash() bool { return d.Hash == d.hash() }

func (d *Decision) hash() string {
	sum := sha256.Sum256(d.canonical())
	return hex.EncodeToString(sum[:])
}

// Size is the length of the record in canonical form, with prev and hash and
// without message and pointer, in bytes.
func (d *Decision) Size() int { return len(d.canonical()) + len(`,"hash":""`) + len(ZeroHash) }

// Append appends the whole record in canonical form.
func (d *Decision) Append(dst []byte) []byte {
	form := d.canonical()
	dst = append(dst, form[:d.hashAt]...)
	dst = appendText(dst, "hash", d.Hash)
	dst = appendText(dst, "message", d.Message)
	dst = append(dst, form[d.hashAt:d.pointerAt]...)
	dst = appendText(dst, "pointer", d.Pointer)
	return append(dst, form[d.pointerAt:]...)
}

// AppendBare appends the record without message and pointer, which are prose
// and are neither hashed nor compared.
func (d *Decision) AppendBare(dst []byte) []byte {
	form := d.canonical()
	dst = append(dst, form[:d.hashAt]...)
	dst = appendText(dst, "hash", d.Hash)
	return append(dst, form[d.hashAt:]...)
}

func (d *Decision) canonical() []byte {
	if d.form == nil {
		d.build()
	}
	return d.form
}

// usualRecord is the size of most records, in bytes.
const usualRecord = 1 << 10

func (d *Decision) build() {
	dst := append(make([]byte, 0, usualRecord), `{"at":"`...)
	dst = d.At.Append(dst)
	dst = append(dst, '"')
	dst = appendText(dst, "bodyHash", d.BodyHash)
	dst = appendText(dst, "code", string(d.Code))
	dst = appendText(dst, "commandId", d.CommandID)
	dst = append(dst, `,"commandSeq":`...)
	dst = strconv.AppendUint(dst, d.CommandSeq, 10)
	dst = appendText(dst, "contract", d.Contract)
	dst = d.appendEvents(dst)
	d.hashAt = len(dst)
	if d.Of != 0 {
		dst = append(dst, `,"of":`...)
		dst = strconv.AppendUint(dst, d.Of, 10)
	}
	dst = appendText(dst, "ofCode", string(d.OfCode))
	dst = appendText(dst, "ofOutcome", string(d.OfOutcome))
	dst = appendText(dst, "outcome", string(d.Outcome))
	d.pointerAt = len(dst)
	dst = appendText(dst, "prev", d.Prev)
	dst = appendText(dst, "principal", d.Principal)
	dst = appendText(dst, "reason", d.Reason)
	dst = appendText(dst, "type", d.Type)
	d.form = append(dst, '}')
}

func (d *Decision) appendEvents(dst []byte) []byte {
	if len(d.Events) == 0 {
		return dst
	}
	dst = append(dst, `,"events":`...)
	if d.events != "" {
		return append(dst, d.events...)
	}
	for i, e := range d.Events {
		separator := byte(',')
		if i == 0 {
			separator = '['
		}
		dst = schema.AppendRecord(append(dst, separator), e)
	}
	return append(dst, ']')
}

// appendText appends a member that is left out when empty.
func appendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return schema.AppendString(dst, value)
}

// decisionReader reads a record; writing is done by append, which leaves out
// members on purpose.
type decisionReader struct {
	Decision
	canonical bool // the events are read with it
	seq, of   int64
}

// Next implements [schema.Variants].
func (r *decisionReader) Next(eventType []byte) schema.Record {
	e := New(string(eventType))
	if e == nil {
		return nil
	}
	if r.Events == nil {
		r.Events = make([]Event, 0, usualEvents)
	}
	r.Events = append(r.Events, e)
	return e
}

// usualEvents is how many events a decision has at the most, usually.
const usualEvents = 2

// Keep implements [schema.Variants].
func (r *decisionReader) Keep(list schema.Value) { r.events = list }

// Members implements [schema.Record].
func (r *decisionReader) Members(m *schema.Members) {
	d := &r.Decision
	m.Sum("at", &d.At)
	m.Hex("bodyHash", &d.BodyHash, len(ZeroHash))
	m.OptText("code", (*string)(&d.Code))
	m.ID("commandId", &d.CommandID)
	m.Int("commandSeq", &r.seq)
	m.OptText("contract", &d.Contract)
	if r.canonical {
		m.OptVariants("events", r)
	} else {
		m.OptRaw("events", &d.events)
	}
	m.Hex("hash", &d.Hash, len(ZeroHash))
	m.OptText("message", &d.Message)
	m.OptInt("of", &r.of)
	m.OptText("ofCode", (*string)(&d.OfCode))
	m.OptText("ofOutcome", (*string)(&d.OfOutcome))
	m.Enum("outcome", (*string)(&d.Outcome), outcomes)
	m.OptText("pointer", &d.Pointer)
	m.Hex("prev", &d.Prev, len(ZeroHash))
	m.OptText("principal", &d.Principal)
	m.OptText("reason", &d.Reason)
	m.OptText("type", &d.Type)
}

// ParseDecision reads a record that Append or AppendBare wrote. An unknown
// event, an unknown or a missing member is an error that names it.
func ParseDecision(raw []byte) (*Decision, error) {
	r := &decisionReader{canonical: true}
	if !schema.DecodeCanonical(raw, r) {
		return parseAny(raw)
	}
	r.CommandSeq, r.Of = uint64(r.seq), uint64(r.of)
	return &r.Decision, nil
}

// parseAny reads a record that is not as Append or AppendBare writes it, or
// says what is wrong with it.
func parseAny(raw []byte) (*Decision, error) {
	r := &decisionReader{}
	if err := schema.DecodeRecord(raw, r); err != nil {
		return nil, fmt.Errorf("decision record: %w", err)
	}
	d := &r.Decision
	d.CommandSeq, d.Of = uint64(r.seq), uint64(r.of)
	if d.events == "" {
		return d, nil
	}
	if d.events.Kind() != '[' {
		return nil, fmt.Errorf("decision record %d: events is not an array", d.CommandSeq)
	}
	for element := range d.events.Elements() {
		e, err := parseEvent(element)
		if err != nil {
			return nil, fmt.Errorf("decision record %d: event %d: %w", d.CommandSeq, len(d.Events)+1, err)
		}
		d.Events = append(d.Events, e)
	}
	return d, nil
}
