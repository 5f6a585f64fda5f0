package main

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/internal/certtest"
)

// TestInitPasswords: with --passwords the server has hashes, the files have what
// they are of, and both ways to log in work, each with its own secret only.
func TestInitPasswords(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	told := must(t, 0, "reducer", "init", dir, "--passwords", "--user", "böb 1:agent:c1")
	config, err := os.ReadFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.password"))
	if err != nil || len(names) != 7 {
		t.Fatalf("%v, %v", names, err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		if secret, err := os.ReadFile(name); err != nil || bytes.Contains(config, bytes.TrimSpace(secret)) || strings.Contains(told, strings.TrimSpace(string(secret))) {
			t.Errorf("%s is not secret, %v", name, err)
		}
	}
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--nats-config", filepath.Join(dir, "nats.conf"))
	file := func(user string) string { return filepath.Join(dir, user+".password") }
	must(t, 0, "ingest", "--nats", s.url, "--wait", "--nkey", filepath.Join(dir, "reducer.nk"), filepath.Join(dir, "open-contract.jsonl"))
	as := func(user, secret string, args ...string) result {
		args = append(args, "--nats", s.url, "--user", user, "--password-file", secret, "--inbox-prefix", "_INBOX."+user)
		return run(t, "", "reducer", args...)
	}
	const bob = "b=C3=B6b=201"
	for _, user := range []string{"host", "observer", bob} {
		if r := as(user, file(user), "show", "missions", "--contract", "c1"); r.code != 0 || !strings.Contains(r.out, "OPEN") {
			t.Errorf("%s: %s", user, r)
		}
	}
	for name, r := range map[string]result{
		"another's password": as("host", file("observer"), "status"),
		"the hash":           as("host", filepath.Join(dir, "nats.conf"), "status"),
		"a name for a token": run(t, "", "reducer", "status", "--nats", s.url, "--user", "böb 1", "--password-file", file(bob)),
		"no file":            as("host", file("nobody"), "status"),
		"no password":        run(t, "", "reducer", "status", "--nats", s.url, "--user", "host"),
		"nobody":             run(t, "", "reducer", "status", "--nats", s.url),
	} {
		if r.code == 0 {
			t.Errorf("%s logs in: %s", name, r)
		}
	}
}

// TestInitTLS: with a certificate the server listens to strangers, speaks TLS
// only, and lets nobody in whom the flags do not want.
func TestInitTLS(t *testing.T) {
	files := t.TempDir()
	ca := certtest.NewAuthority(t, filepath.Join(files, "ca.pem"))
	cert, key := ca.Issue(t, filepath.Join(files, "server"), time.Now().Add(24*time.Hour))
	for _, mutual := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "secrets")
		args := []string{"init", dir, "--tls-cert", cert, "--tls-key", key}
		if mutual {
			args = append(args, "--tls-ca", ca.File)
		}
		must(t, 0, "reducer", args...)
		s := serve(t, t.TempDir(), "--listen", "0.0.0.0:0", "--nats-config", filepath.Join(dir, "nats.conf"))
		u := strings.ReplaceAll(s.url, "0.0.0.0", "127.0.0.1")
		ask := func(more ...string) result {
			return run(t, "", "reducer", append([]string{"status", "--nats", u, "--nkey", filepath.Join(dir, "observer.nk"), "--inbox-prefix", "_INBOX.observer"}, more...)...)
		}
		if r := ask("--tls-ca", ca.File, "--tls-cert", cert, "--tls-key", key); r.code != 0 {
			t.Errorf("mutual %v, both certificates: %s", mutual, r)
		}
		if r := ask("--tls-ca", ca.File); (r.code == 0) == mutual {
			t.Errorf("mutual %v, without a certificate of our own: %s", mutual, r)
		}
		if r := ask(); r.code == 0 || !strings.Contains(r.stderr, "certificate") {
			t.Errorf("mutual %v, an authority that nobody knows: %s", mutual, r)
		}
		speakPlain(t, strings.TrimPrefix(strings.TrimPrefix(u, "nats://"), "tls://"))
		s.stop()
	}
}

// speakPlain logs in without TLS, as no client of ours would: the server must
// not take it.
func speakPlain(t *testing.T, address string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("CONNECT {}\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	_, _ = all.ReadFrom(conn) // it ends when the server hangs up
	if strings.Contains(all.String(), "PONG") || !strings.Contains(all.String(), `"tls_required":true`) {
		t.Errorf("without TLS the server says %s", all.String())
	}
}

// TestInitSendsWhatItPrints: the command that init prints opens the contract, and
// what it prints for a user works.
func TestInitSendsWhatItPrints(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	told := must(t, 0, "reducer", "init", dir, "--contract", "deal")
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--nats-config", filepath.Join(dir, "nats.conf"))
	for _, name := range []string{"ingest", "reducer show"} {
		_, line, found := strings.Cut(told, "  "+name+" ")
		line, _, _ = strings.Cut(line, "\n")
		if !found {
			t.Fatalf("no %s in %s", name, told)
		}
		args := strings.Fields(name + " " + line)
		out := must(t, 0, args[0], append(args[1:], "--nats", s.url)...)
		if name == "ingest" && !strings.Contains(out, "contractOpened") {
			t.Errorf("ingest said %s", out)
		}
	}
	nc := connectAs(t, s.url, "observer", seedOf(t, dir, "observer"), nil)
	m, err := nc.Request("aiws.q.deal.get", []byte(`{"projection":"missions","key":"deal"}`), time.Minute)
	if err != nil || !strings.Contains(string(m.Data), `"OPEN"`) {
		t.Errorf("%v, %v", m, err)
	}
}
