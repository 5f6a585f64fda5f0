package state_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// TestMirrored: every document of the named projections and of missions is one
// mirrored row and no other row is, its key leads back to the row, and where
// reading adds nothing the two are the same.
func TestMirrored(t *testing.T) {
	logs, err := filepath.Glob("../../testdata/golden/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatal(logs, err)
	}
	for _, name := range logs {
		t.Run(filepath.Base(name), func(t *testing.T) { compareMirrored(t, foldFile(t, name)) })
	}
}

func foldFile(t *testing.T, name string) *state.MemoryRows {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows := state.NewMemory()
	s, decider, messages := state.New(rows, state.Cursor{}, 0), reducer.New(), logfile.NewReader(file)
	for seq := uint64(1); ; seq++ {
		m, err := messages.NextMessage()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		decider.Step(s, m)
		rows.Commit(s.Take(seq))
		s.Committed()
	}
}

func compareMirrored(t *testing.T, rows *state.MemoryRows) {
	reader := state.NewReader(rows)
	type id struct{ projection, contract, key string }
	mirrored := map[id]*state.Document{}
	err := reader.ScanMirrored(func(key []byte, changed state.Meta) bool {
		value, err := rows.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		d, ok, err := reader.Mirrored(key, value)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return true // the ledger of refusals
		}
		if d.Meta.CommandSeq != changed.CommandSeq || d.Meta.LogSeq != changed.LogSeq {
			t.Errorf("%q: changed by %+v, the scan says %+v", key, d.Meta, changed)
		}
		if back, ok := state.MirroredKey(d.Projection, d.Contract, d.Key); !ok || string(back) != string(key) {
			t.Errorf("%s %s leads to the row %q, not %q", d.Projection, d.Key, back, key)
		}
		mirrored[id{d.Projection, d.Contract, d.Key}] = d
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, projection := range append([]string{state.Missions}, state.Named...) {
		err := reader.Documents(projection, "", "", func(read *state.Document) bool {
			stored := mirrored[id{projection, read.Contract, read.Key}]
			delete(mirrored, id{projection, read.Contract, read.Key})
			switch {
			case stored == nil:
				t.Errorf("%s %s is not mirrored", projection, read.Key)
			case projection == state.Waits || projection == state.Exposed: // EXPIRED, revoked
			case stored.Value != read.Value:
				t.Errorf("%s %s\nstored %s\nread   %s", projection, read.Key, stored.Value, read.Value)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for left := range mirrored {
		t.Errorf("mirrored, but no document: %v", left)
	}
}

func TestContractsAfter(t *testing.T) {
	reader := state.NewReader(foldFile(t, "../../testdata/golden/M4.jsonl"))
	all, err := reader.Contracts()
	if err != nil {
		t.Fatal(err)
	}
	var paged []string
	for last := ""; ; {
		page, err := reader.ContractsAfter(last, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		last = page[0]
		paged = append(paged, page...)
	}
	if len(all) == 0 || len(paged) != len(all) {
		t.Errorf("pages have %q, all are %q", paged, all)
	}
}
