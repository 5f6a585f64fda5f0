package loop

import (
	"errors"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// unreadableStore is a store of which one read fails, and all after it.
type unreadableStore struct {
	*state.MemoryRows
	reads, fails int
}

var errUnreadable = errors.New("unreadable")

func (f *unreadableStore) Get(key []byte) ([]byte, error) {
	if f.reads++; f.fails > 0 && f.reads >= f.fails {
		return nil, errUnreadable
	}
	return f.MemoryRows.Get(key)
}

func (f *unreadableStore) Cursor() state.Cursor { return state.Cursor{} }

func (f *unreadableStore) Commit(changes []state.Change, _ state.Cursor) error {
	f.MemoryRows.Commit(changes)
	return nil
}

func (f *unreadableStore) Err() error { return nil }

func (f *unreadableStore) Close() error { return nil }

// TestFoldReadFails: whichever read fails while commands of every kind are
// folded, it is an error of the store. A row that looks absent is no reason to
// panic.
func TestFoldReadFails(t *testing.T) {
	rows, tried := state.NewMemory(), 0
	fold := func(entry events.Entry, fails int) (reads int, changes []state.Change, err error) {
		store := &unreadableStore{MemoryRows: rows, fails: fails}
		defer func() {
			if cause := recover(); cause != nil {
				t.Fatalf("command %d, read %d fails: panic: %v", entry.Message.Seq, fails, cause)
			}
		}()
		folded := &Folded{}
		err = NewFolder(store, 0).apply(1, &events.Block{Entries: []events.Entry{entry}}, folded)
		return store.reads, folded.Changes, err
	}
	for _, entry := range everything(t).Entries {
		reads, changes, err := fold(entry, 0)
		if err != nil {
			t.Fatal(err)
		}
		for fails := 1; fails <= reads; fails++ {
			tried++
			if _, _, err := fold(entry, fails); !errors.Is(err, ErrStore) || !errors.Is(err, errUnreadable) {
				t.Fatalf("command %d, read %d of %d fails: %v", entry.Message.Seq, fails, reads, err)
			}
		}
		rows.Commit(changes)
	}
	if tried < 500 {
		t.Errorf("only %d reads", tried)
	}
}

// everything is a block with commands of every kind, decided.
func everything(t *testing.T) *events.Block {
	t.Helper()
	s, decider := state.New(state.NewMemory(), state.Cursor{}, 0), reducer.New()
	commands := workload.Open(workload.Ledger(0))
	worker := workload.NewWorker(workload.Ledger(0), 1)
	for range 250 {
		commands = append(commands, worker.Next())
	}
	block := &events.Block{}
	completed := false
	for i, c := range commands {
		m := events.Message{Seq: uint64(i + 1), Time: 1_700_000_000_000_000_000 + int64(i), Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body}
		d := decider.Step(s, &m)
		for _, e := range d.Events {
			completed = completed || e.Type() == "nodeCompleted"
		}
		block.Entries = append(block.Entries, events.Entry{Message: m, Decision: d})
	}
	if !completed {
		t.Fatal("no node of a graph was completed")
	}
	return block
}
