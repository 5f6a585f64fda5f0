package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

const openLedger = `{"type":"openContract","contract":{"id":"c1","missionId":"m","aiwsEdition":"0.4","profile":"finite-v1",` +
	`"budget":"1000","deadline":"4102444800000","criteria":["c"],"actions":["a"],"resources":["r"],"requiresApproval":false,"maxAttempts":"3",` +
	`"maxAuthorizationAgeMs":"3155760000000","features":[]}}`

// secured is a server with the users of init, one more agent who may publish to
// the stream as docs/clients.md has it, and a way to log in.
func secured(t *testing.T) (login func(user string) *nats.Conn) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := filepath.Join(t.TempDir(), "secrets")
	must(t, 0, "reducer", "init", dir, "--user", "buyer:agent:c1")
	config := filepath.Join(dir, "nats.conf")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	more := `{user: direct, password: p, permissions: {publish: ["aiws.cmd.c1.direct.*", "aiws.q.c1.*"], subscribe: ["_INBOX.direct.>"]}}` + "\n]}\n"
	text = []byte(strings.TrimSuffix(string(text), "]}\n") + more)
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--nats-config", config)
	return func(user string) *nats.Conn {
		t.Helper()
		as := nats.UserInfo(user, "p")
		if user != "direct" {
			as = seedOf(t, dir, user)
		}
		return connectAs(t, s.url, user, as, func(*nats.Conn, *nats.Subscription, error) {})
	}
}

