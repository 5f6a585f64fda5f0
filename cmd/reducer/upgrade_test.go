package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/reducer"
)

// historyDigest is the digest that the history of the first release comes to.
func historyDigest(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/histories/v0.1/digests.json")
	if err != nil {
		t.Fatal(err)
	}
	var sums struct {
		Digest string `json:"digest"`
	}
	if err := json.Unmarshal(text, &sums); err != nil {
		t.Fatal(err)
	}
	return sums.Digest
}

// logUnder makes a data directory with the history as decided under a version of
// the rules.
func logUnder(t *testing.T, rules int64) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	shard, err := makeShard(context.Background(), data, "01K0000000000000000000000G")
	if err != nil {
		t.Fatal(err)
	}
	appendHistory(t, shard.log, shard.generation, rules)
	if err := shard.finish(); err != nil {
		t.Fatal(err)
	}
	return data
}

// A log that older rules decided folds to the same state, is served and goes on;
// verify and import say what they could not decide again. Newer rules are
// refused by name.
func TestOlderRules(t *testing.T) {
	data, digest := logUnder(t, reducer.RulesVersion-1), historyDigest(t)
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

// The log that the first release wrote, in its own format, is imported, served
// and verified.
func TestReleasedHistory(t *testing.T) {
	files, err := filepath.Glob("../../testdata/histories/v0.1/*.block")
	if err != nil || len(files) == 0 {
		t.Fatalf("no history: %v", err)
	}
	data := filepath.Join(t.TempDir(), "data")
	shard, err := makeShard(context.Background(), data, "01K0000000000000000000000G")
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
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	s.stop()
	out := oneSpaced(must(t, 0, "reducer", "verify", "--data", data))
	if !strings.Contains(out, "decided again 698 under") {
		t.Errorf("verify:\n%s", out)
	}
	if out := must(t, 0, "reducer", "replay", "--data", data, "--to", "679"); !strings.Contains(out, historyDigest(t)) {
		t.Errorf("the digest of the history is not in:\n%s", out)
	}
}

// oneSpaced is a table without its columns.
func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }
