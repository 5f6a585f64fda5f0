package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/projections"
)

// reducerFor runs a reducer with a user who may publish some subjects only, and
// gives the flags to log in with.
func reducerFor(t *testing.T, path, listen, subjects string, limits projections.QueryLimits) (r *clienttest.Reducer, login []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a reducer")
	}
	dir := t.TempDir()
	config, password := filepath.Join(dir, "nats.conf"), filepath.Join(dir, "password")
	text := `authorization {users: [{user: u, password: p, permissions: {publish: [` + subjects + `], subscribe: ["_INBOX.u.>"]}}]}`
	for name, content := range map[string]string{config: text, password: "p"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := clienttest.Start(ctx, path, clienttest.Options{Config: config, Listen: listen, Queries: limits})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r, []string{"--nats", r.URL, "--user", "u", "--password-file", password, "--inbox-prefix", "_INBOX.u", "--timeout", "60s"}
}

const submitOnly = `"aiws.submit.>", "aiws.q.>"`

func quickstart(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/quickstart.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestSubmit: for who may not publish into the stream ingest does the same, by
// itself or when it is told to.
func TestSubmit(t *testing.T) {
	decided := map[string]string{}
	for name, c := range map[string]struct{ subjects, via string }{
		"stream":            {`">"`, "stream"},
		"auto, into stream": {`">"`, "auto"},
		"auto, submitted":   {submitOnly, "auto"},
		"submit":            {submitOnly, "submit"},
	} {
		_, login := reducerFor(t, t.TempDir(), "", c.subjects, projections.QueryLimits{})
		args := append(login, "--via", c.via)
		code, out, stderr := ingest(t, quickstart(t), append(args, "--wait")...)
		if code != exit.OK && code != exit.Rejected || stderr != "" && code == exit.OK {
			t.Errorf("%s: code %d\n%s", name, code, stderr)
		}
		decided[name] = fmt.Sprint(code, "\n", out)
		code, out, stderr = ingest(t, quickstart(t), args...)
		if code != 0 || !strings.Contains(out, fmt.Sprint(len(quickstart(t)), " commands published")) {
			t.Errorf("%s, again: code %d, %s%s", name, code, out, stderr)
		}
	}
	for name, got := range decided {
		if want := decided["stream"]; got != want || strings.Count(got, "\n") < 10 {
			t.Errorf("%s: %s\nbut into the stream: %s", name, got, want)
		}
	}
	_, login := reducerFor(t, t.TempDir(), "", submitOnly, projections.QueryLimits{})
	for _, c := range []struct {
		via  string
		code int
		want string
	}{
		{"stream", exit.Failure, "ermissions"}, {"x", exit.Usage, "want auto, stream or submit"},
	} {
		code, _, stderr := ingest(t, quickstart(t), append(login, "--via", c.via)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("--via %s: code %d: %s", c.via, code, stderr)
		}
	}
	_, nothing := reducerFor(t, t.TempDir(), "", `"aiws.q.>"`, projections.QueryLimits{})
	if code, _, stderr := ingest(t, quickstart(t), nothing...); code != exit.Failure || !strings.Contains(stderr, "ermissions") || !strings.Contains(stderr, "aiws.cmd") {
		t.Errorf("who may do neither: code %d: %s", code, stderr)
	}
}

// runs are commands that open a ledger and start runs, in order; every tenth
// stops the mission or goes on with it, which the service takes in another queue.
func runs(n int) []string {
	lines := []string{`{"contract":"c1","principal":"u","command":{"type":"openContract","contract":{"id":"c1","missionId":"m","aiwsEdition":"0.4",` +
		`"profile":"finite-v1","budget":"1000","deadline":"4102444800000","criteria":["c"],"actions":["a"],"resources":["r"],"requiresApproval":false,` +
		`"maxAttempts":"3","maxAuthorizationAgeMs":"3155760000000","features":[]}}}`}
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"contract":"c1","principal":"u","command":{"type":"startRun","runId":"r%d"}}`, i))
		if i%20 == 9 {
			lines = append(lines, `{"contract":"c1","principal":"u","command":{"type":"missionState","state":"SUSPENDED"}}`,
				`{"contract":"c1","principal":"u","command":{"type":"missionState","state":"OPEN"}}`)
		}
	}
	return lines
}

// inOrder checks that each line has its decision, in the order of the file.
func inOrder(t *testing.T, out string, lines int) {
	t.Helper()
	at := 0
	for line := range strings.Lines(out) {
		at++
		if !strings.HasPrefix(strings.TrimSpace(line), fmt.Sprint(at, " ")) || !strings.Contains(line, "accepted") {
			t.Errorf("decision %d is %s", at, line)
		}
	}
	if at != lines {
		t.Errorf("%d decisions of %d commands", at, lines)
	}
}

// TestSubmitOrder: the order of the file is that of the decisions, with many
// commands under way.
func TestSubmitOrder(t *testing.T) {
	_, login := reducerFor(t, t.TempDir(), "", submitOnly, projections.QueryLimits{})
	lines := runs(1000)
	code, out, stderr := ingest(t, lines, append(login, "--wait")...)
	if code != 0 || stderr != "" {
		t.Fatalf("code %d: %s", code, stderr)
	}
	inOrder(t, out, len(lines))
}

// TestSubmitQuota: where the service takes fewer commands than are sent at a
// time, it is waited for.
func TestSubmitQuota(t *testing.T) {
	_, login := reducerFor(t, t.TempDir(), "", submitOnly, projections.QueryLimits{PerPrincipal: 2})
	lines := runs(300)
	code, out, stderr := ingest(t, lines, append(login, "--wait")...)
	if code != 0 && code != exit.Rejected || !strings.Contains(stderr, "takes no more now, waiting (QUOTA") {
		t.Fatalf("code %d: %s", code, stderr)
	}
	if n := strings.Count(out, "\n"); n != len(lines) {
		t.Errorf("%d decisions of %d commands", n, len(lines))
	}
	if n := strings.Count(out, "accepted  runStarted"); n != 300 && code == 0 {
		t.Errorf("%d runs were started", n)
	}
}

// TestSubmitRestart: a reducer that is started again in the middle is waited for,
// and each command is decided once.
func TestSubmitRestart(t *testing.T) {
	path := t.TempDir()
	r, login := reducerFor(t, path, "", submitOnly, projections.QueryLimits{})
	where, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	lines := runs(3000)
	type ended struct {
		code        int
		out, stderr string
	}
	done := make(chan ended, 1)
	go func() {
		code, out, stderr := ingest(t, lines, append(login, "--wait")...)
		done <- ended{code, out, stderr}
	}()
	for { // in the middle
		c, err := r.Cursor()
		if err != nil {
			t.Fatal(err)
		}
		if c.CommandSeq > 100 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	_ = r.Stop() // commands under way hear nothing
	reducerFor(t, path, where.Host, submitOnly, projections.QueryLimits{})
	e := <-done
	if e.code != 0 || !strings.Contains(e.stderr, "the connection is lost") {
		t.Fatalf("code %d: %s", e.code, e.stderr)
	}
	inOrder(t, e.out, len(lines))
}
