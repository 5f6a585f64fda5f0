package main

import (
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The benchmarks are for profiles and for benchstat (docs/performance.md). Each
// does something to mixed commands in blocks; ns/command is what to compare.

// benchCommands is how many commands an iteration goes through.
const benchCommands = 64 * blockCommands

func perCommand(b *testing.B, commands int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*commands), "ns/command")
}

func BenchmarkDecode(b *testing.B) {
	list := newSource(mixedWork).take(benchCommands)
	b.ReportAllocs()
	for b.Loop() {
		for i := range list {
			if _, fault := schema.Decode(list[i].Body); fault != nil {
				b.Fatal(fault)
			}
		}
	}
	perCommand(b, len(list))
}

func BenchmarkDecideEvolve(b *testing.B) {
	list := newSource(mixedWork).take(benchCommands)
	b.ReportAllocs()
	for b.Loop() {
		if err := decideAll(list); err != nil {
			b.Fatal(err)
		}
	}
	perCommand(b, len(list))
}

// BenchmarkDecide leaves out folding: every block is decided on the rows of all
// before it, which another pass has folded.
func BenchmarkDecide(b *testing.B) {
	list := newSource(mixedWork).take(benchCommands)
	b.ReportAllocs()
	for range b.N {
		s, r := state.New(state.NewMemory(), state.Cursor{}, 0), reducer.New()
		b.StopTimer()
		for i := range list {
			b.StartTimer()
			d := r.Decide(s, &list[i])
			b.StopTimer()
			s.Apply(&list[i], d)
			if (i+1)%blockCommands == 0 {
				s.Take(uint64(i))
				s.Committed()
			}
		}
		b.StartTimer()
	}
	perCommand(b, len(list))
}

// parsed are the blocks of a log.
func parsed(b *testing.B) []*events.Block {
	b.Helper()
	var list []*events.Block
	for _, data := range logged(b) {
		block, err := events.ParseBlock(data)
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, block)
	}
	return list
}

func logged(b *testing.B) [][]byte {
	b.Helper()
	var list [][]byte
	if err := writeBlocks(newSource(mixedWork), benchCommands, func(block []byte) error {
		list = append(list, block)
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return list
}

func BenchmarkEvolve(b *testing.B) {
	blocks := parsed(b)
	b.ReportAllocs()
	for b.Loop() {
		s := state.New(state.NewMemory(), state.Cursor{}, 0)
		for n, block := range blocks {
			for i := range block.Entries {
				s.Apply(&block.Entries[i].Message, block.Entries[i].Decision)
			}
			s.Take(uint64(n + 1))
			s.Committed()
		}
	}
	perCommand(b, benchCommands)
}

func BenchmarkBlockEncode(b *testing.B) {
	blocks := parsed(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, block := range blocks {
			builder := events.NewBlock(block.Header)
			for i := range block.Entries {
				builder.Add(&block.Entries[i].Message, block.Entries[i].Decision)
			}
			builder.Seal([32]byte{})
		}
	}
	perCommand(b, benchCommands)
}

func BenchmarkBlockParse(b *testing.B) {
	blocks := logged(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, data := range blocks {
			if _, err := events.ParseBlock(data); err != nil {
				b.Fatal(err)
			}
		}
	}
	perCommand(b, benchCommands)
}

// BenchmarkStoreCommit commits the rows of blocks to Pebble, a batch a block.
func BenchmarkStoreCommit(b *testing.B) {
	s := state.New(state.NewMemory(), state.Cursor{}, 0)
	var batches [][]state.Change
	for n, block := range parsed(b) {
		for i := range block.Entries {
			s.Apply(&block.Entries[i].Message, block.Entries[i].Decision)
		}
		batches = append(batches, s.Take(uint64(n+1)))
		s.Committed()
	}
	store, err := projections.OpenStore(projections.StoreOptions{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}()
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		for _, changes := range batches {
			seq++
			if err := store.Commit(changes, state.Cursor{LogSeq: seq, CommandSeq: seq, Generation: generation}); err != nil {
				b.Fatal(err)
			}
		}
	}
	perCommand(b, benchCommands)
}

// TestHistogram: a time falls into a bucket that ends at most four percent above
// it, and quantiles and shares count what was added.
func TestHistogram(t *testing.T) {
	for _, d := range []time.Duration{0, 5 * time.Microsecond, 31 * time.Microsecond, 32 * time.Microsecond, 250 * time.Microsecond, 7 * time.Millisecond, time.Second} {
		var h histogram
		h.add(d)
		if got := h.quantile(0.5); got <= d || got > d+d/25+2*time.Microsecond {
			t.Errorf("%s is counted as below %s", d, got)
		}
	}
	var h histogram
	for us := range 1000 {
		h.add(time.Duration(us) * time.Microsecond)
	}
	if got := h.below(256 * time.Microsecond); got != 0.256 {
		t.Errorf("%v of 0 to 999 are below 256", got)
	}
	if got := h.quantile(0.99); got < 990*time.Microsecond || got > 1030*time.Microsecond {
		t.Errorf("99 of 100 are within %s", got)
	}
	if h.total() != 1000 {
		t.Errorf("%d of 1000 are counted", h.total())
	}
}

func TestMedian(t *testing.T) {
	if got := median([]int{9, 1, 5}); got != 5 {
		t.Errorf("the median of 9, 1, 5 is %d", got)
	}
	if got := median([]int{4, 2}); got != 2 {
		t.Errorf("the median of 4, 2 is %d", got)
	}
}

// TestMissed: a quick run fails where a ratio is more than 20 percent below its
// target, and only there.
func TestMissed(t *testing.T) {
	at := func(ratio float64) *report {
		return &report{findings: []named{{"load", &finding{results: []result{{name: "load-64", ratio: ratio, target: 0.7}}}}}}
	}
	if err := at(0.57).missed(); err != nil {
		t.Error(err)
	}
	if err := at(0.55).missed(); err == nil {
		t.Error("0.55 of 0.7 is not missed")
	}
}

// TestReplay writes a log and replays it: what is measured is the real thing.
func TestReplay(t *testing.T) {
	path := t.TempDir() + "/log"
	if _, err := writeTask(task{path: path, commands: 1000}); err != nil {
		t.Fatal(err)
	}
	values, err := replayTask(task{path: path, commands: 1000})
	if err != nil || values["perProcessorSecond"] <= 0 {
		t.Fatalf("%v %v", values, err)
	}
	if _, err := replayTask(task{path: path, commands: 5000}); err == nil {
		t.Error("a log that is too short is replayed")
	}
}

// TestEmpty: the empty pipeline's blocks and answers have the bytes of real ones.
func TestEmpty(t *testing.T) {
	e, err := newEmpty()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.entries) != samples || len(e.records) != samples {
		t.Fatalf("%d entries, %d records, want %d", len(e.entries), len(e.records), samples)
	}
	block := append([]byte{}, e.header...)
	for _, entry := range e.entries[samples-blockCommands:] {
		block = append(block, entry...)
	}
	if b, err := events.ParseBlock(block); err != nil || len(b.Entries) != blockCommands {
		t.Fatalf("the header and entries of the last real block are no block: %v", err)
	}
}
