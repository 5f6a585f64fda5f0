package client_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// integration skips with -short: the tests after it run a whole reducer.
func integration(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a reducer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func start(ctx context.Context, t *testing.T, path string, o clienttest.Options) *clienttest.Reducer {
	t.Helper()
	r, err := clienttest.Start(ctx, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func connect(t *testing.T, url string, o client.Options, options ...nats.Option) *client.Client {
	t.Helper()
	nc, err := nats.Connect(url, append(options, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(nc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); nc.Close() })
	return c
}

func openContract(id string) *schema.OpenContract {
	return &schema.OpenContract{Contract: schema.Contract{
		ID: id, MissionID: "m", Budget: schema.DecimalOf(1000), Deadline: schema.MustDecimal("4102444800000"), Criteria: []string{"done"},
		Actions: []string{"buy"}, Resources: []string{"shop"}, MaxAttempts: schema.DecimalOf(3),
		MaxAuthorizationAgeMs: schema.MustDecimal("3155760000000"),
	}}
}

func submit(ctx context.Context, t *testing.T, c *client.Client, contract string, bodies ...schema.Command) []client.Decision {
	t.Helper()
	var all []client.Decision
	for _, body := range bodies {
		d, err := c.Submit(ctx, client.Command{Contract: contract, Body: body})
		if err != nil {
			t.Fatalf("%s: %v", body.Type(), err)
		}
		all = append(all, d)
	}
	return all
}

func wantRejection(t *testing.T, err error, code events.Code) *client.Rejection {
	t.Helper()
	var r *client.Rejection
	if !errors.As(err, &r) || r.Code() != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	return r
}

// TestSubmit: directly and through the service.
func TestSubmit(t *testing.T) {
	for _, way := range []client.Way{client.AnyWay, client.Streams, client.Service} {
		t.Run(way.String(), func(t *testing.T) {
			ctx := integration(t)
			r := start(ctx, t, t.TempDir(), clienttest.Options{})
			c := connect(t, r.URL, client.Options{Principal: "host", Way: way})
			_, err := c.Submit(ctx, client.Command{Contract: "c 1", Body: &schema.StartRun{RunID: "r1"}})
			if r := wantRejection(t, err, events.CodeContractNotFound); r.Decision.Final {
				t.Error("a refusal of a ledger that is not open is called final")
			}
			submit(ctx, t, c, "c 1", openContract("c 1"))
			start := client.Command{Contract: "c 1", ID: "start-r1", Body: &schema.StartRun{RunID: "r1"}}
			first, err := c.Submit(ctx, start)
			if err != nil || !first.Accepted() || first.Repeated || !first.Final || first.CommandID != "start-r1" {
				t.Errorf("%+v, %v", first, err)
			}
			again, err := c.Submit(ctx, start)
			if err != nil || !again.Repeated || again.CommandSeq != first.CommandSeq || again.Hash != first.Hash {
				t.Errorf("again: %+v, %v", again, err)
			}
			start.Body = &schema.StartRun{RunID: "r2"}
			_, err = c.Submit(ctx, start)
			wantRejection(t, err, events.CodeCommandIDReused)
			refused := client.Command{Contract: "c 1", ID: "x", Body: &schema.StartRun{RunID: "r1"}}
			for range 2 {
				_, err = c.Submit(ctx, refused)
				if r := wantRejection(t, err, events.CodeRunExists); !strings.Contains(r.Error(), "RUN_EXISTS") {
					t.Error(r)
				}
			}
			found, err := c.Lookup(ctx, "c 1", "host", "start-r1")
			if err != nil || found.Hash != first.Hash {
				t.Errorf("%+v, %v", found, err)
			}
			if _, err := c.Lookup(ctx, "c 1", "host", "never"); !errors.Is(err, client.ErrNotFound) {
				t.Errorf("never sent: %v", err)
			}
		})
	}
}

// TestSubmitAll: in order, however many are in flight, whatever their types.
func TestSubmitAll(t *testing.T) {
	for _, way := range []client.Way{client.AnyWay, client.Service} {
		t.Run(way.String(), func(t *testing.T) { submitAll(t, way) })
	}
}

func submitAll(t *testing.T, way client.Way) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host", Way: way})
	commands := []client.Command{{Contract: "c1", Body: openContract("c1")}}
	for i := range 500 {
		commands = append(commands, client.Command{Contract: "c1", Body: &schema.StartRun{RunID: fmt.Sprint("r", i%250)}})
		if i%50 == 49 { // of another queue of the service
			commands = append(commands,
				client.Command{Contract: "c1", Body: &schema.MissionState{State: "SUSPENDED"}},
				client.Command{Contract: "c1", Body: &schema.MissionState{State: "OPEN"}})
		}
	}
	commands = append(commands, client.Command{Contract: "c1"})
	var at, accepted, rejected, failed int
	last := uint64(0)
	for d, err := range c.SubmitAll(ctx, slices.Values(commands), 64) {
		var r *client.Rejection
		switch {
		case err == nil:
			accepted++
		case errors.As(err, &r):
			rejected++
		default:
			failed++
		}
		if d.Decision != nil && d.CommandSeq <= last {
			t.Errorf("command %d was decided as %d, after %d", at, d.CommandSeq, last)
		}
		if d.Decision != nil {
			last = d.CommandSeq
		}
		at++
	}
	if accepted != 251+20 || rejected != 250 || failed != 1 {
		t.Errorf("%d accepted, %d rejected, %d failed", accepted, rejected, failed)
	}
	for range c.SubmitAll(ctx, slices.Values(commands[1:]), 64) {
		break // the rest is not waited for
	}
}

// TestSubmitNobody: what is said where no reducer is, and where we may not.
func TestSubmitNobody(t *testing.T) {
	ctx := integration(t)
	url := plainServer(t, "")
	for _, way := range []client.Way{client.AnyWay, client.Streams, client.Service} {
		c := connect(t, url, client.Options{Principal: "host", Way: way})
		_, err := c.Submit(ctx, client.Command{Contract: "c1", Body: openContract("c1")})
		if !errors.Is(err, client.ErrNoReducer) || !strings.Contains(err.Error(), url) {
			t.Errorf("no reducer: %v", err)
		}
		if _, err := c.Status(ctx); !errors.Is(err, client.ErrNoReducer) {
			t.Errorf("no reducer: %v", err)
		}
	}
	c := connect(t, plainServer(t, `permissions: {publish: {deny: ["aiws.cmd.>", "aiws.submit.>"]}}`), client.Options{Principal: "host"}, nats.UserInfo("u", "p"))
	for range 2 { // what the server said at first is not taken for the answer to the second
		_, err := c.Submit(ctx, client.Command{Contract: "c1", Body: openContract("c1")})
		if !errors.Is(err, client.ErrNotPermitted) {
			t.Errorf("not permitted: %v", err)
		}
	}
}

// TestSubmitSendsAgain: a command whose decision does not come is looked up and
// sent again under its id; when the context ends, it is uncertain.
func TestSubmitSendsAgain(t *testing.T) {
	ctx := integration(t)
	url := plainServer(t, "")
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "AIWS_INBOX_0", Subjects: []string{"aiws.cmd.>"}}); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	if _, err := nc.Subscribe("aiws.q.c1.decision", func(m *nats.Msg) { asked.Add(1); _ = m.Respond([]byte("{}")) }); err != nil {
		t.Fatal(err)
	}
	sub, err := nc.SubscribeSync("aiws.cmd.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	c := connect(t, url, client.Options{Principal: "host", Resend: 50 * time.Millisecond})
	short, cancel := context.WithTimeout(ctx, 400*time.Millisecond)
	defer cancel()
	_, err = c.Submit(short, client.Command{Contract: "c1", Body: openContract("c1")})
	var uncertain *client.Uncertain
	if !errors.As(err, &uncertain) || !errors.Is(err, context.DeadlineExceeded) || uncertain.Command.ID == "" || uncertain.Command.Principal != "host" {
		t.Fatalf("got %v", err)
	}
	sent := 0
	for {
		m, err := sub.NextMsg(50 * time.Millisecond)
		if err != nil {
			break
		}
		sent++
		if id := m.Header.Get("Aiws-Command-Id"); id != uncertain.Command.ID {
			t.Errorf("sent again under %q, not %q", id, uncertain.Command.ID)
		}
	}
	if sent < 3 || asked.Load() < 2 {
		t.Errorf("sent %d times, asked %d times", sent, asked.Load())
	}
	record := func(m *nats.Msg) []byte {
		d := &events.Decision{Contract: "c1", CommandSeq: 1, CommandID: m.Header.Get("Aiws-Command-Id"), BodyHash: events.ZeroHash,
			Outcome: events.OutcomeRejected, Code: events.CodeContractExists}
		d.Seal(events.ZeroHash)
		return d.Append(nil)
	}
	go func() {
		for first := range 2 { // the first sending is not answered
			m, err := sub.NextMsg(10 * time.Second)
			if err == nil && first > 0 {
				_ = nc.Publish(m.Header.Get("Aiws-Reply"), record(m))
			}
		}
	}()
	_, err = c.Submit(ctx, uncertain.Command)
	wantRejection(t, err, events.CodeContractExists)
}

func TestQuota(t *testing.T) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{PerPrincipal: 2}})
	c := connect(t, r.URL, client.Options{Principal: "host", Way: client.Service})
	submit(ctx, t, c, "c1", openContract("c1"))
	done := make(chan error, 50)
	for i := range cap(done) { // far over the quota: each is told to wait, and gets its turn
		go func() {
			_, err := c.Submit(ctx, client.Command{Contract: "c1", Body: &schema.StartRun{RunID: fmt.Sprint("r", i)}})
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestDependencies: a host that imports the client links neither store nor
// server.
func TestDependencies(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, banned := range []string{"github.com/cockroachdb/pebble", "github.com/nats-io/nats-server", "aiws-reducer/reducer", "aiws-reducer/projections"} {
		if strings.Contains(string(out), banned) {
			t.Errorf("the client imports %s", banned)
		}
	}
}
