package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// moreRuns starts some runs, each in a block of its own.
func moreRuns(t *testing.T, s *served, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		line := fmt.Sprintf(`{"contract":"onboarding","principal":"buyer","command":{"type":"startRun","runId":"more-%d"}}`, n)
		if r := run(t, line, "ingest", "--wait", "--nats", s.url); r.code != 0 {
			t.Fatal(r)
		}
	}
}

// A store that is gone is made from a checkpoint and the blocks after it.
func TestCheckpoints(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	var made wire.CheckpointResponse
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "checkpoint", "--json", "--nats", s.url)), &made); err != nil {
		t.Fatal(err)
	}
	if status := statusOf(t, s); made.AsOf != status.AsOf || status.Checkpoint.AsOf != made.AsOf {
		t.Errorf("made %+v, status %+v", made, status.Checkpoint)
	}
	moreRuns(t, s, 0, 3)
	digest := digestOf(t, "--nats", s.url)
	s.stop()
	if err := os.RemoveAll(filepath.Join(data, "store")); err != nil {
		t.Fatal(err)
	}
	s = serve(t, data)
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("the digest is %s, it was %s", got, digest)
	}
	if want := fmt.Sprintf("block=%d", made.AsOf.Block); !strings.Contains(s.stderr.String(), "restored from a checkpoint") || !strings.Contains(s.stderr.String(), want) {
		t.Errorf("it said: %s", s.stderr)
	}
	s.stop()
	if out := must(t, 0, "reducer", "checkpoint", "--data", data); !strings.Contains(out, fmt.Sprintf("block %d", made.AsOf.Block+3)) {
		t.Errorf("of the stopped directory: %s", out)
	}
	must(t, 0, "reducer", "verify", "--data", data)
}

// Checkpoints are made without being asked for.
func TestCheckpointsByThemselves(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data, "--listen", "127.0.0.1:0", "--checkpoint-blocks", "2")
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	moreRuns(t, s, 0, 2)
	eventually(t, "there is a checkpoint", func() bool { return statusOf(t, s).Checkpoint.AsOf.Block > 0 })
	s.kill()
	manifests, err := filepath.Glob(filepath.Join(data, "store", "MANIFEST-*"))
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no manifest: %v", err)
	}
	for _, name := range manifests {
		if err := os.WriteFile(name, []byte("not a manifest"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = serve(t, data)
	if said := s.stderr.String(); !strings.Contains(said, "the store was set aside") || !strings.Contains(said, "restored from a checkpoint") {
		t.Errorf("it said: %s", said)
	}
	s.stop()
	must(t, 0, "reducer", "verify", "--data", data)
}
