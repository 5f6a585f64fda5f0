package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// archived19 is a directory in which the quickstart was decided, and its archive.
func archived19(t *testing.T) (data, copied, digest string) {
	t.Helper()
	data, copied = filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "archive")
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	digest = digestOf(t, "--nats", s.url)
	eventually(t, "the archive has caught up", func() bool {
		a := statusOf(t, s).Archive
		return a != nil && a.Lag == 0 && a.Block > 0
	})
	s.stop()
	return data, copied, digest
}

func statusOf(t *testing.T, s *served) wire.StatusResponse {
	t.Helper()
	var answer wire.StatusResponse
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "status", "--json", "--nats", s.url)), &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// blocksOf are the blocks of a stopped directory or an archive.
func blocksOf(t *testing.T, name string) [][]byte {
	t.Helper()
	log, err := openDirectory(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	var blocks [][]byte
	err = log.Read(t.Context(), 1, func(_ uint64, block []byte) error {
		blocks = append(blocks, bytes.Clone(block))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// goesOn serves a restored directory: the ids of before are remembered, and new
// commands are decided.
func goesOn(t *testing.T, data, digest string, args ...string) {
	t.Helper()
	s := serve(t, data, append([]string{"--listen", "127.0.0.1:0"}, args...)...)
	eventually(t, "it answers", func() bool { return run(t, "", "reducer", "status", "--nats", s.url).code == 0 })
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("it serves the state %s, it was %s", got, digest)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("commands of before changed the state from %s to %s", digest, got)
	}
	line := `{"contract":"onboarding","principal":"buyer","command":{"type":"startRun","runId":"after"}}`
	if r := run(t, line, "ingest", "--wait", "--nats", s.url); r.code != 0 {
		t.Errorf("a new command: %s", r)
	}
	s.stop()
	must(t, 0, "reducer", "verify", "--data", data)
}

// From an archive alone a new machine has the same blocks and goes on in a new
// generation; the same archive goes on with it.
func TestImportArchive(t *testing.T) {
	data, copied, digest := archived19(t)
	before := blocksOf(t, data)
	if diff := cmp.Diff(before, blocksOf(t, copied)); diff != "" {
		t.Errorf("the archive (-log +archive):\n%s", diff)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	var result imported
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "import", "--json", copied, "--data", restored)), &result); err != nil {
		t.Fatal(err)
	}
	if result.StateDigest != digest || result.Commands != 19 || result.Source != "archive" {
		t.Errorf("imported: %+v", result)
	}
	if diff := cmp.Diff(before, blocksOf(t, restored)); diff != "" {
		t.Errorf("the restored log (-before +restored):\n%s", diff)
	}
	goesOn(t, restored, digest, "--archive", copied)
	after := blocksOf(t, restored)
	if diff := cmp.Diff(after, blocksOf(t, copied)); diff != "" {
		t.Errorf("the archive went on otherwise (-log +archive):\n%s", diff)
	}
	first, last := headerOf(t, after[0]), headerOf(t, after[len(after)-1])
	if first.Generation >= last.Generation || last.Generation != result.Generation {
		t.Errorf("generations: %s, then %s; imported as %s", first.Generation, last.Generation, result.Generation)
	}
	// The old machine comes back: its log is not the archive's any more.
	if text := start(t, data, "--listen", "127.0.0.1:0", "--archive", copied).exits(exit.Integrity); !strings.Contains(text, "archive holds block") {
		t.Errorf("the old log under the new archive: %s", text)
	}
}

func headerOf(t *testing.T, block []byte) *events.Header {
	t.Helper()
	h, err := events.ParseHeader(block)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// From an export alone, with decisions or without, a new machine serves the
// same state and goes on.
func TestImportExport(t *testing.T) {
	data, digest := served19(t)
	for _, args := range [][]string{{}, {"--decisions"}} {
		export := must(t, 0, "reducer", append([]string{"export", "--data", data}, args...)...)
		file := filepath.Join(t.TempDir(), "export.jsonl")
		if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
			t.Fatal(err)
		}
		restored := filepath.Join(t.TempDir(), "restored")
		if out := must(t, 0, "reducer", "import", file, "--data", restored); !strings.Contains(out, digest) {
			t.Errorf("import of export %v:\n%s", args, out)
		}
		if again := must(t, 0, "reducer", append([]string{"export", "--data", restored}, args...)...); again != export {
			t.Errorf("export %v of the import:\n%s", args, cmp.Diff(export, again))
		}
		goesOn(t, restored, digest)
	}
}

// What is not in order is not made into a directory that could be served.
func TestImportRefuses(t *testing.T) {
	data, copied, _ := archived19(t)
	export := must(t, 0, "reducer", "export", "--decisions", "--data", data)
	bare := must(t, 0, "reducer", "export", "--data", data)
	lines := strings.SplitAfter(export, "\n")
	cut := filepath.Join(t.TempDir(), "cut")
	if err := os.CopyFS(cut, os.DirFS(copied)); err != nil {
		t.Fatal(err)
	}
	segment := filepath.Join(cut, "00000000000000000001.seg")
	whole, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, stdin, source string
		code                int
		want                string
	}{
		{"a decision changed", strings.Replace(export, `"outcome":"accepted"`, `"outcome":"rejected"`, 1), "-", exit.Integrity, "command 1"},
		{"an amount changed", strings.ReplaceAll(export, `"1650"`, `"1640"`), "-", exit.Integrity, ""},
		{"a command missing", strings.Join(append(lines[:4:4], lines[5:]...), ""), "-", exit.Integrity, "command 6"},
		{"a command missing, its ledger's chain", strings.Join(append(lines[:4:4], lines[5:]...), ""), "-", exit.Integrity, "the record follows"},
		{"a line cut", export[:len(export)*2/3], "-", exit.Integrity, "it was cut or changed"},
		{"a bit of a record", strings.Replace(export, `"outcome":"rejected"`, `"outcome":"rejectef"`, 1), "-", exit.Integrity, "it was cut or changed"},
		{"the beginning missing", strings.Join(lines[3:], ""), "-", exit.Integrity, "command 4"},
		{"mixed", lines[0] + strings.SplitAfter(bare, "\n")[1], "-", exit.Integrity, "either all lines have a decision or none has"},
		{"the order changed", lines[1] + lines[0], "-", exit.Integrity, "line 2"},
		{"no time", `{"contract":"c","principal":"p","command":{"type":"startRun","runId":"r"}}`, "-", 1, "/at"},
		{"no file", "", filepath.Join(data, "none"), 1, "no such file"},
		{"an empty directory", "", t.TempDir(), 1, "no data directory"},
		{"a cut archive", "", cut, exit.Integrity, "00000000000000000001.seg"},
		{"no rules of this build", "", "- --rules 9", exit.Usage, "--rules 9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			into := filepath.Join(t.TempDir(), "new")
			args := append([]string{"import", "--data", into}, strings.Fields(c.source)...)
			r := run(t, c.stdin, "reducer", args...)
			if r.code != c.code || !strings.Contains(r.stderr, c.want) {
				t.Errorf("want %d with %q: %s", c.code, c.want, r)
			}
			left, err := filepath.Glob(into + "*")
			if err != nil || len(left) > 0 {
				t.Errorf("it left %v, %v", left, err)
			}
		})
	}
	if r := run(t, export, "reducer", "import", "-", "--data", data); r.code != exit.Usage || !strings.Contains(r.stderr, "not empty") {
		t.Errorf("into a directory that is used: %s", r)
	}
}

