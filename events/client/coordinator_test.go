package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

var checkedAt = schema.MustDecimal("1704067200000")

func admit(operation, attempt string) *schema.Admit {
	return &schema.Admit{
		RunID: "r1", OperationID: operation, AttemptID: attempt, GrantID: "g1", Subject: "host", Amount: schema.DecimalOf(10),
		Action:                 schema.Action{Capability: "buy", Resource: "shop", Payload: schema.Value(fmt.Sprintf("{\"order\":%q}", operation)), Preconditions: "{}"},
		AuthorizationCheckedAt: checkedAt, Policy: "ALLOW", MandatoryChecksOk: true,
	}
}

func dispatch(attempt string) client.Dispatch {
	return client.Dispatch{Contract: "c1", Dispatch: schema.Dispatch{
		AttemptID: attempt, AuthorizationCheckedAt: checkedAt, Policy: "ALLOW", MandatoryChecksOk: true,
	}}
}

// openShop makes a contract with a running run in which orders can be made.
func openShop(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	submit(ctx, t, c, "c1", openContract("c1"),
		&schema.IssueGrant{Grant: schema.Grant{
			ID: "g1", Subject: "host", Profile: "finite-v1", Actions: []string{"buy"}, Resources: []string{"shop"},
			ExpiresAt: schema.MustDecimal("4102444800000"), Limit: schema.DecimalOf(1000),
		}},
		&schema.StartRun{RunID: "r1"}, &schema.Transition{RunID: "r1", To: "RUNNING"})
}

// adapter answers with functions.
type adapter struct {
	call, reconcile func(ctx context.Context, a client.Attempt) (client.Report, error)
}

func (a adapter) Call(ctx context.Context, at client.Attempt) (client.Report, error) {
	return a.call(ctx, at)
}

func (a adapter) Reconcile(ctx context.Context, at client.Attempt) (client.Report, error) {
	return a.reconcile(ctx, at)
}

func applied(cost uint64) client.Report {
	return client.Report{Effect: events.EffectApplied, ActualCost: schema.DecimalOf(cost)}
}

func stateOf(ctx context.Context, t *testing.T, c *client.Client, attempt string) string {
	t.Helper()
	d, err := c.Get(ctx, "c1", "attempts", attempt)
	if err != nil {
		t.Fatal(err)
	}
	var row struct{ State string }
	if err := json.Unmarshal(d.Row, &row); err != nil {
		t.Fatal(err)
	}
	return row.State
}

// TestDispatch: what each kind of call is settled with.
func TestDispatch(t *testing.T) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	openShop(ctx, t, c)
	for name, one := range map[string]struct {
		call func(ctx context.Context, a client.Attempt) (client.Report, error)
		want string
		fail string
	}{
		"applied": {func(_ context.Context, a client.Attempt) (client.Report, error) {
			if a.Action.Payload != `{"order":"applied"}` || a.RunID != "r1" || a.Number != 1 || a.Amount.String() != "10" || a.Subject != "host" {
				return client.Report{}, fmt.Errorf("the attempt is %+v", a)
			}
			return applied(9), nil
		}, "APPLIED", ""},
		"not": {func(context.Context, client.Attempt) (client.Report, error) {
			return client.Report{Effect: events.EffectNotApplied}, nil
		}, "NOT_APPLIED", ""},
		"error": {func(context.Context, client.Attempt) (client.Report, error) {
			return client.Report{Effect: events.EffectApplied}, errors.New("no answer")
		}, "UNKNOWN", "no answer"},
		"panic":   {func(context.Context, client.Attempt) (client.Report, error) { panic("oops") }, "UNKNOWN", "panicked: oops"},
		"exit":    {func(context.Context, client.Attempt) (client.Report, error) { runtime.Goexit(); panic("") }, "UNKNOWN", "ended its goroutine"},
		"nothing": {func(context.Context, client.Attempt) (client.Report, error) { return client.Report{}, nil }, "UNKNOWN", "the effect \"\""},
		"slow": {func(ctx context.Context, _ client.Attempt) (client.Report, error) {
			<-ctx.Done()
			time.Sleep(20 * time.Millisecond)
			return applied(1), nil
		}, "UNKNOWN", "did not come back"},
	} {
		t.Run(name, func(t *testing.T) {
			submit(ctx, t, c, "c1", admit(name, name+"-1"))
			k := &client.Coordinator{Client: c, Call: 100 * time.Millisecond}
			out, err := k.Dispatch(ctx, dispatch(name+"-1"), adapter{call: one.call})
			if one.fail == "" && err != nil || one.fail != "" && (err == nil || !strings.Contains(err.Error(), one.fail)) {
				t.Errorf("error %v, want %q", err, one.fail)
			}
			if got := stateOf(ctx, t, c, name+"-1"); got != one.want || !out.Called || !out.Settled.Accepted() {
				t.Errorf("%s, want %s: %+v", got, one.want, out)
			}
		})
	}
}

