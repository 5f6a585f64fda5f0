package audit

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// memoryLog is a log for reading.
type memoryLog struct {
	blocks [][]byte // nil: it is gone
	first  uint64   // of blocks; 0 is 1
	end    uint64   // what the log says of itself; 0 is the truth
}

func (l *memoryLog) Info(context.Context) (loop.LogInfo, error) {
	info := loop.LogInfo{FirstSeq: max(l.first, 1), LastSeq: l.end}
	if l.end == 0 {
		info.LastSeq = info.FirstSeq - 1 + uint64(len(l.blocks))
	}
	return info, nil
}

func (*memoryLog) Append(context.Context, uint64, []byte) error { panic("an audit appends nothing") }

func (*memoryLog) Get(context.Context, uint64) ([]byte, error) { return nil, loop.ErrAbsent }

func (l *memoryLog) Read(_ context.Context, from uint64, f func(seq uint64, block []byte) error) error {
	for i, block := range l.blocks {
		if seq := max(l.first, 1) + uint64(i); seq >= from && block != nil {
			if err := f(seq, bytes.Clone(block)); err != nil {
				return err
			}
		}
	}
	return nil
}

// memoryStore is a store that is forgotten.
type memoryStore struct {
	*state.MemoryRows
	cursor state.Cursor
}

func newStore() *memoryStore { return &memoryStore{MemoryRows: state.NewMemory()} }

func (s *memoryStore) Cursor() state.Cursor { return s.cursor }
func (s *memoryStore) Err() error           { return nil }
func (s *memoryStore) Close() error         { return nil }
func (s *memoryStore) Commit(changes []state.Change, cursor state.Cursor) error {
	s.MemoryRows.Commit(changes)
	s.cursor = cursor
	return nil
}

// writer writes a log of decisions, with whatever is done to them on the way.
type writer struct {
	perBlock int
	decided  func(block int, m *events.Message, d *events.Decision) // before it is folded and written
	sealed   func(block int, h *events.Header)                      // before the block is sealed
}

