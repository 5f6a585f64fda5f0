package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// natsServer runs a NATS server that is not the reducer's.
func natsServer(t *testing.T, payload int32) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: payload,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.ClientURL()
}

// What keeps a reducer from starting is one sentence and an exit code.
func TestServeRefuses(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	address := strings.TrimPrefix(s.url, "nats://")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		code int
		want string
		args []string
	}{
		{"a second one", 1, fmt.Sprintf("is in use by process %d; stop it or name another directory", s.process.Pid), []string{"--data", data, "--listen", "127.0.0.1:0"}},
		{"a port in use", 1, "another server listens there; stop it, or choose another address with --listen", []string{"--listen", address}},
		{"no server", 1, "no NATS server at nats://127.0.0.1:1", []string{"--nats", "nats://127.0.0.1:1"}},
		{"small messages", 1, "max_payload is 1048576 bytes, a reducer needs at least 4194304", []string{"--nats", natsServer(t, 0)}},
		{"no directory", 1, "not a directory", []string{"--data", file}},
		{"strangers", 1, "needs authentication and TLS", []string{"--listen", "0.0.0.0:0"}},
		{"no address", 1, `listen address "here": want host:port`, []string{"--listen", "here"}},
		{"no configuration", 1, "no such file", []string{"--nats-config", file + "-not"}},
		{"another durability", 2, "want always or interval", []string{"--sync", "never"}},
		{"both servers", 2, "--listen is for the embedded server", []string{"--nats", s.url, "--listen", "127.0.0.1:0"}},
		{"copies of one", 2, "the embedded server has one copy", []string{"--replicas", "3"}},
		{"no limit", 2, "fills the disk", []string{"--inbox-max-bytes", "0"}},
		{"an argument", 2, "unknown command", []string{"now"}},
	} {
		args := append([]string{"serve", "--data", filepath.Join(t.TempDir(), "data")}, c.args...)
		r := run(t, "", "reducer", args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %s", c.name, r)
		}
	}
	for _, name := range []string{"show runs", "digest", "status", "export", "verify", "replay"} {
		args := append(strings.Fields(name), "--data", data)
		if r := run(t, "", "reducer", args...); r.code != exit.Failure || !strings.Contains(r.stderr, "is in use by process") {
			t.Errorf("%s of a directory in use: %s", name, r)
		}
		args[len(args)-1] = filepath.Join(t.TempDir(), "none")
		if r := run(t, "", "reducer", args...); r.code != exit.Failure || !strings.Contains(r.stderr, "no such file") {
			t.Errorf("%s of no directory: %s", name, r)
		}
	}
}

// A directory that must not be written is refused. Root writes everywhere.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("runs as root")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "reducer", "serve", "--data", dir); r.code != exit.Failure || !strings.Contains(r.stderr, "must be able to write there") {
		t.Errorf("read-only: %s", r)
	}
}

// On one log one reducer works: the other finds out before it harms anything.
func TestFenced(t *testing.T) {
	url := natsServer(t, 8<<20)
	first := serve(t, t.TempDir(), "--nats", url)
	second := serve(t, t.TempDir(), "--nats", url)
	run(t, "", "ingest", "--wait", "--timeout", "20s", "--nats", url, quickstart)
	loser, winner := first, second
	select {
	case <-first.ended:
	case <-second.ended:
		loser, winner = second, first
	case <-time.After(20 * time.Second):
		t.Fatal("two reducers work on one log")
	}
	if told := loser.exits(exit.Fenced); !strings.Contains(told, "only one reducer may run on a log") {
		t.Errorf("the fenced one says %s", told)
	}
	must(t, 0, "reducer", "verify", "--nats", url)
	if out := must(t, 0, "reducer", "export", "--nats", url); strings.Count(out, "\n") < 19 {
		t.Errorf("the log holds\n%s", out)
	}
	winner.stop()
}

// With an external server the directory holds the store, and replay reads the
// log over the network.
func TestExternalServer(t *testing.T) {
	url, data := natsServer(t, 8<<20), t.TempDir()
	s := serve(t, data, "--nats", url)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", url, quickstart)
	digest := digestOf(t, "--nats", url)
	s.stop()
	if out := must(t, 0, "reducer", "replay", "--data", data, "--nats", url); !strings.Contains(out, "the same as the old one") || !strings.Contains(out, digest) {
		t.Errorf("replay:\n%s", out)
	}
	if r := run(t, "", "reducer", "digest", "--nats", url); r.code != exit.Failure || !strings.Contains(r.stderr, "no reducer answers at nats://") {
		t.Errorf("nobody runs: %s", r)
	}
	if r := run(t, "", "reducer", "digest", "--data", data); r.code != exit.Failure || !strings.Contains(r.stderr, "no decision log") {
		t.Errorf("the log is elsewhere: %s", r)
	}
}
