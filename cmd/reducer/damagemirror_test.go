package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// TestUnwritableMirror: a flipped bit in the last message of the KV mirror has
// the embedded server refuse every write to the bucket, without an answer. The
// bucket is derived: it is made anew, and deciding goes on.
func TestUnwritableMirror(t *testing.T) {
	t.Parallel()
	data, digest := served19(t)
	files, err := filepath.Glob(filepath.Join(data, "jetstream", "*", "streams", "KV_aiws", "msgs", "*.blk"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files of the bucket: %v", len(files), err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for at := 0; at+12 < len(content); at += int(binary.LittleEndian.Uint32(content[at:]) &^ (1 << 31)) {
		last = at
	}
	content[(last+len(content))/2] ^= 1 << 3
	if err := os.WriteFile(files[0], content, 0o600); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "archive")
	s, err := startQuietly(t, data, copied)
	if err != nil {
		t.Fatal(err)
	}
	defer s.end()
	if !s.untilReady() {
		t.Fatalf("it does not serve: %s", s.stderr)
	}
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("it serves %s, it was %s", got, digest)
	}
	if said := s.stderr.String(); !strings.Contains(said, "the bucket of the KV mirror is damaged") {
		t.Errorf("it says: %s", said)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	if err := s.until("everything was read through", func() bool { return readThrough(s.status(t).Scrub) }); err != nil {
		t.Errorf("%v: %s", err, s.stderr)
	}
	if code := s.terminate(); code != 0 {
		t.Errorf("it ended with %d: %s", code, s.stderr)
	}
	must(t, 0, "reducer", "verify", "--scrub", "--data", data, "--archive", copied)
}
