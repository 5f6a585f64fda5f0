package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

const quickstart = "../../testdata/quickstart.jsonl"

// decisions parses decision records, a line each.
func decisions(t *testing.T, lines string) []*events.Decision {
	t.Helper()
	var all []*events.Decision
	for line := range strings.Lines(lines) {
		d, err := events.ParseDecision([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, d)
	}
	return all
}

// recorded gives the records of an export with decisions, a line each.
func recorded(t *testing.T, export string) string {
	t.Helper()
	var records strings.Builder
	for line := range strings.Lines(export) {
		_, record, ok := strings.Cut(line, `,"decision":{"at":`)
		if !ok {
			t.Fatalf("no decision in %s", line)
		}
		records.WriteString(`{"at":` + strings.TrimSuffix(record, "}\n") + "\n")
	}
	return records.String()
}

// digestOf is the first word of what digest prints.
func digestOf(t *testing.T, args ...string) string {
	t.Helper()
	digest, _, _ := strings.Cut(must(t, 0, "reducer", append([]string{"digest"}, args...)...), " ")
	return digest
}

// refold decides an export again without a server: the records, and the digest.
func refold(t *testing.T, export string) (records, digest string) {
	t.Helper()
	out, err := command(t, export, "fold", "--digest", "-")
	if err != nil {
		t.Fatal(err)
	}
	records, last, _ := strings.Cut(out, `{"stateDigest":"`)
	return records, strings.TrimSuffix(last, "\"}\n")
}

// The main job: commands in, decisions logged, projections out; the log alone
// gives all of it again.
func TestMainJob(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, data)
	at := []string{"--nats", s.url}

	answered := run(t, "", "ingest", "--wait", "--json", "--nats", s.url, quickstart)
	if answered.code != exit.Rejected {
		t.Fatalf("the story has refusals: %s", answered)
	}
	if shown := must(t, 0, "reducer", "show", "runs", "--contract", "onboarding", "--nats", s.url); !strings.Contains(shown, "laptop-for-kim  COMPLETED   1665") {
		t.Errorf("runs:\n%s", shown)
	}
	digest := digestOf(t, at...)
	export := must(t, 0, "reducer", append([]string{"export"}, at...)...)
	records, refolded := refold(t, export)
	if diff := cmp.Diff(answered.out, records); diff != "" || refolded != digest {
		t.Errorf("what fold decides of the export (-answered +fold):\n%s\ndigests: serve %s, fold %s", diff, digest, refolded)
	}
	logged := recorded(t, must(t, 0, "reducer", append([]string{"export", "--decisions"}, at...)...))
	if diff := cmp.Diff(answered.out, logged); diff != "" {
		t.Errorf("the log holds other decisions than were answered (-answered +log):\n%s", diff)
	}
	must(t, 0, "reducer", append([]string{"verify"}, at...)...)

	s.stop()
	if got := digestOf(t, "--data", data); got != digest {
		t.Errorf("the digest of the stopped directory is %s, it was %s", got, digest)
	}
	must(t, 0, "reducer", "verify", "--data", data)
	if out := must(t, 0, "reducer", "replay", "--data", data); !strings.Contains(out, "the same as the old one") || !strings.Contains(out, digest) {
		t.Errorf("replay:\n%s", out)
	}
}

// Publishing a file again decides nothing again.
func TestPublishedAgain(t *testing.T) {
	s := serve(t, t.TempDir())
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	digest := digestOf(t, "--nats", s.url)
	again := run(t, "", "ingest", "--wait", "--json", "--nats", s.url, quickstart)
	if again.code != exit.Rejected {
		t.Errorf("a duplicate counts as what it repeats: %s", again)
	}
	for i, d := range decisions(t, again.out) {
		if d.Outcome != events.OutcomeDuplicate || d.Of != uint64(i+1) {
			t.Errorf("command %d again: %s of %d", i+1, d.Outcome, d.Of)
		}
	}
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("the digest changed from %s to %s", digest, got)
	}
}

// The store is derived: without it the log gives the same state.
func TestStoreDeleted(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	digest := digestOf(t, "--nats", s.url)
	s.stop()
	if err := os.RemoveAll(filepath.Join(data, "store")); err != nil {
		t.Fatal(err)
	}
	if got := digestOf(t, "--data", data); got != digest {
		t.Errorf("read without a store: %s, it was %s", got, digest)
	}
	if err := os.RemoveAll(filepath.Join(data, "store")); err != nil {
		t.Fatal(err)
	}
	s = serve(t, data)
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("served without a store: %s, it was %s", got, digest)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart) // duplicates: ids are remembered too
}

// manyRuns is a file that opens a ledger and starts runs in it.
func manyRuns(t *testing.T, runs int) string {
	t.Helper()
	text, err := os.ReadFile(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	open, _, _ := strings.Cut(string(text), "\n")
	var b strings.Builder
	fmt.Fprintln(&b, open)
	for n := range runs {
		fmt.Fprintf(&b, `{"contract":"onboarding","principal":"buyer","command":{"type":"startRun","runId":"run-%d"}}`+"\n", n)
	}
	name := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Killed at any moment and started again, a reducer loses no answer and decides
// nothing twice; one ingest lives through all of it.
func TestKilled(t *testing.T) {
	data := t.TempDir()
	const runs = 4000
	file := manyRuns(t, runs)
	s := serve(t, data)
	address := strings.TrimPrefix(s.url, "nats://")
	ended := make(chan result, 1)
	go func() { ended <- run(t, "", "ingest", "--wait", "--json", "--timeout", "30s", "--nats", s.url, file) }()
	random, decided := rand.New(rand.NewPCG(1, 1)), uint64(0)
	for range 6 {
		eventually(t, "more is decided", func() bool {
			before := decided
			decided = decidedBy(t, s.url)
			return decided > before || decided >= runs
		})
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		s.kill()
		s = serve(t, data, "--listen", address)
	}
	answered := <-ended
	if answered.code != 0 {
		t.Fatal(answered)
	}
	decidedOnce(t, s, answered.out, runs+1)
	_, digest := refold(t, must(t, 0, "reducer", "export", "--nats", s.url))
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("the digest is %s, fold of the export says %s", got, digest)
	}
	s.kill()
	must(t, 0, "reducer", "verify", "--data", data)
}

// decidedBy is the last command that a running reducer has decided.
func decidedBy(t *testing.T, url string) uint64 {
	t.Helper()
	var status wire.StatusResponse
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "status", "--json", "--nats", url)), &status); err != nil {
		t.Fatal(err)
	}
	return status.AsOf.Seq
}

// decidedOnce compares what was answered with the log: each answer is there, and
// each id has one decision that is no duplicate.
func decidedOnce(t *testing.T, s *served, answered string, ids int) {
	t.Helper()
	log := map[uint64]string{} // hash by sequence
	first := map[string]uint64{}
	for _, d := range decisions(t, recorded(t, must(t, 0, "reducer", "export", "--decisions", "--nats", s.url))) {
		log[d.CommandSeq] = d.Hash
		if d.Outcome == events.OutcomeDuplicate {
			continue
		}
		if before, twice := first[d.CommandID]; twice {
			t.Errorf("id %s was decided as %d and as %d", d.CommandID, before, d.CommandSeq)
		}
		first[d.CommandID] = d.CommandSeq
	}
	if len(first) != ids {
		t.Errorf("%d ids were decided, want %d", len(first), ids)
	}
	for _, d := range decisions(t, answered) {
		if log[d.CommandSeq] != d.Hash {
			t.Errorf("the answer for command %d is not what the log has", d.CommandSeq)
		}
	}
}
