package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Exported and imported, with decisions or without, a history of every command
// and event has the same state and the same ends of its chains; a copy has the
// same blocks.
func TestRoundTrips(t *testing.T) {
	program(t, "reducer")
	data, digest := logUnder(t, reducer.RulesVersion), readHistory(t, "v0.1").Digest
	heads := ledgerHeads(must(t, 0, "reducer", "head", "--data", data))
	for _, args := range [][]string{{}, {"--decisions"}} {
		export := must(t, 0, "reducer", append([]string{"export", "--data", data}, args...)...)
		restored := filepath.Join(t.TempDir(), "restored")
		if out := must(t, 0, "reducer", "import", writeFile(t, "export", export), "--data", restored); !strings.Contains(out, digest) {
			t.Errorf("import of export %v:\n%s", args, out)
		}
		if diff := cmp.Diff(heads, ledgerHeads(must(t, 0, "reducer", "head", "--data", restored))); diff != "" {
			t.Errorf("heads after export %v (-before +after):\n%s", args, diff)
		}
		if again := must(t, 0, "reducer", append([]string{"export", "--data", restored}, args...)...); again != export {
			t.Errorf("export %v of the import is another one", args)
		}
	}
	copied := filepath.Join(t.TempDir(), "copied")
	must(t, 0, "reducer", "import", data, "--data", copied)
	if diff := cmp.Diff(blocksOf(t, data), blocksOf(t, copied)); diff != "" {
		t.Errorf("blocks of a copy (-before +after):\n%s", diff)
	}
	if r := run(t, "", "reducer", "diff", data, copied); r.code != 0 {
		t.Errorf("diff: %s", r)
	}
}

// ledgerHeads are the heads of the ledgers, with the commands and hashes of
// their ends: blocks differ from log to log.
func ledgerHeads(lines string) []string {
	var heads []string
	for line := range strings.Lines(lines) {
		hash, ok := cut(line, `"hash":"`, `"`)
		ledger, _ := cut(line, `"ledger":"`, `"`)
		seq, _ := cut(line, `"seq":`, `}`)
		if ok {
			heads = append(heads, ledger+" "+seq+" "+hash)
		}
	}
	return heads
}

func cut(text, before, after string) (string, bool) {
	_, rest, ok := strings.Cut(text, before)
	found, _, _ := strings.Cut(rest, after)
	return found, ok
}

// countingLog counts the blocks that are read.
type countingLog struct {
	loop.Log
	blocks int
}

func (l *countingLog) Read(ctx context.Context, from uint64, f func(seq uint64, block []byte) error) error {
	return l.Log.Read(ctx, from, func(seq uint64, block []byte) error {
		l.blocks++
		return f(seq, block)
	})
}

// Opening a store reads the blocks that it lacks, and no others; one that is
// made from a checkpoint, those after the checkpoint.
func TestTailOnly(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	must(t, 0, "reducer", "checkpoint", "--nats", s.url)
	moreRuns(t, s, 0, 3)
	s.stop()
	all := len(blocksOf(t, data))
	for _, c := range []struct {
		name    string
		deleted []string
		want    int
	}{
		{"the store is there", nil, 0},
		{"the store is gone", []string{"store"}, 3},
		{"the checkpoints are gone too", []string{"store", "checkpoints"}, all},
	} {
		for _, name := range c.deleted {
			if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
				t.Fatal(err)
			}
		}
		if got := blocksRead(t, data); got != c.want {
			t.Errorf("%s: %d blocks were read, want %d of %d", c.name, got, c.want, all)
		}
	}
}

func blocksRead(t *testing.T, data string) int {
	t.Helper()
	log, err := openStopped(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	counted := &countingLog{Log: log.Log}
	log.Log = counted
	home := projections.NewHome(projections.StoreOptions{Dir: log.dir.Store(), Checkpoints: log.dir.Checkpoints(), FlushEvery: -1})
	store, err := openStore(t.Context(), home, log)
	if err != nil {
		t.Fatal(err)
	}
	if store.Cursor().LogSeq != log.end {
		t.Errorf("the store is at block %d, the log ends at %d", store.Cursor().LogSeq, log.end)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	return counted.blocks
}
