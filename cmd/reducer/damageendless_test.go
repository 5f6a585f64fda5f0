package main

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// TestEndlessReading: one flipped bit in the sequence of the inbox's last
// message sends the embedded server through sequences that are not there. The
// reducer gives up on it, and says what to do.
func TestEndlessReading(t *testing.T) {
	if testing.Short() {
		t.Skip("takes twenty seconds")
	}
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, data)
	s.stop()
	leaveWaiting(t, data)
	streams := filepath.Join(data, "jetstream", "*", "streams")
	flipLastSequence(t, filepath.Join(streams, "AIWS_INBOX_0", "msgs", "*.blk"))
	// A process of its own: what reads for ever cannot be stopped.
	var said proctest.Output
	c := exec.CommandContext(t.Context(), program(t, "reducer"), "serve", "--data", data, "--listen", "127.0.0.1:0")
	c.Stderr = &said
	err := c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	if code := c.ProcessState.ExitCode(); code != exit.Integrity || !strings.Contains(said.String(), "delete the stream directory of the inbox") {
		t.Fatalf("exit code %d: %s", code, said.String())
	}
	inbox, err := filepath.Glob(filepath.Join(streams, "AIWS_INBOX_0"))
	if err != nil || len(inbox) != 1 {
		t.Fatal(inbox, err)
	}
	if err := os.RemoveAll(inbox[0]); err != nil {
		t.Fatal(err)
	}
	s = serve(t, data) // as it said
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	s.stop()
}

// flipLastSequence flips a high bit in the sequence of the last message of a
// file of the server: messages begin with their length and their sequence.
func flipLastSequence(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	file := files[len(files)-1]
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for at := 0; at+12 < len(content); at += int(binary.LittleEndian.Uint32(content[at:]) &^ (1 << 31)) {
		last = at
	}
	content[last+9] ^= 1 << 5
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