// An import that was killed is begun anew.
func TestImportInterrupted(t *testing.T) {
	_, copied, digest := archived19(t)
	into := filepath.Join(t.TempDir(), "new")
	shard, err := makeShard(context.Background(), into, "g")
	if err != nil {
		t.Fatal(err)
	}
	shard.stop()
	if err := shard.dir.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(into); err == nil {
		t.Fatal("half an import has the name already")
	}
	if out := must(t, 0, "reducer", "import", copied, "--data", into); !strings.Contains(out, digest) {
		t.Error(out)
	}
	if _, err := os.Stat(into + ".partial"); err == nil {
		t.Error("the first try is still there")
	}
}

// An archive that rots is said so, and mended from the log.
func TestServeMendsArchive(t *testing.T) {
	data, copied, digest := archived19(t)
	segment := filepath.Join(copied, "00000000000000000001.seg")
	whole, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	rotten := bytes.Clone(whole)
	rotten[len(rotten)/2] ^= 8
	if err := os.WriteFile(segment, rotten, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "reducer", "import", copied, "--data", filepath.Join(t.TempDir(), "new")); r.code != exit.Integrity {
		t.Errorf("import: %s", r)
	}
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	eventually(t, "the archive is whole again", func() bool {
		text, _ := os.ReadFile(segment)
		return bytes.Equal(text, whole) && statusOf(t, s).Archive.Missing == 0
	})
	s.stop()
	if said := s.stderr.String(); !strings.Contains(said, "a file of the archive is damaged") || !strings.Contains(said, "mended from the log") {
		t.Errorf("it said:\n%s", said)
	}
	if out := must(t, 0, "reducer", "import", copied, "--data", filepath.Join(t.TempDir(), "new")); !strings.Contains(out, digest) {
		t.Error(out)
	}
}

// Of a damaged archive the blocks before the damage can be saved, when told so.
func TestImportUntil(t *testing.T) {
	data, copied, _ := archived19(t)
	blocks := blocksOf(t, data)
	segment := filepath.Join(copied, "00000000000000000001.seg")
	text, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	last := uint64(len(blocks))
	if last < 2 {
		t.Skip("all was decided in one block")
	}
	if err := os.WriteFile(segment, text[:len(text)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved")
	r := run(t, "", "reducer", "import", copied, "--data", saved)
	until := fmt.Sprintf("--until %d", last-1)
	if r.code != exit.Integrity || !strings.Contains(r.stderr, until) {
		t.Fatalf("import: %s", r)
	}
	must(t, 0, "reducer", append([]string{"import", copied, "--data", saved}, strings.Fields(until)...)...)
	if diff := cmp.Diff(blocks[:last-1], blocksOf(t, saved)); diff != "" {
		t.Errorf("saved (-want +got):\n%s", diff)
	}
	must(t, 0, "reducer", "verify", "--data", saved)
}

// An archive that is ahead of the log says that the log was replaced or cut.
func TestArchiveAhead(t *testing.T) {
	data, copied, _ := archived19(t)
	older := filepath.Join(t.TempDir(), "older")
	must(t, 0, "reducer", "import", data, "--data", older)
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	line := fmt.Sprintf(`{"contract":"onboarding","principal":"buyer","command":{"type":"startRun","runId":%q}}`, "later")
	if r := run(t, line, "ingest", "--wait", "--nats", s.url); r.code != 0 {
		t.Fatal(r)
	}
	s.stop()
	text := start(t, older, "--listen", "127.0.0.1:0", "--archive", copied).exits(exit.Integrity)
	if !strings.Contains(text, "restore the log from the archive") {
		t.Errorf("it says: %s", text)
	}
	if r, err := archive.OpenReader(copied); err != nil {
		t.Error(err)
	} else if info, err := r.Info(t.Context()); err != nil || info == (loop.LogInfo{}) {
		t.Error(err)
	}
}
