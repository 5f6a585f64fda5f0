package transfer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

func TestNextGeneration(t *testing.T) {
	future := ulid.MustNew(ulid.Timestamp(time.Now().Add(1000*time.Hour)), ulid.DefaultEntropy()).String()
	for _, last := range []string{"", "g1", ulid.Make().String(), future, "7" + strings.Repeat("Z", 25), "zz"} {
		next := last
		for range 20 {
			before := next
			if next = NextGeneration(before); next <= before || strings.ContainsAny(next, ". *>") {
				t.Fatalf("%q follows %q", next, before)
			}
		}
	}
}

// memoryLog is a log in memory.
type memoryLog struct {
	loop.Log
	blocks [][]byte
}

func (l *memoryLog) Append(_ context.Context, last uint64, block []byte) error {
	if last != uint64(len(l.blocks)) {
		return errors.New("the fence")
	}
	l.blocks = append(l.blocks, block)
	return nil
}

func (l *memoryLog) Info(context.Context) (loop.LogInfo, error) {
	return loop.LogInfo{FirstSeq: 1, LastSeq: uint64(len(l.blocks))}, nil
}

func (l *memoryLog) Read(_ context.Context, from uint64, f func(uint64, []byte) error) error {
	for seq := from; seq <= uint64(len(l.blocks)); seq++ {
		if l.blocks[seq-1] == nil {
			continue // lost
		}
		if err := f(seq, l.blocks[seq-1]); err != nil {
			return err
		}
	}
	return nil
}

// memoryStore is a store in memory.
type memoryStore struct {
	loop.Store
	*state.MemoryRows
}

func (s memoryStore) Get(key []byte) ([]byte, error) { return s.MemoryRows.Get(key) }
func (s memoryStore) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	return s.MemoryRows.Scan(lower, upper, reverse, f)
}
func (s memoryStore) Commit(changes []state.Change, _ state.Cursor) error {
	s.MemoryRows.Commit(changes)
	return nil
}

func build(t *testing.T, in Entries) *memoryLog {
	t.Helper()
	log := &memoryLog{}
	header := events.Header{RulesVersion: 1, Generation: "g1", Writer: "w", Build: "test", Shards: 1}
	if err := Build(t.Context(), in, header, memoryStore{MemoryRows: state.NewMemory()}, log, func(int) {}); err != nil {
		t.Fatal(err)
	}
	return log
}

func quickstart(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/quickstart.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Commands that are decided here, and the same with the decisions recorded,
// make the same records, in blocks that are not too large.
func TestBuild(t *testing.T) {
	var many strings.Builder
	many.WriteString(quickstart(t))
	for range 3000 {
		many.WriteString(`{"contract":"onboarding","principal":"buyer","at":1799000000000,"raw":"` + strings.Repeat("x", 500) + "\"}\n")
	}
	text := strings.ReplaceAll(many.String(), `"raw"`, `"type":"startRun","raw"`)
	log := build(t, Decided(FromFile(strings.NewReader(text))))
	if len(log.blocks) < 3 {
		t.Errorf("%d blocks", len(log.blocks))
	}
	for i, block := range log.blocks {
		if len(block) > events.MaxBlockBytes+64<<10 {
			t.Errorf("block %d has %d bytes", i+1, len(block))
		}
	}
	bare := build(t, FromFile(strings.NewReader(text)))
	again := build(t, FromLog(t.Context(), log))
	for name, other := range map[string]*memoryLog{"decided in Build": bare, "recorded": again} {
		if got, want := records(t, other), records(t, log); got != want {
			t.Errorf("%s: other records", name)
		}
	}
}

func records(t *testing.T, log *memoryLog) string {
	t.Helper()
	var all strings.Builder
	for e, err := range FromLog(t.Context(), log) {
		if err != nil {
			t.Fatal(err)
		}
		all.Write(e.Record)
	}
	return all.String()
}

func TestCopy(t *testing.T) {
	log := build(t, FromFile(strings.NewReader(quickstart(t))))
	to := &memoryLog{}
	if last, err := Copy(t.Context(), log, to, 0, func(int) {}); err != nil || last != uint64(len(log.blocks)) || !bytes.Equal(to.blocks[0], log.blocks[0]) {
		t.Errorf("copied %d, %v", last, err)
	}
	if _, err := Copy(t.Context(), log, &memoryLog{}, 99, func(int) {}); err == nil {
		t.Error("a block that is not there was copied")
	}
	bad := bytes.Clone(log.blocks[0])
	bad[len(bad)-5] ^= 1
	for name, source := range map[string]*memoryLog{
		"damaged":       {blocks: [][]byte{bad}},
		"not chained":   {blocks: [][]byte{log.blocks[0], log.blocks[0]}},
		"a block lost":  {blocks: [][]byte{log.blocks[0], nil, log.blocks[0]}},
		"the last lost": {blocks: [][]byte{log.blocks[0], nil}},
	} {
		if _, err := Copy(t.Context(), source, &memoryLog{}, 0, func(int) {}); !errors.Is(err, loop.ErrIntegrity) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A recorded decision that does not fit is an error, not a panic.
func TestBuildRefuses(t *testing.T) {
	log := build(t, FromFile(strings.NewReader(quickstart(t))))
	var entries []*events.Entry
	for e, err := range FromLog(t.Context(), log) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	for name, chosen := range map[string][]*events.Entry{
		"without the beginning": entries[8:],
		"twice":                 {entries[0], entries[0]},
	} {
		in := func(yield func(*events.Entry, error) bool) {
			for _, e := range chosen {
				if !yield(e, nil) {
					return
				}
			}
		}
		err := Build(t.Context(), in, events.Header{}, memoryStore{MemoryRows: state.NewMemory()}, &memoryLog{}, func(int) {})
		if err == nil || !strings.HasPrefix(err.Error(), "command ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
