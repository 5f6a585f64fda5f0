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

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

const (
	histories  = "../../testdata/histories"
	newHistory = "v0.2" // the one that -rewrite writes where it is missing, and -rewrite -force anew
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

// TestHistoryFormats: the format that a release wrote its blocks in is read, and
// not only where a build happens to be the one that wrote them.
func TestHistoryFormats(t *testing.T) {
	for name, format := range map[string]int64{"v0.1": 1, "v0.2": 2} {
		for i, data := range blocksOf(t, filepath.Join(histories, name)) {
			if h, err := events.ParseHeader(data); err != nil || h.FormatVersion != format {
				t.Errorf("%s, block %d: %+v, %v; want format %d", name, i+1, h, err, format)
			}
		}
	}
}

// TestMixedFormats: a log that an older release began and this build goes on
// with comes to what the older one came to, wherever the change is.
func TestMixedFormats(t *testing.T) {
	whole := blocksOf(t, filepath.Join(histories, "v0.1"))
	want := summarized(t, whole)
	for older := range len(whole) {
		w := writer{header: events.Header{RulesVersion: reducer.RulesVersion, Generation: "01K0000000000000000000000G", Build: newHistory}}
		var entries []events.Entry
		for i, data := range whole {
			block, err := events.ParseBlock(data)
			if err != nil {
				t.Fatal(err)
			}
			if i < older {
				w.append(data, block.Entries)
				continue
			}
			entries = append(entries, block.Entries...)
		}
		w.write(entries, 50)
		if first, err := events.ParseHeader(w.blocks[older]); err != nil || first.FormatVersion != events.FormatVersion {
			t.Fatalf("block %d: %+v, %v", older+1, first, err)
		}
		if diff := cmp.Diff(want, summarized(t, w.blocks)); diff != "" {
			t.Errorf("after %d blocks of format 1 (-want +got):\n%s", older, diff)
		}
	}
}

// blocksOf reads the blocks of a history.
func blocksOf(t *testing.T, folder string) (blocks [][]byte) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.block"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no blocks: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, data)
	}
	return blocks
}

// writer writes blocks, one behind the other, and folds them.
type writer struct {
	header events.Header // of the next block
	rows   *state.MemoryRows
	state  *state.State
	prev   string
	blocks [][]byte
}

// append takes a block that is written already.
func (w *writer) append(data []byte, entries []events.Entry) {
	w.fold(entries)
	hash := events.BlockHash(data)
	w.blocks, w.prev = append(w.blocks, data), hex.EncodeToString(hash[:])
}

func (w *writer) fold(entries []events.Entry) {
	if w.state == nil {
		w.rows, w.prev = state.NewMemory(), events.ZeroHash
		w.state = state.New(w.rows, state.Cursor{}, 0)
	}
	for i := range entries {
		w.state.Apply(&entries[i].Message, entries[i].Decision)
	}
	w.rows.Commit(w.state.Take(uint64(len(w.blocks) + 1)))
	w.state.Committed()
}

// write writes blocks of some commands each.
func (w *writer) write(entries []events.Entry, each int) {
	for some := range slices.Chunk(entries, each) {
		w.fold(some)
		h := w.header
		h.Shards, h.Time, h.PrevBlockHash = 1, "1767225600000", w.prev
		b := events.NewBlock(h)
		for i := range some {
			b.Add(&some[i].Message, some[i].Decision)
		}
		data, hash := b.Seal(w.state.Hash())
		w.blocks, w.prev = append(w.blocks, data), hex.EncodeToString(hash[:])
	}
}

// replayed goes through the blocks of a history.
func replayed(t *testing.T, folder string) summary {
	t.Helper()
	return summarized(t, blocksOf(t, folder))
}

func summarized(t *testing.T, blocks [][]byte) summary {
	t.Helper()
	rows, prev := state.NewMemory(), events.ZeroHash
	s, again := state.New(rows, state.Cursor{}, 10), reducer.New()
	sum := summary{Heads: map[string]string{}}
	for i, data := range blocks {
		block, err := events.ParseBlock(data)
		if err != nil {
			t.Fatalf("block %d: %v", i+1, err)
		}
		if block.Header.PrevBlockHash != prev {
			t.Fatalf("block %d does not follow the block before", i+1)
		}
		prev = hex.EncodeToString(block.Hash[:])
		for n := range block.Entries {
			entry(t, &block.Entries[n], s, again, block.Header.RulesVersion == reducer.RulesVersion, &sum)
		}
		rows.Commit(s.Take(uint64(i + 1)))
		s.Committed()
		if hash := s.Hash(); hex.EncodeToString(hash[:]) != block.Header.StateHash {
			t.Fatalf("block %d: the state differs after it", i+1)
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

// writeHistory writes the history of the release to come: the golden logs, what
// no client should send, and random logs, one behind the other, in blocks of
// several sizes, and the end in a generation of its own, as after a restore.
func writeHistory(t *testing.T) {
	t.Helper()
	w := reducertest.NewWorld()
	paths, err := filepath.Glob("../../testdata/golden/story-*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	paths = append(paths, "../../testdata/golden/M3.jsonl")
	var seq uint64
	step := func(messages ...*events.Message) {
		for _, m := range messages {
			seq++
			m.Seq = seq
			if _, err := w.Step(m); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, path := range paths {
		step(logged(t, path)...)
	}
	step(oddMessages(w.Log[len(w.Log)-1].Message.Time)...)
	// Random logs that show an event which none before them shows.
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
		for _, e := range other.Log { // the generator numbers its messages itself, from 1 on
			m := *e.Message
			step(&m)
		}
	}
	for i, data := range historyBlocks(w.Log) {
		reducertest.Golden(t, filepath.Join(histories, newHistory, fmt.Sprintf("%06d.block", i+1)), data)
	}
}

// oddMessages are of a kind that each subject, header and body can have.
func oddMessages(at int64) []*events.Message {
	return []*events.Message{
		{Time: at, Subject: "aiws.cmd.c.p.settle", Body: []byte("{\xff}")},
		{Time: at, Subject: "aiws.cmd.c.p.settle", IDs: []string{"a", "b"}, Body: []byte(`{"type":"settle"}`)},
		{Time: at, Subject: "aiws.cmd.c.p.settle", IDs: []string{"\xfe"}, Body: []byte(`{"type":"settle"}`)},
		{Time: at, Subject: "aiws.cmd.c.p.settle", IDs: []string{""}, Body: nil},
		{Time: at, Subject: "aiws.cmd.\xfd.p.settle", Body: []byte(`[]`)},
		{Time: at, Subject: "elsewhere", IDs: []string{"x"}, Body: []byte(`{"type":"startRun","type":"startRun"}`)},
	}
}

// historyBlocks are the blocks that a log is written in.
func historyBlocks(log []reducertest.Entry) [][]byte {
	var entries []events.Entry
	for _, e := range log {
		entries = append(entries, events.Entry{Message: *e.Message, Decision: e.Decision})
	}
	w := writer{header: events.Header{
		RulesVersion: reducer.RulesVersion, Generation: "01K0000000000000000000000G", Writer: "01K0000000000000000000000W", Build: newHistory,
	}}
	w.write(entries[:1], 1)
	last := len(entries) - 100
	w.write(entries[1:last], 150)
	w.header.Generation, w.header.Writer = "01K0000000000000000000000H", "01K0000000000000000000000X"
	w.write(entries[last:], 70)
	return w.blocks
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