// TestDispatchNotCalled: a refusal, an attempt that somebody else dispatched,
// and a decision that is not known, each without a call.
func TestDispatchNotCalled(t *testing.T) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	openShop(ctx, t, c)
	never := adapter{call: func(_ context.Context, a client.Attempt) (client.Report, error) {
		t.Errorf("%s was called", a.AttemptID)
		return applied(1), nil
	}}
	k := &client.Coordinator{Client: c}
	if _, err := k.Dispatch(ctx, dispatch("nowhere"), never); !errors.Is(err, client.ErrNotFound) {
		t.Errorf("no such attempt: %v", err)
	}
	elsewhere := dispatch("a1")
	submit(ctx, t, c, "c1", admit("o1", "a1"), &elsewhere.Dispatch)
	_, err := k.Dispatch(ctx, dispatch("a1"), never)
	wantRejection(t, err, events.CodeAttemptNotPrepared)

	submit(ctx, t, c, "c1", admit("o2", "a2"))
	late := &client.Coordinator{Client: c, Delay: time.Nanosecond}
	if out, err := late.Dispatch(ctx, dispatch("a2"), never); err == nil || stateOf(ctx, t, c, "a2") != "NOT_APPLIED" || out.Called {
		t.Errorf("too late: %+v, %v", out, err)
	}

	submit(ctx, t, c, "c1", admit("o3", "a3"))
	deaf := connect(t, r.URL, client.Options{Principal: "host"})
	deaf.Close() // hears no decision
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	var uncertain *client.Uncertain
	if _, err := (&client.Coordinator{Client: deaf}).Dispatch(short, dispatch("a3"), never); !errors.As(err, &uncertain) {
		t.Errorf("no answer: %v", err)
	}
	out, err := k.Recover(ctx, "c1", []string{"r1"}, adapter{reconcile: func(_ context.Context, a client.Attempt) (client.Report, error) {
		if a.AttemptID == "a1" {
			return client.Report{}, errors.New("the shop is closed")
		}
		return client.Report{Effect: events.EffectNotApplied}, nil
	}})
	if len(out) != 2 || err == nil || !strings.Contains(err.Error(), "the shop is closed") {
		t.Errorf("recovered %+v, %v", out, err)
	}
	if a1, a3 := stateOf(ctx, t, c, "a1"), stateOf(ctx, t, c, "a3"); a1 != "UNKNOWN" || a3 != "NOT_APPLIED" {
		t.Errorf("a1 %s, a3 %s", a1, a3)
	}
	out, err = k.Recover(ctx, "c1", nil, adapter{reconcile: func(context.Context, client.Attempt) (client.Report, error) { return applied(4), nil }})
	if len(out) != 1 || err != nil || stateOf(ctx, t, c, "a1") != "APPLIED" {
		t.Errorf("recovered %+v, %v", out, err)
	}
}

