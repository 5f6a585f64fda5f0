package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/reducer"
)

// releasedHistory is what the history of a release comes to.
type releasedHistory struct {
	Commands int    `json:"commands"`
	Digest   string `json:"digest"`
}

func readHistory(t *testing.T, release string) (h releasedHistory) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(histories, release, "digests.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &h); err != nil {
		t.Fatal(err)
	}
	return h
}

const histories = "../../testdata/histories"

// logUnder makes a data directory with the history as decided under a version of
// the rules.
func logUnder(t *testing.T, rules int64) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	shard, err := makeShard(context.Background(), data, "01K0000000000000000000000G")
	if err != nil {
		t.Fatal(err)
	}
	appendHistory(t, shard.log, shard.generation, rules, 0)
	if err := shard.finish(); err != nil {
		t.Fatal(err)
	}
	return data
}

// A log that older rules decided folds to the same state, is served and goes on;
// verify and import say what they could not decide again. Newer rules are
// refused by name.
func TestOlderRules(t *testing.T) {
	data, digest := logUnder(t, reducer.RulesVersion-1), readHistory(t, "v0.1").Digest
	out := oneSpaced(must(t, 0, "reducer", "verify", "--data", data))
	for _, want := range []string{"decided again 0 under", "not decided again 679 blocks 1 to 68, of rules version 0: verify them with a build of that version", digest} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	s := serve(t, data)
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("it serves %s, the history comes to %s", got, digest)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	s.stop()
	var found verified
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "verify", "--json", "--data", data)), &found); err != nil {
		t.Fatal(err)
	}
	if found.Commands != 679+19 || found.Decided != 19 || len(found.Left) != 1 || found.Left[0].Commands != 679 || found.Left[0].LastBlock != 68 {
		t.Errorf("verify: %+v", found)
	}
	if out := must(t, 0, "reducer", "import", data, "--data", filepath.Join(t.TempDir(), "new")); !strings.Contains(out, "679 commands of blocks 1 to 68, of rules version 0") {
		t.Errorf("import:\n%s", out)
	}
}

func TestNewerRules(t *testing.T) {
	text := start(t, logUnder(t, reducer.RulesVersion+1), "--listen", "127.0.0.1:0").exits(exit.Failure)
	if !strings.Contains(text, "was decided under rules version 2, this build has 1: use a newer build") {
		t.Errorf("it says: %s", text)
	}
}

// The log that a release wrote, in its own format, is imported, served, gone on
// with in the format of this build, verified, archived and restored.
func TestReleasedHistory(t *testing.T) {
	for _, release := range []string{"v0.1", "v0.2"} {
		t.Run(release, func(t *testing.T) {
			want := readHistory(t, release)
			data, copied := releasedLog(t, release), filepath.Join(t.TempDir(), "archive")
			s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
			must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
			digest := digestOf(t, "--nats", s.url)
			eventually(t, "the archive has caught up", func() bool { return statusOf(t, s).Archive.Lag == 0 })
			s.stop()
			out := oneSpaced(must(t, 0, "reducer", "verify", "--scrub", "--data", data, "--archive", copied))
			if !strings.Contains(out, fmt.Sprintf("decided again %d under", want.Commands+19)) {
				t.Errorf("verify:\n%s", out)
			}
			if out := must(t, 0, "reducer", "replay", "--data", data, "--to", fmt.Sprint(want.Commands)); !strings.Contains(out, want.Digest) {
				t.Errorf("the digest of the history is not in:\n%s", out)
			}
			restored := filepath.Join(t.TempDir(), "restored")
			if out := must(t, 0, "reducer", "import", copied, "--data", restored); !strings.Contains(out, digest) {
				t.Errorf("import gives not %s:\n%s", digest, out)
			}
		})
	}
}

// releasedLog makes a data directory with the blocks of a release.
func releasedLog(t *testing.T, release string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(histories, release, "*.block"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no history: %v", err)
	}
	data := filepath.Join(t.TempDir(), "data")
	shard, err := makeShard(context.Background(), data, "01K0000000000000000000000Z")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range files {
		block, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := shard.log.Append(t.Context(), uint64(i), block); err != nil {
			t.Fatal(err)
		}
	}
	if err := shard.finish(); err != nil {
		t.Fatal(err)
	}
	return data
}

// oneSpaced is a table without its columns.
func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }
