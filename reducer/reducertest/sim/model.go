package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math/bits"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// model is what the checker makes of the log, block by block.
type model struct {
	w          *world
	lastSeq    uint64
	lastHash   string // of the last block
	generation string // of the last block
	entries    map[uint64]*entry
	first      map[idKey]*entry
	heads      map[string]string // last record hash of each ledger
	opened     map[string]bool
	dispatch   map[string]uint64

	again *reducer.Reducer // decides everything a second time
	state *state.State
	rows  *state.MemoryRows
	sum   rowSum
	sums  []rowSum // after each block; the first is of no block
}

type idKey struct{ contract, principal, id string }

// entry is one decision on the log.
type entry struct {
	seq       uint64
	contract  string
	principal string
	id        string
	bodyHash  string
	outcome   string
	code      string
	unrouted  bool
	record    []byte
	message   events.Message
}

func newModel(w *world) *model {
	rows := state.NewMemory()
	return &model{
		w: w, lastHash: events.ZeroHash, entries: map[uint64]*entry{}, first: map[idKey]*entry{}, heads: map[string]string{},
		opened: map[string]bool{}, dispatch: map[string]uint64{},
		again: reducer.New(), state: state.New(rows, state.Cursor{}, 0), rows: rows, sums: []rowSum{{}},
	}
}

// append checks a block and takes it in.
func (m *model) append(block []byte) {
	h, hash, whole := readHeader(block)
	seq := len(m.sums)
	lines := strings.Split(strings.TrimSuffix(string(block), "\n"), "\n")[1:]
	switch {
	case !whole:
		m.w.violated("block", "block %d is not whole", seq)
	case h.PrevBlockHash != m.lastHash:
		m.w.violated("block", "block %d of %s is not chained to the block before it", seq, h.Writer)
	case h.Generation < m.generation:
		m.w.violated("block", "block %d is of generation %s, the block before it of %s", seq, h.Generation, m.generation)
	case len(lines) != 2*h.Commands || h.Commands == 0:
		m.w.violated("block", "block %d has %d lines for %d commands", seq, len(lines), h.Commands)
	case h.First <= m.lastSeq:
		m.w.violated("block", "block %d decides command %d again", seq, h.First)
	}
	for i := 0; i+1 < len(lines) && !m.w.isBroken(); i += 2 {
		m.add(lines[i], lines[i+1])
	}
	if m.lastSeq != h.Last {
		m.w.violated("block", "block %d ends with command %d, its header says %d", seq, m.lastSeq, h.Last)
	}
	m.lastHash, m.generation = hash, h.Generation
	m.fold(uint64(seq), h.StateHash)
}

// fold moves the second state on and compares it with the block.
func (m *model) fold(seq uint64, stateHash string) {
	changes := m.state.Take(seq)
	for i := range changes {
		old, _ := m.rows.Get(changes[i].Key) // memory has no errors
		m.sum.replace(changes[i].Key, old, changes[i].Value)
	}
	m.rows.Commit(changes)
	m.state.Committed()
	m.sums = append(m.sums, m.sum)
	if sum := m.state.Hash(); hex.EncodeToString(sum[:]) != stateHash {
		m.w.violated("decide again", "the state after block %d has another hash", seq)
	}
}

// line is a message line of a block.
type line struct {
	Body, BodyBase64       *string
	ID                     *string
	IDsBase64              []string
	Seq                    uint64
	Subject, SubjectBase64 *string
	TS                     string
}

func (l *line) message() events.Message {
	m := events.Message{Seq: l.Seq, Subject: plain(l.Subject, l.SubjectBase64), Body: []byte(plain(l.Body, l.BodyBase64))}
	m.Time, _ = strconv.ParseInt(l.TS, 10, 64) // a wrong one is no command that came in
	if l.ID != nil {
		m.IDs = []string{*l.ID}
	}
	for _, id := range l.IDsBase64 {
		m.IDs = append(m.IDs, plain(nil, &id))
	}
	return m
}

func plain(text, encoded *string) string {
	switch {
	case text != nil:
		return *text
	case encoded == nil:
		return ""
	}
	data, _ := base64.StdEncoding.DecodeString(*encoded) // a wrong one is no command that came in
	return string(data)
}

// record is what the model reads of a decision record.
type record struct {
	BodyHash, Code, CommandID, Contract, Hash, Outcome, Prev, Principal, Type string
	CommandSeq, Of                                                            uint64
	Events                                                                    []struct{ Type, AttemptID string }
}

// add checks one decision.
func (m *model) add(messageLine, recordLine string) {
	var l line
	var r record
	if json.Unmarshal([]byte(messageLine), &l) != nil || json.Unmarshal([]byte(recordLine), &r) != nil {
		m.w.violated("block", "no lines of a command: %s\n%s", messageLine, recordLine)
		return
	}
	e := &entry{
		seq: r.CommandSeq, contract: r.Contract, principal: r.Principal, id: r.CommandID, bodyHash: r.BodyHash,
		outcome: r.Outcome, code: r.Code, record: []byte(recordLine), message: l.message(),
	}
	m.checkMessage(e)
	m.checkLedger(e, &r)
	m.checkID(e, &r)
	m.checkAgain(e)
	for i := range r.Events {
		if r.Events[i].Type != "attemptDispatched" {
			continue
		}
		attempt := r.Contract + " " + r.Events[i].AttemptID
		if before := m.dispatch[attempt]; before != 0 {
			m.w.violated("dispatched twice", "attempt %s is dispatched by command %d and by command %d", attempt, before, e.seq)
		}
		m.dispatch[attempt] = e.seq
	}
	m.entries[e.seq] = e
	m.lastSeq = e.seq
}