// seedOf is the login of a user of init.
func seedOf(t *testing.T, dir, user string) nats.Option {
	t.Helper()
	key, err := nats.NkeyOptionFromSeed(filepath.Join(dir, user+".nk"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// connectAs logs in as a user with inboxes of its own until the test ends; hear
// is told what the server refuses.
func connectAs(t *testing.T, url, user string, as nats.Option, hear nats.ErrHandler) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(url, as, nats.CustomInboxPrefix("_INBOX."+user), nats.ErrorHandler(hear))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// accepted sends a command through the service, under one id until it is taken,
// waits for each answer for patience, and fails unless it is accepted. It returns
// how long it took and how often it was sent again.
func accepted(t *testing.T, nc *nats.Conn, patience time.Duration, subject, body string) (took time.Duration, again int) {
	t.Helper()
	began := time.Now()
	m := &nats.Msg{Subject: subject, Data: []byte(body), Header: nats.Header{"Aiws-Command-Id": {nuid.Next()}}}
	for deadline := began.Add(2 * time.Minute); ; again++ {
		answer, err := nc.RequestMsg(m, patience)
		switch {
		case err == nil && strings.Contains(string(answer.Data), `"accepted"`):
			return time.Since(began), again
		case err == nil && answer.Header.Get(micro.ErrorCodeHeader) != "503":
			t.Fatalf("%s: %s", subject, answer.Data)
		case time.Now().After(deadline):
			t.Fatalf("%s: %v", subject, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// patience is for a command that must not be dropped.
const patience = 2 * time.Minute

// TestInitHeaders: no header of the server's, and no reply subject, makes a
// command of somebody else or keeps others' from being decided.
func TestInitHeaders(t *testing.T) {
	login := secured(t)
	host, buyer, direct := login("host"), login("buyer"), login("direct")
	accepted(t, host, patience, "aiws.submit.c1.host.openContract", openLedger)
	foreign := "aiws.cmd.c1.approver.approve"
	for i, header := range []nats.Header{
		{"Nats-Schedule": {"@at 2020-01-01T00:00:00Z"}, "Nats-Schedule-Target": {foreign}},
		{"Nats-Schedule": {"@every 1s"}, "Nats-Schedule-Target": {foreign}, "Nats-Schedule-TTL": {"5m"}},
		{"Nats-Rollup": {"all"}},
		{"Nats-Rollup": {"sub"}},
		{"Nats-Expected-Last-Sequence": {"999999"}},
		{"Nats-Expected-Last-Msg-Id": {"x"}},
		{"Nats-Expected-Last-Subject-Sequence": {"999999"}},
		{"Nats-Expected-Stream": {"AIWS_LOG_0"}},
		{"Nats-TTL": {"1s"}},
		{"Nats-Msg-Id": {"same"}},
		{"Nats-Incr": {"+1"}},
		{"Nats-Batch-Id": {"b"}, "Nats-Batch-Sequence": {"1"}},
		{"Aiws-Reply": {foreign}},
	} {
		for user, nc := range map[string]*nats.Conn{"buyer": buyer, "direct": direct} {
			subject := map[string]string{"buyer": "aiws.submit.c1.buyer.resume", "direct": "aiws.cmd.c1.direct.resume"}[user]
			m := &nats.Msg{Subject: subject, Header: header, Data: []byte(`{"type":"resume"}`)}
			if _, err := nc.RequestMsg(m, 20*time.Second); err != nil {
				t.Logf("%s %v: %v", user, header, err)
			}
			accepted(t, host, patience, "aiws.submit.c1.host.startRun", fmt.Sprintf(`{"type":"startRun","runId":"h%d%s"}`, i, user))
		}
	}
	for _, subject := range []string{"aiws.submit.c1.buyer.resume", "aiws.q.c1.list", "aiws.q.c1.get", "aiws.q.status"} {
		if err := buyer.PublishRequest(subject, foreign, []byte(`{"type":"resume"}`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := buyer.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second)
	accepted(t, host, patience, "aiws.submit.c1.host.startRun", `{"type":"startRun","runId":"last"}`)
	m, err := host.Request("aiws.q.c1.list", []byte(`{"projection":"decisions","limit":1000}`), 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(m.Data), "approver") {
		t.Errorf("something was decided in the approver's name: %s", m.Data)
	}
}

// TestInitFlood: while agents flood, with commands or with questions, the host
// suspends the mission at the first try, and what else it sends is decided if it
// goes on sending it.
func TestInitFlood(t *testing.T) {
	if proctest.Race {
		t.Skip("a server that looks for races is too slow for floods to stall nobody")
	}
	login := secured(t)
	host := login("host")
	accepted(t, host, patience, "aiws.submit.c1.host.openContract", openLedger)
	runs := 0
	starts := func(n int) string {
		var work []time.Duration
		more := 0
		for range n {
			runs++
			took, again := accepted(t, host, 5*time.Second, "aiws.submit.c1.host.startRun", fmt.Sprintf(`{"type":"startRun","runId":"r%d"}`, runs))
			work, more = append(work, took), more+again
		}
		return fmt.Sprintf("startRun: %s, sent again %d times in %d", spread(work), more, n)
	}
	stops := func(n int) string {
		var stop []time.Duration
		for range n {
			took, again := accepted(t, host, patience, "aiws.submit.c1.host.missionState", `{"type":"missionState","state":"SUSPENDED"}`)
			if again > 0 {
				t.Errorf("missionState was sent again %d times", again)
			}
			stop = append(stop, took)
			accepted(t, host, patience, "aiws.submit.c1.host.missionState", `{"type":"missionState","state":"OPEN"}`)
		}
		return "missionState: " + spread(stop)
	}
	t.Logf("idle: %s; %s", stops(20), starts(20))
	for _, subject := range []string{"aiws.submit.c1.buyer.resume", "aiws.q.c1.list"} {
		end := floods(t, login, subject)
		flooded := stops(20) + "; " + starts(1)
		t.Logf("%s: %s; sent %d", subject, flooded, end())
	}
}

// spread says what is usual and what is worst.
func spread(times []time.Duration) string {
	slices.Sort(times)
	return fmt.Sprintf("median %s, most %s", times[len(times)/2], times[len(times)-1])
}

// floods has three connections of the buyer send one request for ever.
func floods(t *testing.T, login func(string) *nats.Conn, subject string) (end func() int) {
	stop, flooding, sent := make(chan struct{}), sync.WaitGroup{}, make([]int, 3)
	for i := range sent {
		nc := login("buyer")
		flooding.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if nc.PublishRequest(subject, "_INBOX.buyer.void", []byte(`{"type":"resume","projection":"runs"}`)) != nil {
					return
				}
				sent[i]++
			}
		})
	}
	time.Sleep(2 * time.Second) // for its queues to be full
	return func() int {
		close(stop)
		flooding.Wait()
		return sent[0] + sent[1] + sent[2]
	}
}
