package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// bounded runs a reducer with a user "agent" as init makes them: without
// JetStream, and with inboxes of its own.
func bounded(ctx context.Context, t *testing.T, o clienttest.Options) (host, agent *client.Client) {
	t.Helper()
	o.Config = filepath.Join(t.TempDir(), "nats.conf")
	err := os.WriteFile(o.Config, []byte(`authorization {users: [
		{user: host, password: p}
		{user: agent, password: p, permissions: {publish: ["aiws.submit.*.agent.*", "aiws.q.c1.*"], subscribe: ["_INBOX.agent.>"]}}
	]}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	r := start(ctx, t, t.TempDir(), o)
	host = connect(t, r.URL, client.Options{Principal: "host"}, nats.UserInfo("host", "p"))
	agent = connect(t, r.URL, client.Options{Principal: "agent"}, nats.UserInfo("agent", "p"), nats.CustomInboxPrefix("_INBOX.agent"))
	return host, agent
}

// once is all rows as a watch gives them that ends there.
func once(ctx context.Context, t *testing.T, c *client.Client, o client.WatchOptions) (rows []string) {
	t.Helper()
	o.Once = true
	for change, err := range c.Watch(ctx, o) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("%d %s %s %s %d %s %v %s", change.Seq, change.Contract, change.Projection, change.Key, change.Block, change.At, change.Hashed, change.Row))
	}
	return rows
}

// TestServiceWatch: who may not touch JetStream sees the same rows in the same
// order as who may, and each change after them.
func TestServiceWatch(t *testing.T) {
	ctx := integration(t)
	host, agent := bounded(ctx, t, clienttest.Options{})
	submit(ctx, t, host, "c1", openContract("c1"))
	submit(ctx, t, host, "c2", openContract("c2"), &schema.StartRun{RunID: "of another"})
	fresh := watch(ctx, t, agent, client.WatchOptions{Contract: "c1", New: true, Marks: true})
	fresh.until(t, func(c client.Change) bool { return c.Kind == client.CaughtUp })
	long := strings.Repeat("=", 99)
	seqs := map[string]uint64{}
	for i := range 1200 { // more than a page
		id := fmt.Sprint("r.", i)
		seqs[id] = submit(ctx, t, host, "c1", &schema.StartRun{RunID: id})[0].CommandSeq
	}
	seqs[long] = submit(ctx, t, host, "c1", &schema.StartRun{RunID: long})[0].CommandSeq
	got := map[string]uint64{}
	last := uint64(0)
	for _, change := range fresh.until(t, func(c client.Change) bool { return c.Key == long }) {
		if change.Contract != "c1" || change.Seq < last {
			t.Errorf("after command %d: %+v", last, change)
		}
		if last = change.Seq; change.Projection == "runs" {
			got[change.Key] = change.Seq
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(seqs) {
		t.Errorf("live: %d runs, want %d", len(got), len(seqs))
	}
	for _, o := range []client.WatchOptions{
		{Contract: "c1"}, {Contract: "c1", Projection: "runs"}, {Contract: "c1", Since: seqs["r.1100"]},
		{Contract: "c1", Projection: "runs", Key: long}, {Contract: "c1", Projection: "exposure", Key: "contract/c1"},
	} {
		want, have := once(ctx, t, host, o), once(ctx, t, agent, o)
		if fmt.Sprint(want) != fmt.Sprint(have) || len(want) == 0 {
			t.Errorf("%+v: the stream has %d rows, the service gives %d", o, len(want), len(have))
		}
	}
}

// TestServiceCrowded: where no more questions may wait, watchers ask now and
// then, and miss nothing.
func TestServiceCrowded(t *testing.T) {
	ctx := integration(t)
	host, agent := bounded(ctx, t, clienttest.Options{Queries: projections.QueryLimits{WaitsInbox: 1}})
	submit(ctx, t, host, "c1", openContract("c1"))
	var watchers []*watcher
	for range 3 {
		w := watch(ctx, t, agent, client.WatchOptions{Contract: "c1", Projection: "runs", Marks: true})
		w.until(t, func(c client.Change) bool { return c.Kind == client.CaughtUp })
		watchers = append(watchers, w)
	}
	for _, run := range []string{"r1", "r2"} {
		submit(ctx, t, host, "c1", &schema.StartRun{RunID: run})
		for _, w := range watchers {
			if got := w.until(t, func(c client.Change) bool { return c.Key == run }); len(got) != 1 {
				t.Errorf("%s: %+v", run, got)
			}
		}
	}
}

// TestServiceRead: the decisions of a contract through the service are those of
// the log, and go on with each new one.
func TestServiceRead(t *testing.T) {
	ctx := integration(t)
	host, agent := bounded(ctx, t, clienttest.Options{})
	submit(ctx, t, host, "c1", openContract("c1"))
	submit(ctx, t, host, "c2", openContract("c2"))
	for i := range 50 {
		_, err := host.Submit(ctx, client.Command{Contract: "c1", ID: fmt.Sprint("id", i/2), Body: &schema.StartRun{RunID: fmt.Sprint("r", i%20)}})
		if r := (*client.Rejection)(nil); err != nil && !errors.As(err, &r) {
			t.Fatal(err)
		}
	}
	for _, from := range []uint64{0, 1, 20} {
		read := func(c *client.Client) (all []string) {
			for e, err := range c.Read(ctx, client.ReadOptions{Contract: "c1", From: from}) {
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, fmt.Sprintf("%d %d %s %q %s %s", e.Block, e.Message.Seq, e.Message.Subject, e.Message.IDs, e.Message.Body, e.Record))
			}
			return all
		}
		if want, have := read(host), read(agent); fmt.Sprint(want) != fmt.Sprint(have) || len(want) < 30 {
			t.Errorf("from %d: the log has %d decisions, the service gives %d", from, len(want), len(have))
		}
	}
	live := make(chan string, 1)
	go func() {
		for e, err := range agent.Read(ctx, client.ReadOptions{Contract: "c1", From: 50, Follow: true}) {
			if err != nil {
				t.Error(err)
				break
			}
			if e.Decision.CommandID == "later" {
				live <- e.Decision.Hash
				break
			}
		}
		close(live)
	}()
	d, err := host.Submit(ctx, client.Command{Contract: "c1", ID: "later", Body: &schema.StartRun{RunID: "later"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-live; got != d.Hash {
		t.Errorf("live: %s, want %s", got, d.Hash)
	}
}

// TestServiceCoordinator: a coordinator whose user may not touch JetStream makes
// its calls, and finds those that were left behind.
func TestServiceCoordinator(t *testing.T) {
	ctx := integration(t)
	host, agent := bounded(ctx, t, clienttest.Options{})
	submit(ctx, t, host, "c1", openContract("c1"),
		&schema.IssueGrant{Grant: schema.Grant{
			ID: "g1", Subject: "agent", Profile: "finite-v1", Actions: []string{"buy"}, Resources: []string{"shop"},
			ExpiresAt: schema.MustDecimal("4102444800000"), Limit: schema.DecimalOf(1000),
		}},
		&schema.StartRun{RunID: "r1"}, &schema.Transition{RunID: "r1", To: "RUNNING"})
	for _, op := range []string{"done", "left"} {
		a := admit(op, op+"-1")
		a.Subject = "agent"
		submit(ctx, t, agent, "c1", a)
	}
	calls := 0
	shop := adapter{
		call: func(context.Context, client.Attempt) (client.Report, error) {
			calls++
			return applied(7), nil
		},
		reconcile: func(context.Context, client.Attempt) (client.Report, error) { return applied(8), nil },
	}
	k := &client.Coordinator{Client: agent}
	if out, err := k.Dispatch(ctx, dispatch("done-1"), shop); err != nil || !out.Called || !out.Settled.Accepted() {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := k.Dispatch(ctx, dispatch("done-1"), shop); err == nil || out.Called {
		t.Errorf("twice: %+v, %v", out, err)
	}
	d := dispatch("left-1")
	submit(ctx, t, agent, "c1", &d.Dispatch) // by a process that was killed then
	outcomes, err := k.Recover(ctx, "c1", []string{"r1"}, shop)
	if err != nil || len(outcomes) != 1 || stateOf(ctx, t, agent, "left-1") != "APPLIED" {
		t.Errorf("%+v, %v", outcomes, err)
	}
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
	page, err := agent.UnsettledPage(ctx, "c1", wire.UnsettledRequest{})
	if err != nil || len(page.Attempts) != 0 {
		t.Errorf("%+v, %v", page, err)
	}
}