// checkMessage wants the command to be the next, and one that came in so.
func (m *model) checkMessage(e *entry) {
	if e.seq <= m.lastSeq || e.seq != e.message.Seq {
		m.w.violated("block", "command %d follows command %d", e.seq, m.lastSeq)
	}
	if hashOf(e.message.Body) != e.bodyHash {
		m.w.violated("fabricated", "command %d has another body hash than its body", e.seq)
	}
	for _, came := range m.w.check.came[e.seq] {
		if e.is(came) {
			return
		}
	}
	m.w.violated("fabricated", "command %d (%s) never came in so", e.seq, e.message.Subject)
}

// is says whether e decides the command.
func (e *entry) is(m *message) bool {
	return e.message.Seq == m.Seq && e.message.Time == m.Time && e.message.Subject == m.Subject && bytes.Equal(e.message.Body, m.Body) &&
		strings.Join(e.message.IDs, " ") == strings.Join(m.IDs, " ")
}

// answers says whether e decides what the client sent.
func (e *entry) answers(o *order) bool {
	return e.message.Subject == o.subject && bytes.Equal(e.message.Body, o.body) && strings.Join(e.message.IDs, " ") == strings.Join(o.ids, " ")
}

// checkLedger wants the record at the end of its ledger's chain, with its hash.
func (m *model) checkLedger(e *entry, r *record) {
	if r.Type == "openContract" && r.Outcome == "accepted" {
		m.opened[r.Contract] = true
	}
	ledger := r.Contract
	if e.unrouted = !m.opened[r.Contract] || r.Code == "SUBJECT_INVALID"; e.unrouted {
		ledger = "_unrouted"
	}
	head := m.heads[ledger]
	if head == "" {
		head = events.ZeroHash
	}
	if r.Prev != head || r.Hash != recordHash(e.record) {
		m.w.violated("ledger chain", "the record of command %d is not chained in ledger %s", e.seq, ledger)
	}
	m.heads[ledger] = r.Hash
}

// recordHash is the hash of a record as RULES 2 says, by way of the standard
// library: its text is all ASCII, so that both forms are the same.
func recordHash(raw []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return ""
	}
	for _, name := range []string{"hash", "message", "pointer"} {
		delete(members, name)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return ""
	}
	return hashOf(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// checkID wants one decision for each id, and duplicates that repeat it.
func (m *model) checkID(e *entry, r *record) {
	if e.unrouted || strings.HasPrefix(e.id, "seq-") {
		return
	}
	key := idKey{e.contract, e.principal, e.id}
	before := m.first[key]
	switch {
	case before == nil && e.outcome == "duplicate":
		m.w.violated("one decision", "command %d repeats an id that has no decision", e.seq)
	case before == nil:
		m.first[key] = e
	case e.outcome == "duplicate":
		if r.Of != before.seq || e.bodyHash != before.bodyHash {
			m.w.violated("one decision", "command %d repeats command %d, the first of its id is %d", e.seq, r.Of, before.seq)
		}
	case malformed(e.code) || e.bodyHash == before.bodyHash && malformed(before.code):
		return // refused before anybody looked at the id
	case e.code != "COMMAND_ID_REUSED" || e.bodyHash == before.bodyHash:
		m.w.violated("one decision", "command %d has a decision of its own: %s\nand the id of command %d: %s", e.seq, e.record, before.seq, before.record)
	}
}

// malformed says whether the refusal comes before the look at the id (RULES 2).
func malformed(code string) bool {
	switch code {
	case "BODY_TOO_LARGE", "JSON_INVALID", "SCHEMA_INVALID", "SUBJECT_MISMATCH":
		return true
	}
	return false
}

// checkAgain decides the command a second time.
func (m *model) checkAgain(e *entry) {
	d := m.again.Step(m.state, &e.message)
	if !bytes.Equal(d.Append(nil), e.record) {
		m.w.violated("decide again", "command %d: the log has %s\nagain it is %s", e.seq, e.record, d.Append(nil))
	}
}

// find returns the entry that has exactly this record.
func (m *model) find(record []byte) *entry {
	var r struct{ CommandSeq uint64 }
	if json.Unmarshal(record, &r) != nil {
		return nil
	}
	if e := m.entries[r.CommandSeq]; e != nil && bytes.Equal(e.record, record) {
		return e
	}
	return nil
}

// rowSum identifies a set of rows: the sum of their hashes.
type rowSum [4]uint64

// replace takes the old row of a key out and puts the new one in.
func (s *rowSum) replace(key, old, value []byte) {
	if old != nil {
		s.add(key, old, bits.Sub64)
	}
	if value != nil {
		s.add(key, value, bits.Add64)
	}
}

func (s *rowSum) add(key, value []byte, combine func(x, y, carry uint64) (uint64, uint64)) {
	row := binary.BigEndian.AppendUint64(nil, uint64(len(key)))
	hash := sha256.Sum256(append(append(row, key...), value...))
	var carry uint64
	for i := range s {
		s[i], carry = combine(s[i], binary.BigEndian.Uint64(hash[8*i:]), carry)
	}
}
