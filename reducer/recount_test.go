package reducer

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// The state hash that is kept command by command is the one that is computed
// from all rows, and the heads are those of the last records.
func TestRecount(t *testing.T) {
	names, err := filepath.Glob("../testdata/golden/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	for _, name := range append(names, "../testdata/quickstart.jsonl") {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		rows := state.NewMemory()
		s, decider := state.New(rows, state.Cursor{}, 0), New()
		messages := logfile.NewReader(file)
		want := map[string]string{}
		for n := uint64(1); ; n++ {
			m, err := messages.NextMessage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			d := decider.Step(s, m)
			want[d.Ledger()] = d.Hash
			rows.Commit(s.Take(n))
			s.Committed()
		}
		got, err := state.HashOf(rows)
		if err != nil || got != s.Hash() {
			t.Errorf("%s: computed %x, kept %x, %v", name, got, s.Hash(), err)
		}
		reader, after := state.NewReader(rows), ""
		for {
			heads, err := reader.Heads(after, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(heads) == 0 {
				break
			}
			after = heads[0].Ledger
			if heads[0].Hash != want[after] {
				t.Errorf("%s: head of %s is %s, want %s", name, after, heads[0].Hash, want[after])
			}
			delete(want, after)
		}
		if len(want) > 0 {
			t.Errorf("%s: no heads of %v", name, want)
		}
	}
}
