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

	events []byte // canonical form of Events, kept from Seal or parsing
	size   int    // see Size
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

// Seal chains the record to prev and computes its hash.
func (d *Decision) Seal(prev string) {
	d.Prev = prev
	d.events = appendEvents(nil, d.Events)
	d.Hash = d.hash()
}

func (d *Decision) hash() string {
	var scratch [1024]byte
	record := d.append(scratch[:0], false, false)
	d.size = len(record) + len(`,"hash":""`) + len(ZeroHash)
	sum := sha256.Sum256(record)
	return hex.EncodeToString(sum[:])
}

// Size is the length of the sealed record in canonical form, with prev and hash
// and without message and pointer, in bytes.
func (d *Decision) Size() int { return d.size }

// Append appends the whole record in canonical form.
func (d *Decision) Append(dst []byte) []byte { return d.append(dst, true, true) }

// AppendBare appends the record without message and pointer, which are prose
// and are neither hashed nor compared.
func (d *Decision) AppendBare(dst []byte) []byte { return d.append(dst, true, false) }

func (d *Decision) append(dst []byte, hash, prose bool) []byte {
	dst = append(dst, `{"at":"`...)
	dst = d.At.Append(dst)
	dst = append(dst, '"')
	dst = appendText(dst, "bodyHash", d.BodyHash)
	dst = appendText(dst, "code", string(d.Code))
	dst = appendText(dst, "commandId", d.CommandID)
	dst = append(dst, `,"commandSeq":`...)
	dst = strconv.AppendUint(dst, d.CommandSeq, 10)
	dst = appendText(dst, "contract", d.Contract)
	if len(d.Events) > 0 {
		dst = append(append(dst, `,"events":`...), d.events...)
	}
	if hash {
		dst = appendText(dst, "hash", d.Hash)
	}
	if prose {
		dst = appendText(dst, "message", d.Message)
	}
	if d.Of != 0 {
		dst = append(dst, `,"of":`...)
		dst = strconv.AppendUint(dst, d.Of, 10)
	}
	dst = appendText(dst, "ofCode", string(d.OfCode))
	dst = appendText(dst, "ofOutcome", string(d.OfOutcome))
	dst = appendText(dst, "outcome", string(d.Outcome))
	if prose {
		dst = appendText(dst, "pointer", d.Pointer)
	}
	dst = appendText(dst, "prev", d.Prev)
	dst = appendText(dst, "principal", d.Principal)
	dst = appendText(dst, "reason", d.Reason)
	dst = appendText(dst, "type", d.Type)
	return append(dst, '}')
}

// appendText appends a member that is left out when empty.
func appendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return schema.AppendString(dst, value)
}

func appendEvents(dst []byte, events []Event) []byte {
	dst = append(dst, '[')
	for i, e := range events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = schema.AppendRecord(dst, e)
	}
	return append(dst, ']')
}

// decisionReader reads a record; writing is done by append, which leaves out
// members on purpose.
type decisionReader struct {
	*Decision
	events  schema.Value
	seq, of int64
}

// Members implements [schema.Record].
func (r *decisionReader) Members(m *schema.Members) {
	d := r.Decision
	m.Sum("at", &d.At)
	m.Text("bodyHash", &d.BodyHash)
	m.OptText("code", (*string)(&d.Code))
	m.Text("commandId", &d.CommandID)
	m.Int("commandSeq", &r.seq)
	m.OptText("contract", &d.Contract)
	m.OptAny("events", &r.events)
	m.Text("hash", &d.Hash)
	m.OptText("message", &d.Message)
	m.OptInt("of", &r.of)
	m.OptText("ofCode", (*string)(&d.OfCode))
	m.OptText("ofOutcome", (*string)(&d.OfOutcome))
	m.Text("outcome", (*string)(&d.Outcome))
	m.OptText("pointer", &d.Pointer)
	m.Text("prev", &d.Prev)
	m.OptText("principal", &d.Principal)
	m.OptText("reason", &d.Reason)
	m.OptText("type", &d.Type)
}

// ParseDecision reads a record that Append or AppendBare wrote. An unknown
// event, an unknown or a missing member is an error that names it.
func ParseDecision(raw []byte) (*Decision, error) {
	r := decisionReader{Decision: &Decision{}}
	if err := schema.DecodeRecord(raw, &r); err != nil {
		return nil, fmt.Errorf("decision record: %w", err)
	}
	d := r.Decision
	d.CommandSeq, d.Of = uint64(r.seq), uint64(r.of)
	if r.events == "" {
		return d, nil
	}
	if r.events.Kind() != '[' {
		return nil, fmt.Errorf("decision record %d: events is not an array", d.CommandSeq)
	}
	d.events = []byte(r.events)
	for element := range r.events.Elements() {
		e, err := parseEvent(element)
		if err != nil {
			return nil, fmt.Errorf("decision record %d: event %d: %w", d.CommandSeq, len(d.Events)+1, err)
		}
		d.Events = append(d.Events, e)
	}
	return d, nil
}

// CheckHash says whether the record's hash is that of its content.
func (d *Decision) CheckHash() bool { return d.Hash == d.hash() }
