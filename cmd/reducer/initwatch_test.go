package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// logins gives the flags of a user of init.
func logins(dir, url string) func(user string) []string {
	return func(user string) []string {
		return []string{"--nats", url, "--nkey", filepath.Join(dir, user+".nk"), "--inbox-prefix", "_INBOX." + user, "--timeout", "60s"}
	}
}

// TestInitUsers: with the users of init one publishes, asks and watches with the
// same commands as without, as processes.
func TestInitUsers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	must(t, 0, "reducer", "init", dir, "--user", "buyer:agent:c1")
	data := t.TempDir()
	s := serve(t, data, "--listen", "127.0.0.1:0", "--nats-config", filepath.Join(dir, "nats.conf"))
	as := logins(dir, s.url)
	send := func(user string, commands ...string) string {
		t.Helper()
		r := run(t, strings.Join(commands, "\n"), "ingest", append(as(user), "--wait", "--contract", "c1", "--principal", user)...)
		if r.code != 0 {
			t.Fatalf("%s: %s", user, r)
		}
		return r.out
	}
	send("host", `{"command":`+openLedger+`}`, `{"command":{"type":"startRun","runId":"r1"}}`)
	watching := &proctest.Output{}
	c := exec.Command(program(t, "reducer"), append([]string{"watch", "runs", "--contract", "c1", "--since", "1"}, as("buyer")...)...)
	c.Stdout, c.Stderr = watching, watching
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	shows := func(what string) {
		t.Helper()
		eventually(t, "the watch shows "+what, func() bool { return strings.Contains(watching.String(), what) })
	}
	shows("READY")
	if out := send("buyer", `{"command":{"type":"transition","runId":"r1","to":"RUNNING"}}`); !strings.Contains(out, "runTransitioned") {
		t.Errorf("ingest said %s", out)
	}
	shows("RUNNING")
	s.kill()
	serve(t, data, "--listen", strings.TrimPrefix(s.url, "nats://"), "--nats-config", filepath.Join(dir, "nats.conf"))
	send("host", `{"command":{"type":"startRun","runId":"after-the-kill"}}`)
	shows("after-the-kill")
	if n := strings.Count(watching.String(), "RUNNING"); n != 1 || strings.Contains(watching.String(), "ermission") {
		t.Errorf("the watch shows %d times what it should once: %s", n, watching)
	}
	for args, want := range map[string]string{
		"show runs --contract c1":                 "after-the-kill",
		"show decisions --contract c1":            "run goes from READY to RUNNING",
		"show timeline --contract c1 --run r1":    "RUNNING",
		"show attempts --contract c1 --unsettled": "",
		"status": "READY",
		"show exposure contract/c1 --contract c1":    "1000",
		"show decisions --contract c1 --rejected":    "",
		"show runs r1 --contract c1 --json":          `"RUNNING"`,
		"show missions --contract c1 --json --limit": "OPEN",
	} {
		if strings.HasSuffix(args, "--limit") {
			args += " 5"
		}
		if r := run(t, "", "reducer", append(strings.Fields(args), as("buyer")...)...); r.code != 0 || !strings.Contains(r.out, want) {
			t.Errorf("%s: %s", args, r)
		}
	}
	if r := run(t, "", "reducer", append([]string{"watch"}, as("buyer")...)...); r.code != 1 || !strings.Contains(r.stderr, "one contract at a time") {
		t.Errorf("watch of everything: %s", r)
	}
	if r := run(t, "", "reducer", append([]string{"watch", "--contract", "c2"}, as("buyer")...)...); r.code != 1 || !strings.Contains(r.stderr, "ermissions") {
		t.Errorf("watch of another contract: %s", r)
	}
}