// TestDispatchLost: the connection is lost while the adapter works; the report
// is recorded when it is back.
func TestDispatchLost(t *testing.T) {
	ctx := integration(t)
	path := t.TempDir()
	r := start(ctx, t, path, clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host", Resend: 200 * time.Millisecond})
	openShop(ctx, t, c)
	submit(ctx, t, c, "c1", admit("o1", "a1"))
	host := strings.TrimPrefix(r.URL, "nats://")
	k := &client.Coordinator{Client: c}
	back := make(chan struct{})
	_, err := k.Dispatch(ctx, dispatch("a1"), adapter{call: func(context.Context, client.Attempt) (client.Report, error) {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
		go func() {
			defer close(back)
			time.Sleep(300 * time.Millisecond)
			start(ctx, t, path, clienttest.Options{Listen: host})
		}()
		return applied(7), nil
	}})
	<-back
	if err != nil || stateOf(ctx, t, c, "a1") != "APPLIED" {
		t.Error(err)
	}
}

// shop counts effects: what was ordered by which attempt. It serves other
// processes over NATS.
type shop struct {
	mu      sync.Mutex
	effects map[string]int  // by order
	by      map[string]bool // attempts that had an effect
	closed  map[string]bool // attempts that may not have one any more
}

type order struct{ Attempt, Order string }

func (s *shop) serve(t *testing.T, nc *nats.Conn) {
	t.Helper()
	handle := func(f func(order) client.Report) nats.MsgHandler {
		return func(m *nats.Msg) {
			var o order
			if err := json.Unmarshal(m.Data, &o); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
			report := f(o)
			time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
			s.mu.Unlock()
			_ = m.Respond([]byte(report.Effect))
		}
	}
	s.effects, s.by, s.closed = map[string]int{}, map[string]bool{}, map[string]bool{}
	for subject, f := range map[string]func(order) client.Report{
		"shop.call": func(o order) client.Report {
			if s.closed[o.Attempt] {
				return client.Report{Effect: events.EffectNotApplied}
			}
			s.by[o.Attempt] = true
			s.effects[o.Order]++ // not idempotent: a second call would show
			return applied(10)
		},
		"shop.reconcile": func(o order) client.Report {
			if s.by[o.Attempt] {
				return applied(10)
			}
			s.closed[o.Attempt] = true
			return client.Report{Effect: events.EffectNotApplied}
		},
	} {
		if _, err := nc.Subscribe(subject, handle(f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
}

// remoteShop is the adapter of a process that orders there.
func remoteShop(nc *nats.Conn) client.Adapter {
	ask := func(subject string) func(context.Context, client.Attempt) (client.Report, error) {
		return func(ctx context.Context, a client.Attempt) (client.Report, error) {
			payload, _ := a.Action.Payload.Member("order")
			name, _ := payload.Str()
			data, err := json.Marshal(order{a.AttemptID, name})
			if err != nil {
				return client.Report{}, err
			}
			m, err := nc.RequestWithContext(ctx, subject, data)
			if err != nil {
				return client.Report{}, err
			}
			return client.Report{Effect: string(m.Data), ActualCost: schema.DecimalOf(10)}, nil
		}
	}
	return adapter{call: ask("shop.call"), reconcile: ask("shop.reconcile")}
}

const orders = 40

// work is a worker process: it recovers what the one before left behind, and
// then sees to it that every order is made.
func work(ctx context.Context, nc *nats.Conn) error {
	c, err := client.New(nc, client.Options{Principal: "host", Resend: 500 * time.Millisecond})
	if err != nil {
		return err
	}
	defer c.Close()
	k, shop := &client.Coordinator{Client: c}, remoteShop(nc)
	if _, err := k.Recover(ctx, "c1", []string{"r1"}, shop); err != nil {
		return err
	}
	for i := range orders {
		if err := makeOrder(ctx, c, k, shop, fmt.Sprint("order-", i)); err != nil {
			return err
		}
	}
	return nil
}

// makeOrder goes on where the log is.
func makeOrder(ctx context.Context, c *client.Client, k *client.Coordinator, shop client.Adapter, name string) error {
	for {
		var operation struct {
			Applied  int64
			Attempts int64
			Newest   string `json:"newestAttemptId"`
		}
		d, err := c.Get(ctx, "c1", "operations", name)
		switch {
		case errors.Is(err, client.ErrNotFound):
			_, err = c.Submit(ctx, client.Command{Contract: "c1", Body: admit(name, name+"/1")})
		case err != nil:
		default:
			if err = json.Unmarshal(d.Row, &operation); err != nil || operation.Applied > 0 {
				return err
			}
			err = goOn(ctx, c, k, shop, name, operation.Newest, operation.Attempts)
		}
		var refused *client.Rejection
		if err != nil && !errors.As(err, &refused) {
			return err
		}
	}
}

func goOn(ctx context.Context, c *client.Client, k *client.Coordinator, shop client.Adapter, name, newest string, attempts int64) error {
	d, err := c.Get(ctx, "c1", "attempts", newest)
	if err != nil {
		return err
	}
	var row struct{ State string }
	if err := json.Unmarshal(d.Row, &row); err != nil {
		return err
	}
	switch row.State {
	case events.AttemptStatePrepared:
		_, err = k.Dispatch(ctx, dispatch(newest), shop)
	case events.AttemptStateNotApplied, events.AttemptStateReleased:
		_, err = c.Submit(ctx, client.Command{Contract: "c1", Body: &schema.Retry{
			OperationID: name, AttemptID: fmt.Sprintf("%s/%d", name, attempts+1), Amount: schema.DecimalOf(10),
			AuthorizationCheckedAt: checkedAt, Policy: "ALLOW", MandatoryChecksOk: true,
		}})
	default:
		_, err = k.Recover(ctx, "c1", []string{"r1"}, shop)
	}
	return err
}

// checkShop compares the shop with the ledger: each order once, each known.
func checkShop(ctx context.Context, t *testing.T, c *client.Client, s *shop) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range orders {
		if got := s.effects[fmt.Sprint("order-", i)]; got != 1 {
			t.Errorf("order %d was made %d times", i, got)
		}
	}
	counts := map[string]int{}
	for d, err := range c.Documents(ctx, "c1", wire.ListRequest{Projection: "attempts"}) {
		if err != nil {
			t.Fatal(err)
		}
		var row struct {
			AttemptID, State string
			Disputed         bool
		}
		if err := json.Unmarshal(d.Row, &row); err != nil {
			t.Fatal(err)
		}
		counts[row.State]++
		if (row.State == events.AttemptStateApplied) != s.by[row.AttemptID] || row.Disputed {
			t.Errorf("the shop made %s: %v; the ledger says %s, disputed %v", row.AttemptID, s.by[row.AttemptID], row.State, row.Disputed)
		}
	}
	if counts[events.AttemptStateApplied] != orders || counts[events.AttemptStateDispatched]+counts[events.AttemptStateUnknown] > 0 {
		t.Errorf("the ledger has %v", counts)
	}
	t.Log(counts)
}

// TestDispatchDuplicate: "duplicate" is no leave to call, where the decision
// that it repeats cannot be read.
func TestDispatchDuplicate(t *testing.T) {
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
	action := admit("o1", "a1").Action
	rows := map[string]string{
		"attempts":   fmt.Sprintf(`{"amount":"10","attemptId":"a1","operationId":"o1","state":"PREPARED","fingerprint":%q}`, schema.Fingerprint(&action)),
		"operations": fmt.Sprintf(`{"action":%s}`, schema.AppendRecord(nil, &action)),
	}
	answer := func(subject string, f nats.MsgHandler) {
		if _, err := nc.Subscribe(subject, f); err != nil {
			t.Fatal(err)
		}
	}
	answer("aiws.q.c1.get", func(m *nats.Msg) {
		var r wire.GetRequest
		if err := json.Unmarshal(m.Data, &r); err != nil {
			t.Error(err)
		}
		_ = m.Respond(fmt.Appendf(nil, `{"document":{"row":%s}}`, rows[r.Projection]))
	})
	answer("aiws.cmd.>", func(m *nats.Msg) {
		d := &events.Decision{
			Contract: "c1", CommandSeq: 2, CommandID: m.Header.Get(wire.HeaderCommandID), BodyHash: events.ZeroHash,
			Outcome: events.OutcomeDuplicate, Of: 1, OfOutcome: events.OutcomeAccepted,
		}
		d.Seal(events.ZeroHash)
		_ = nc.Publish(m.Header.Get(wire.HeaderReply), d.Append(nil))
	})
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	k := &client.Coordinator{Client: connect(t, url, client.Options{Principal: "host"})}
	_, err = k.Dispatch(ctx, dispatch("a1"), adapter{call: func(context.Context, client.Attempt) (client.Report, error) {
		t.Error("called")
		return applied(1), nil
	}})
	var uncertain *client.Uncertain
	if !errors.As(err, &uncertain) || uncertain.Command.ID == "" {
		t.Errorf("got %v", err)
	}
}
