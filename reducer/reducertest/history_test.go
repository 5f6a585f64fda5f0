package reducertest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

const (
	histories  = "../../testdata/histories"
	newHistory = "v0.1" // the one that -rewrite writes where it is missing, and -rewrite -force anew
)

// summary is what a history comes to: digests.json beside its blocks.
type summary struct {
	Commands  int               `json:"commands"`
	StateHash string            `json:"stateHash"` // after the last block
	Digest    string            `json:"digest"`    // of the named projections, as fold --digest gives it
	Heads     map[string]string `json:"heads"`     // of the chain of each ledger
}

// TestHistories replays the logs that releases wrote: their chains hold, they
// fold to the same state, and where the rules are still those of the log, they
// are decided the same. A history is added at each release and never edited.
func TestHistories(t *testing.T) {
	if there, _ := filepath.Glob(filepath.Join(histories, newHistory, "*.block")); given("rewrite") && (len(there) == 0 || given("force")) {
		writeHistory(t)
	}
	folders, err := filepath.Glob(filepath.Join(histories, "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			got := replayed(t, folder)
			text, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			reducertest.Golden(t, filepath.Join(folder, "digests.json"), append(text, '\n'))
		})
	}
}

// replayed goes through the blocks of a history.
func replayed(t *testing.T, folder string) summary {
	t.Helper()
	blocks, err := filepath.Glob(filepath.Join(folder, "*.block"))
	if err != nil || len(blocks) == 0 {
		t.Fatalf("no blocks: %v", err)
	}
	rows, prev := state.NewMemory(), events.ZeroHash
	s, again := state.New(rows, state.Cursor{}, 10), reducer.New()
	sum := summary{Heads: map[string]string{}}
	for i, path := range blocks {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		block, err := events.ParseBlock(data)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if block.Header.PrevBlockHash != prev {
			t.Fatalf("%s does not follow the block before", path)
		}
		prev = hex.EncodeToString(block.Hash[:])
		for n := range block.Entries {
			entry(t, &block.Entries[n], s, again, block.Header.RulesVersion == reducer.RulesVersion, &sum)
		}
		rows.Commit(s.Take(uint64(i + 1)))
		s.Committed()
		if hash := s.Hash(); hex.EncodeToString(hash[:]) != block.Header.StateHash {
			t.Fatalf("%s: the state differs after it", path)
		}
		sum.StateHash = block.Header.StateHash
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
	sum.Digest = digest(t, rows)
	return sum
}

func entry(t *testing.T, e *events.Entry, s *state.State, r *reducer.Reducer, sameRules bool, sum *summary) {
	t.Helper()
	if !e.Decision.CheckHash() {
		t.Fatalf("record %d does not have its hash", e.Message.Seq)
	}
	if sameRules {
		d := r.Decide(s, &e.Message)
		was, err := events.ParseDecision(e.Record)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := d.AppendBare(nil), was.AppendBare(nil); !bytes.Equal(got, want) {
			t.Fatalf("command %d is decided anew:\n%s\nwas\n%s", e.Message.Seq, got, want)
		}
	}
	s.Apply(&e.Message, e.Decision)
	ledger := e.Decision.Ledger()
	if head := sum.Heads[ledger]; head != "" && head != e.Decision.Prev {
		t.Fatalf("record %d does not follow the head of ledger %q", e.Message.Seq, ledger)
	}
	sum.Heads[ledger] = e.Decision.Hash
	sum.Commands++
}

// writeHistory writes the history of the release to come: the golden stories and
// random logs, one behind the other.
func writeHistory(t *testing.T) {
	t.Helper()
	w := reducertest.NewWorld()
	paths, err := filepath.Glob("../../testdata/golden/story-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var seq uint64
	for _, path := range paths {
		for _, m := range logged(t, path) {
			seq++
			m.Seq = seq
			if _, err := w.Step(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Random logs that show an event which none before them shows. The generator
	// numbers its messages itself, from 1 on.
	found := eventsOf(w.Log)
	for seed := uint64(0); len(found) < len(events.Types); seed++ {
		other := reducertest.NewWorld()
		if err := other.Random(reducertest.NewGenerator(seed, other.State), 170, seed); err != nil {
			t.Fatal(err)
		}
		more := eventsOf(append(slices.Clone(w.Log), other.Log...))
		if len(more) == len(found) {
			continue
		}
		found = more
		for _, e := range other.Log {
			seq++
			m := *e.Message
			m.Seq = seq
			if _, err := w.Step(&m); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := state.NewMemory()
	s, prev := state.New(rows, state.Cursor{}, 0), events.ZeroHash
	for i, first := 0, 0; first < len(w.Log); i, first = i+1, first+97 {
		b := events.NewBlock(events.Header{
			RulesVersion: reducer.RulesVersion, Generation: "01K0000000000000000000000G", Writer: "01K0000000000000000000000W",
			Build: newHistory, Shards: 1, Time: "1767225600000", PrevBlockHash: prev,
		})
		for _, e := range w.Log[first:min(first+97, len(w.Log))] {
			b.Add(e.Message, e.Decision)
			s.Apply(e.Message, e.Decision)
		}
		rows.Commit(s.Take(uint64(i + 1)))
		s.Committed()
		data, hash := b.Seal(s.Hash())
		prev = hex.EncodeToString(hash[:])
		reducertest.Golden(t, filepath.Join(histories, newHistory, fmt.Sprintf("%06d.block", i+1)), data)
	}
}

// eventsOf are the types of the events of a log.
func eventsOf(log []reducertest.Entry) map[string]bool {
	found := map[string]bool{}
	for _, e := range log {
		for _, event := range e.Decision.Events {
			found[event.Type()] = true
		}
	}
	return found
}

func logged(t *testing.T, path string) []*events.Message {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var messages []*events.Message
	for lines := logfile.NewReader(file); ; {
		m, err := lines.NextMessage()
		if errors.Is(err, io.EOF) {
			return messages
		}
		if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
}

// digest is the stateDigest of the named projections (DESIGN 4).
func digest(t *testing.T, rows *state.MemoryRows) string {
	t.Helper()
	sum := sha256.New()
	for _, projection := range state.Named {
		err := state.NewReader(rows).Documents(projection, "", "", func(d *state.Document) bool {
			sum.Write(append(d.AppendLine(nil), '\n'))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// given says whether the tests run with a flag.
func given(name string) bool {
	f := flag.Lookup(name)
	return f != nil && f.Value.String() == "true"
}
