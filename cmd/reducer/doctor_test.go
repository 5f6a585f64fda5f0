package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	data, copied, _ := archived19(t)
	out := must(t, 0, "reducer", "doctor", "--data", data, "--archive", copied)
	for _, want := range []string{"stream AIWS_LOG_0: ", "store: it is up to date", "archive: it has all blocks up to", "directory " + data + ": mode"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	s := serve(t, data, "--listen", "127.0.0.1:0", "--archive", copied)
	out = must(t, 0, "reducer", "doctor", "--nats", s.url)
	for _, want := range []string{"fine   fsync: a decision is on disk", "note   access: nobody has to log in", "fine   archive: it has all blocks", "fine   KV mirror: it is live"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if r := run(t, "", "reducer", "doctor", "--data", data); r.code != 1 || !strings.Contains(r.stderr, "in use") {
		t.Errorf("a directory that is used: %s", r)
	}
	s.stop()
	r := run(t, "", "reducer", "doctor", "--nats", s.url, "--json")
	if r.code != 1 || !strings.Contains(r.out, `"level":"wrong","about":"server"`) {
		t.Errorf("without a server: %s", r)
	}
	s = serve(t, data, "--listen", "127.0.0.1:0", "--sync", "interval")
	if r := run(t, "", "reducer", "doctor", "--nats", s.url); r.code != 1 || !strings.Contains(r.out, "wrong  fsync") || !strings.Contains(r.stderr, "1 of ") {
		t.Errorf("with --sync interval: %s", r)
	}
	s.stop()
	if err := os.Chmod(data, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(data, "jetstream")); err != nil {
		t.Fatal(err)
	}
	r = run(t, "", "reducer", "doctor", "--data", data, "--archive", copied)
	if r.code != 1 || !strings.Contains(r.out, "wrong  log: ") || !strings.Contains(r.out, "others on this machine may write") {
		t.Errorf("a log that is gone: %s", r)
	}
}
