package state

import (
	"crypto/sha256"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// State is the state of all ledgers of one shard. It is not safe for
// concurrent use: one goroutine decides.
type State struct {
	rows    Rows
	cache   cache
	sets    sets
	dirty   []*entry
	flights [][]*entry // entries of each Take that is not committed, oldest first
	takes   int
	done    int // takes committed
	sum     sum256
	now     Meta      // of the decision that is being applied
	decided []Decided // index entries of the decisions since the last Take
	scratch []byte    // a key
	line    []byte    // a document's line
	err     error
	checks  selfChecks
}

// DefaultCacheRows is a cache size that keeps a reducer small: about 100 MiB
// of rows at the worst, far less usually.
const DefaultCacheRows = 100_000

// New returns the state that rows hold at the cursor. At most about twice
// cacheRows rows are kept in memory; 0 means DefaultCacheRows.
func New(rows Rows, cursor Cursor, cacheRows int) *State {
	if cacheRows <= 0 {
		cacheRows = DefaultCacheRows
	}
	return &State{
		rows:  rows,
		cache: newCache(cacheRows),
		sets:  sets{},
		sum:   sumOf(cursor.StateHash),
	}
}

// Err is the first read error of the rows. After one nothing that was decided
// since the last Take may be used.
func (s *State) Err() error { return s.err }

func (s *State) fail(err error) {
	if s.err == nil {
		s.err = fmt.Errorf("state: %w", err)
	}
}

// Hash is the state hash after the last Take (DESIGN 2, stateHash version 1).
func (s *State) Hash() [sha256.Size]byte { return s.sum.bytes() }

// Take returns what changed since the last Take, each row once, in the order
// of their keys' first change, and moves Hash on. logSeq is the sequence that
// the block with these changes gets on the log; rows keep it.
func (s *State) Take(logSeq uint64) []Change {
	s.takes++
	t := taking{
		changes: make([]Change, 0, len(s.dirty)+len(s.decided)+8),
		buf:     make([]byte, 0, 256*(len(s.dirty)+len(s.decided))),
	}
	flight := make([]*entry, 0, len(s.dirty))
	for _, e := range s.dirty {
		e.dirty = false
		e.taken++
		e.meta.LogSeq = logSeq
		flight = append(flight, e)
		t.add(e.key, &e.meta, e.row)
		sum := s.sumOfEntry(e)
		s.sum = s.sum.sub(e.sum).add(sum)
		e.sum = sum
	}
	for i := range s.decided {
		d := &s.decided[i]
		s.scratch = appendKey(s.scratch[:0], kindDecision, d.ledger, sequencePart(d.CommandSeq))
		t.add(string(s.scratch), &Meta{CommandSeq: d.CommandSeq, LogSeq: logSeq, At: d.At}, d)
	}
	s.dirty, s.decided = s.dirty[:0], s.decided[:0]
	s.flights = append(s.flights, flight)
	return s.takeSets(t.changes)
}

// taking collects changes whose bytes share a few buffers.
type taking struct {
	changes []Change
	buf     []byte
}

// add appends the change to a row; a nil row is deleted.
func (t *taking) add(key string, meta *Meta, r row) {
	start := len(t.buf)
	t.buf = append(t.buf, key...)
	middle := len(t.buf)
	change := Change{Key: t.buf[start:middle:middle]}
	if r != nil {
		t.buf = appendRow(t.buf, meta, r)
		change.Value = t.buf[middle:len(t.buf):len(t.buf)]
	}
	t.changes = append(t.changes, change)
}

// Committed says that the changes of the oldest Take not yet committed are in
// the rows now.
func (s *State) Committed() {
	if len(s.flights) == 0 {
		panic("state: Committed without a Take")
	}
	for _, e := range s.flights[0] {
		e.taken--
	}
	s.flights = s.flights[1:]
	s.done++
	s.forgetSets(s.done)
	s.trim()
}

func (s *State) trim() {
	if len(s.cache.young) < s.cache.limit {
		return
	}
	pinned := append([]*entry(nil), s.dirty...)
	for _, flight := range s.flights {
		pinned = append(pinned, flight...)
	}
	s.cache.trim(pinned)
}

// sumOfEntry is what a row adds to the state hash: the sha256 of its line
// {"contract","key","projection","value"} as stored, or nothing for a row that
// is in none of the five named projections.
func (s *State) sumOfEntry(e *entry) sum256 {
	p, ok := e.row.(projected)
	if !ok {
		return sum256{}
	}
	parts, err := splitKey(e.key)
	if err != nil || len(parts) == 0 {
		s.fail(fmt.Errorf("row %q: %w", e.key, errKey))
		return sum256{}
	}
	s.line = appendLine(s.line[:0], p.projection(), parts[0], p.documentKey(parts), p.stored(parts))
	return sumOf(sha256.Sum256(s.line))
}

// appendLine appends the canonical line of a document, without a newline.
func appendLine(dst []byte, projection, contract, key string, value schema.Record) []byte {
	dst = schema.AppendString(append(dst, `{"contract":`...), contract)
	dst = schema.AppendString(append(dst, `,"key":`...), key)
	dst = schema.AppendString(append(dst, `,"projection":`...), projection)
	dst = schema.AppendRecord(append(dst, `,"value":`...), value)
	return append(dst, '}')
}