// TestInitLeaks: no question that the user of one contract may ask gives anything
// of another one, over real connections.
func TestInitLeaks(t *testing.T) {
	login := secured(t)
	host, buyer := login("host"), login("buyer")
	// Names that a careless prefix, pattern or encoding would mix up with c1.
	others := []string{"c10", "c1.runs", "C1", "c", "*", "c1/x", "_cursor"}
	for i, contract := range append(others, "c1") {
		secret := "secret-"
		if contract == "c1" {
			secret = "mine-"
		}
		token := wire.Get.Subject(contract)
		token = strings.TrimSuffix(strings.TrimPrefix(token, "aiws.q."), ".get")
		opening := strings.ReplaceAll(openLedger, `"id":"c1"`, fmt.Sprintf(`"id":%q`, contract))
		accepted(t, host, patience, "aiws.submit."+token+".host.openContract", strings.ReplaceAll(opening, `"missionId":"m"`, `"missionId":"`+secret+`m"`))
		accepted(t, host, patience, "aiws.submit."+token+".host.startRun", fmt.Sprintf(`{"type":"startRun","runId":"%srun%d"}`, secret, i))
	}
	questions := []string{
		"", `{"limit":1000}`, `{"commands":true}`, `{"newest":true,"commands":true}`, `{"after":"1-x"}`, `{"after":"0-"}`, `{"after":1}`, `{"since":1}`,
		`{"projection":"runs","key":">"}`, `{"projection":"runs","key":"*"}`, `{"projection":"exposure","key":"contract/c10"}`,
		`{"projection":"runs"}`, `{"projection":"missions"}`, `{"projection":"missions","key":"c10"}`, `{"run":"secret-run0","commands":true}`,
		`{"projection":"decisions"}`, `{"projection":"grants"}`, `{"commandSeq":1}`, `{"commandSeq":2}`, `{"wait":100}`,
		`{"projection":"runs","key":"secret-run0"}`, `{"runId":"secret-run0"}`, `{"principal":"host","commandId":"x"}`,
	}
	mine := 0
	for _, e := range []wire.Endpoint{wire.Get, wire.List, wire.Decision, wire.Plan, wire.Changes, wire.History, wire.ListUnsettled} {
		for _, question := range questions {
			m, err := buyer.Request(e.Subject("c1"), []byte(question), patience)
			if err != nil {
				t.Fatalf("%s %s: %v", e, question, err)
			}
			text := strings.ReplaceAll(string(m.Data), "secret-run0", "") // it may be told what it asked for
			if m.Header.Get(micro.ErrorCodeHeader) == "" {
				text = string(m.Data)
			}
			if strings.Contains(text, "secret-") {
				t.Errorf("%s %s gives %s", e, question, m.Data)
			}
			if strings.Contains(text, "mine-") {
				mine++
			}
		}
	}
	if mine < 10 {
		t.Errorf("only %d answers say something of its own contract", mine)
	}
	for _, subject := range []string{
		"aiws.q.c10.changes", "aiws.q.c1=2Eruns.history", "aiws.q.=2A.changes", "aiws.q.*.changes", "aiws.q.>", "aiws.q._unrouted.history",
		"aiws.q.contracts", "aiws.q.heads", "aiws.q.digest", "aiws.q..history", "aiws.q.c=31.history", "aiws.q.c10.unsettled",
	} {
		refusedOrNothing(t, buyer, subject)
	}
}

// refusedOrNothing: the server does not let the question through.
func refusedOrNothing(t *testing.T, nc *nats.Conn, subject string) {
	t.Helper()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	defer sub.Unsubscribe()
	if err := nc.PublishRequest(subject, inbox, []byte("{}")); err != nil {
		return // the library does not send it
	}
	// A question that is let through is answered after this one.
	if _, err := nc.Request("aiws.q.status", nil, patience); err != nil {
		t.Fatal(err)
	}
	if m, err := sub.NextMsg(500 * time.Millisecond); err == nil && m.Header.Get("Status") != "503" {
		t.Errorf("%s is answered: %s", subject, m.Data)
	}
}

// TestInitWatchNeedsNoStream: nothing of JetStream was permitted for it.
func TestInitWatchNeedsNoStream(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "secrets")
	must(t, 0, "reducer", "init", dir)
	text, err := os.ReadFile(filepath.Join(dir, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"$JS", "$KV", "aiws.cmd", "aiws.log", `"_INBOX.>"`} {
		if strings.Contains(string(text), subject) {
			t.Errorf("somebody may %s", subject)
		}
	}
}
