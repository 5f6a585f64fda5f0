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

// TestDoctorUsers: who may do too much under a server's configuration is named,
// with what.
func TestDoctorUsers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	must(t, 0, "reducer", "init", dir, "--user", "buyer:agent:c1")
	config := filepath.Join(dir, "nats.conf")
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--nats-config", config)
	reducer := []string{"doctor", "--nats", s.url, "--nkey", filepath.Join(dir, "reducer.nk"), "--nats-config"}
	if out := must(t, 0, "reducer", append(reducer, config)...); !strings.Contains(out, "fine   permissions: 7 of 8 users") {
		t.Errorf("of init: %s", out)
	}
	if r := run(t, "", "reducer", "doctor", "--nats", s.url, "--nkey", filepath.Join(dir, "buyer.nk"), "--inbox-prefix", "_INBOX.buyer"); r.code != 1 || !strings.Contains(r.out, "log in as the reducer's user") {
		t.Errorf("as an agent: %s", r)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for user, want := range map[string]string{
		`{user: all, password: p}`: "note   user all: may delete the decision log, change",
		`{user: js, password: p, permissions: {publish: ["aiws.cmd.c1.js.*", "$JS.API.>"], subscribe: ["_INBOX.js.>"]}}`:               "wrong  user js: may delete the decision log, change the settings of the decision log, drop commands that wait\n",
		`{user: any, password: p, permissions: {publish: ["aiws.submit.*.*.approve"], subscribe: ["_INBOX.any.>"]}}`:                   "wrong  user any: may send commands in anybody's name\n",
		`{user: log, password: p, permissions: {publish: ["aiws.log.>"], subscribe: ["_INBOX.log.>"]}}`:                                "wrong  user log: may write to the decision log\n",
		`{user: kv, password: p, permissions: {publish: ["$KV.>"], subscribe: ["_INBOX.kv.>"]}}`:                                       "wrong  user kv: may write rows of the KV mirror\n",
		`{user: ear, password: p, permissions: {publish: ["aiws.cmd.c1.ear.*"]}}`:                                                      "wrong  user ear: may read others' answers\n",
		`{user: del, password: p, permissions: {publish: {deny: ["aiws.>", "$KV.>"]}, subscribe: ["_INBOX.del.>"]}}`:                   "wrong  user del: may delete the decision log",
		`{user: direct, password: p, permissions: {publish: ["aiws.cmd.c1.direct.*", "aiws.q.c1.*"], subscribe: ["_INBOX.direct.>"]}}`: "note   user direct: the password is in the configuration as it is\n",
	} {
		wide := filepath.Join(dir, "wide.conf")
		if err := os.WriteFile(wide, []byte(strings.TrimSuffix(string(text), "]}\n")+user+"\n]}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		r := run(t, "", "reducer", append(reducer, wide)...)
		if bad := strings.HasPrefix(want, "wrong"); (r.code == 1) != bad || !strings.Contains(r.out, want) {
			t.Errorf("%s: no %q in %s", user, want, r)
		}
	}
	if err := os.Chmod(config, 0o666); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "reducer", append(reducer, config)...); r.code != 1 || !strings.Contains(r.out, "they choose who may do what") {
		t.Errorf("a configuration that everybody may write: %s", r)
	}
	open := filepath.Join(dir, "open.conf")
	if err := os.WriteFile(open, []byte("max_payload: 8MB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", "reducer", append(reducer, open)...); r.code != 1 || !strings.Contains(r.out, "the configuration has no users") {
		t.Errorf("nobody has to log in: %s", r)
	}
	if r := run(t, "", "reducer", append(reducer, filepath.Join(dir, "none.conf"))...); r.code != 1 || !strings.Contains(r.stderr, "--nats-config: ") {
		t.Errorf("no file: %s", r)
	}
}