// write decides the messages of a log file.
func (w writer) write(t *testing.T, name string) *memoryLog {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	log := &memoryLog{}
	rows, decider := state.NewMemory(), reducer.New()
	s := state.New(rows, state.Cursor{}, 0)
	prev, messages, more := [32]byte{}, logfile.NewReader(file), true
	for number := 1; more; number++ {
		h := events.Header{RulesVersion: reducer.RulesVersion, Generation: "g", Writer: "w", Shards: 1, Time: "0", PrevBlockHash: hex.EncodeToString(prev[:])}
		if w.sealed != nil {
			w.sealed(number, &h)
		}
		b := events.NewBlock(h)
		for b.Commands() < w.perBlock {
			m, err := messages.NextMessage()
			if more = !errors.Is(err, io.EOF); !more {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			d := decider.Decide(s, m)
			if w.decided != nil {
				w.decided(number, m, d)
			}
			s.Apply(m, d)
			b.Add(m, d)
		}
		if b.Commands() == 0 {
			break
		}
		rows.Commit(s.Take(uint64(number)))
		s.Committed()
		var data []byte
		data, prev = b.Seal(s.Hash())
		log.blocks = append(log.blocks, data)
	}
	return log
}

const quickstart = "../../testdata/quickstart.jsonl"

func TestWalkGolden(t *testing.T) {
	for _, name := range []string{"story-1-purchase", "story-2-schedule", "story-3-release", "M1", "12"} {
		for _, perBlock := range []int{1, 7, 1000} {
			log := writer{perBlock: perBlock}.write(t, "../../testdata/golden/"+name+".jsonl")
			store, met := newStore(), 0
			w := Walk{Store: store, Decide: true, At: uint64(len(log.blocks)), Met: func(state.Cursor) error { met++; return nil }}
			summary, err := w.Run(t.Context(), log)
			if err != nil {
				t.Fatalf("%s by %d: %v", name, perBlock, err)
			}
			if summary.Decided != summary.Commands || summary.Blocks != uint64(len(log.blocks)) || met != 1 {
				t.Errorf("%s by %d: %+v, met %d", name, perBlock, summary, met)
			}
			digest, err := Digest(store)
			if err != nil {
				t.Fatal(err)
			}
			out, err := os.ReadFile("../../testdata/golden/" + name + ".out")
			if err != nil || !strings.Contains(string(out), digest) {
				t.Errorf("%s by %d: the digest %s is not the golden one, %v", name, perBlock, digest, err)
			}
		}
	}
}

// Each way to change a log is found, and the place is told.
func TestWalkFaults(t *testing.T) {
	at := func(n uint64, f func(d *events.Decision)) func(int, *events.Message, *events.Decision) {
		return func(_ int, _ *events.Message, d *events.Decision) {
			if d.CommandSeq == n {
				f(d)
			}
		}
	}
	for _, c := range []struct {
		name, want string
		w          writer
		log        func(l *memoryLog)
	}{
		{name: "nothing"},
		{name: "a byte", want: "block 3: ", log: func(l *memoryLog) { l.blocks[2][len(l.blocks[2])-9] ^= 1 }},
		{name: "a block is gone", want: "block 3: it is missing; the next one that can be read is 4", log: func(l *memoryLog) { l.blocks[2] = nil }},
		{name: "two blocks changed places", want: "block 2: it is chained to", log: func(l *memoryLog) { l.blocks[1], l.blocks[2] = l.blocks[2], l.blocks[1] }},
		{name: "the end is gone", want: "block 5: it cannot be read", log: func(l *memoryLog) { l.blocks, l.end = l.blocks[:4], 5 }},
		{name: "the beginning is gone", want: "block 1: it is missing", log: func(l *memoryLog) { l.first = 2 }},
		{name: "a chain of blocks", want: "block 4: it is chained to", w: writer{sealed: func(n int, h *events.Header) {
			if n == 4 {
				h.PrevBlockHash = events.ZeroHash
			}
		}}},
		{name: "a refusal made an acceptance", want: `block 2, command 5, ledger "onboarding": decided again it is another record: recorded was accepted, now it is rejected APPROVAL_REQUIRED`,
			w: writer{decided: at(5, func(d *events.Decision) {
				d.Outcome, d.Code, d.Message = events.OutcomeAccepted, "", ""
				d.Events = []events.Event{&events.RunTransitioned{RunID: "laptop-for-kim", From: "RUNNING", To: "RUNNING"}}
				d.Seal(d.Prev)
			})}},
		{name: "an amount", want: "command 14, ledger \"onboarding\": decided again it is another record: recorded was ...",
			w: writer{decided: at(14, func(d *events.Decision) {
				settled := *d.Events[0].(*events.AttemptSettled)
				settled.ActualCost = settled.ActualCost.Add(settled.ActualCost)
				d.Events = []events.Event{&settled}
				d.Seal(d.Prev)
			})}},
		{name: "a record out of its chain", want: "command 8", w: writer{decided: at(8, func(d *events.Decision) { d.Seal(events.ZeroHash) })}},
		{name: "another body", want: "the record is about another body", w: writer{decided: func(_ int, m *events.Message, _ *events.Decision) {
			if m.Seq == 3 {
				m.Body = bytes.Replace(m.Body, []byte("kim"), []byte("tim"), 1)
			}
		}}},
		{name: "events that do not fit", want: "its events do not fit the state", w: writer{
			sealed: func(_ int, h *events.Header) { h.RulesVersion = 7 }, // so that it is not decided again
		}, log: forge},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.w.perBlock = 4
			log := c.w.write(t, quickstart)
			if c.log != nil {
				c.log(log)
			}
			w := Walk{Store: newStore(), Decide: true}
			_, err := w.Run(t.Context(), log)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || loop.ExitCode(err) != 3 {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// forge appends a block with an event about a run that there is not.
func forge(l *memoryLog) {
	last := l.blocks[len(l.blocks)-1]
	block, err := events.ParseBlock(last)
	if err != nil {
		panic(err)
	}
	before := block.Entries[len(block.Entries)-1]
	m := before.Message
	m.Seq++
	d := events.Decision{
		Contract: before.Decision.Contract, CommandSeq: m.Seq, CommandID: "forged", Principal: before.Decision.Principal,
		Type: before.Decision.Type, At: before.Decision.At, BodyHash: before.Decision.BodyHash, Outcome: events.OutcomeAccepted,
		Events: []events.Event{&events.AttemptDispatched{AttemptID: "nobody's", By: "buyer"}},
	}
	d.Seal(before.Decision.Hash)
	h := block.Header
	h.PrevBlockHash = hex.EncodeToString(block.Hash[:])
	b := events.NewBlock(h)
	b.Add(&m, &d)
	data, _ := b.Seal([32]byte{})
	l.blocks = append(l.blocks, data)
}

// What other rules decided is not decided again, and that is said.
func TestWalkOtherRules(t *testing.T) {
	log := writer{perBlock: 4, sealed: func(n int, h *events.Header) {
		if n == 2 || n == 3 {
			h.RulesVersion = reducer.RulesVersion + 1
		}
	}}.write(t, quickstart)
	w := Walk{Store: newStore(), Decide: true}
	summary, err := w.Run(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	want := Left{RulesVersion: reducer.RulesVersion + 1, FirstBlock: 2, LastBlock: 3, Commands: 8}
	if len(summary.Left) != 1 || summary.Left[0] != want || summary.Decided != 11 || summary.Commands != 19 {
		t.Errorf("%+v", summary)
	}
}

// A walk that stops in a block has the state after the command before.
func TestWalkUntil(t *testing.T) {
	log := writer{perBlock: 4}.write(t, quickstart)
	for stop := uint64(1); stop <= 20; stop++ {
		parts, whole := newStore(), newStore()
		w := Walk{Store: parts, Until: func(m *events.Message) bool { return m.Seq >= stop }}
		summary, err := w.Run(t.Context(), log)
		if err != nil || summary.Commands != stop-1 {
			t.Fatalf("before %d: %+v, %v", stop, summary, err)
		}
		short := writer{perBlock: 4, decided: func(int, *events.Message, *events.Decision) {}}
		prefix := Walk{Store: whole}
		if _, err := prefix.Run(t.Context(), short.prefix(t, int(stop-1))); err != nil {
			t.Fatal(err)
		}
		a, err1 := Digest(parts)
		b, err2 := Digest(whole)
		if err := errors.Join(err1, err2); err != nil || a != b {
			t.Errorf("before %d: %s, a log that ends there gives %s, %v", stop, a, b, err)
		}
	}
}

// prefix is the log of the first lines of the quickstart.
func (w writer) prefix(t *testing.T, lines int) *memoryLog {
	t.Helper()
	text, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	name := t.TempDir() + "/part.jsonl"
	part := strings.Join(strings.SplitAfter(string(text), "\n")[:lines], "")
	if err := os.WriteFile(name, []byte(part), 0o600); err != nil {
		t.Fatal(err)
	}
	return w.write(t, name)
}

func TestWalkIntoAFullStore(t *testing.T) {
	store := newStore()
	store.cursor.LogSeq = 1
	w := Walk{Store: store}
	if _, err := w.Run(t.Context(), &memoryLog{}); err == nil {
		t.Error("folded into a store that is not empty")
	}
}

func TestCompare(t *testing.T) {
	row := func(pairs ...string) *state.MemoryRows {
		rows := state.NewMemory()
		for i := 0; i < len(pairs); i += 2 {
			rows.Commit([]state.Change{{Key: []byte(pairs[i]), Value: []byte(pairs[i+1])}})
		}
		return rows
	}
	for _, c := range []struct {
		live, replayed *state.MemoryRows
		want           string
	}{
		{row(), row(), ""},
		{row("Ra", "1", "Rb", "2"), row("Ra", "1", "Rb", "2"), ""},
		{row("Ra", "1"), row("Ra", "1", "Rb", "2"), `lacks the row "Rb"`},
		{row("Rb", "2"), row("Ra", "1", "Rb", "2"), `lacks the row "Ra"`},
		{row("Ra", "1", "Rb", "2"), row("Rb", "2"), `the row "Ra", the log does not say so`},
		{row("Ra", "1"), row(), `the row "Ra", the log does not say so`},
		{row("Ra", "1"), row("Ra", "2"), `the row "Ra" of the store has another content`},
	} {
		err := Compare(c.live, c.replayed)
		if got := fmt.Sprint(err); (err == nil) != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}
