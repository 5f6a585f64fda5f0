package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// Of TestFlood: what is published without a pause, and what the reducer may take
// for itself at most. A bound on the inbox of 16 MiB makes most of it be turned
// away; the rest of the memory is that of Pebble, of the server and of Go.
const (
	floodCommands = 200_000
	floodBytes    = 768 << 20
)

// TestFlood: a publisher that never waits for anything takes no memory from the
// reducer beyond a bound, and stops nobody else.
func TestFlood(t *testing.T) {
	if proctest.Race {
		t.Skip("the race detector takes memory of its own")
	}
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--inbox-max-bytes", "16MiB")
	nc, err := nats.Connect(s.url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	commands := workload.Open(workload.Ledger(0))
	worker := workload.NewWorker(workload.Ledger(0), 0)
	for i := range floodCommands {
		c := worker.Next()
		if i < len(commands) {
			c = commands[i]
		}
		m := &nats.Msg{Subject: c.Subject, Data: c.Body, Header: nats.Header{"Aiws-Command-Id": {c.ID}}}
		if err := nc.PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.FlushTimeout(2 * time.Minute); err != nil {
		t.Fatal(err)
	}
	if peak := peakBytes(t, s.process.Pid); peak > floodBytes {
		t.Errorf("the reducer took %d MiB, more than %d MiB", peak>>20, floodBytes>>20)
	} else {
		t.Logf("at most %d MiB", peak>>20)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--timeout", "50s", "--nats", s.url, quickstart)
	if status, body := get(t, monitored(t, s), "/readyz"); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, body)
	}
	s.stop()
}

// peakBytes is the most memory that a process had at a time.
func peakBytes(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(line), " kB"), 10, 64)
	if err != nil {
		t.Fatalf("no VmHWM in\n%s", text)
	}
	return kib << 10
}
