package daemon

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// shiftedClock is the machine's clock, set wrong.
type shiftedClock struct{ by atomic.Int64 }

func (c *shiftedClock) Now() time.Time { return time.Now().Add(time.Duration(c.by.Load())) }

func (*shiftedClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// clocked is a daemon with a NATS server of its own beside it, each with a clock
// that can be set.
type clocked struct {
	t       *testing.T
	clock   shiftedClock // of the daemon
	stamps  *stampProxy  // of the server, as the daemon sees them
	out     proctest.Output
	client  *client.Client
	runs    int
	monitor string
	stop    context.CancelFunc
	ended   chan error
	lastAt  map[string]int64 // of a ledger, milliseconds
}

func startClocked(t *testing.T) *clocked {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, MaxPayload: 8 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	c := &clocked{t: t, ended: make(chan error, 1), lastAt: map[string]int64{}}
	c.stamps = startStampProxy(t, s.Addr().String())
	ctx, stop := context.WithCancel(t.Context())
	c.stop = stop
	ready := make(chan struct{}, 8)
	data := t.TempDir()
	go func() {
		c.ended <- Run(ctx, Options{
			Data: data, External: &jetlog.ConnectOptions{URL: c.stamps.url}, Streams: jetlog.Streams{Replicas: 1},
			HTTP: "127.0.0.1:0", Build: "devel", Log: slog.New(slog.NewTextHandler(&c.out, nil)), clock: &c.clock,
			Ready: func(string) { ready <- struct{}{} },
		})
	}()
	select {
	case <-ready:
	case err := <-c.ended:
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(c.out.String(), "url=http://")
	c.monitor, _, _ = strings.Cut(rest, "\n")
	nc, err := nats.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	if c.client, err = client.New(nc, client.Options{Principal: "host"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.client.Close)
	return c
}

// set sets both clocks, as on a machine that runs everything.
func (c *clocked) set(by time.Duration) {
	c.clock.by.Store(int64(by))
	c.stamps.by.Store(int64(by))
}

// decide has a command decided, and checks that the time of its ledger does not
// go back. It returns that time, as the distance to the right one.
func (c *clocked) decide(contract string, body schema.Command, want events.Code) time.Duration {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	d, err := c.client.Submit(ctx, client.Command{Contract: contract, Body: body})
	var refused *client.Rejection
	if err != nil && !errors.As(err, &refused) {
		c.t.Error(err)
		return 0
	}
	if d.Code != want {
		c.t.Errorf("%s: %s, want %q", contract, d, want)
	}
	at, err := strconv.ParseInt(d.At.String(), 10, 64)
	if err != nil {
		c.t.Error(err)
	}
	if at < c.lastAt[contract] {
		c.t.Errorf("%s: time goes back from %d to %d", contract, c.lastAt[contract], at)
	}
	c.lastAt[contract] = at
	return time.Until(time.UnixMilli(at))
}

// start begins another run.
func (c *clocked) start(contract string, want events.Code) time.Duration {
	c.t.Helper()
	c.runs++
	return c.decide(contract, &schema.StartRun{RunID: "r" + strconv.Itoa(c.runs)}, want)
}

// open opens a ledger that ends some time from now.
func (c *clocked) open(contract string, deadline time.Duration) {
	c.t.Helper()
	body := &schema.OpenContract{Contract: schema.Contract{
		ID: contract, MissionID: "m", Budget: schema.DecimalOf(1), Deadline: schema.DecimalOf(uint64(time.Now().Add(deadline).UnixMilli())),
		MaxAttempts: schema.DecimalOf(1), MaxAuthorizationAgeMs: schema.DecimalOf(1),
	}}
	c.decide(contract, body, "")
}

// told waits until /readyz has a status and says some words.
func (c *clocked) told(status int, words string) {
	c.t.Helper()
	var code int
	var text string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		code, text = c.get("/readyz")
		if code == status && strings.Contains(text, words) {
			return
		}
	}
	c.t.Fatalf("/readyz: %d %s, want %d and %q", code, text, status, words)
}

func (c *clocked) get(path string) (status int, text string) {
	c.t.Helper()
	r, err := http.Get("http://" + c.monitor + path)
	if err != nil {
		c.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

func about(a, b time.Duration) bool { return (a - b).Abs() < 2*time.Minute }

// TestClockJumps: a machine's clock jumps an hour forward, back, a day back, and
// is set right. No time of a ledger goes back, deadlines that passed stay so,
// other ledgers are not touched, and monitors are told.
func TestClockJumps(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a server")
	}
	c := startClocked(t)
	c.open("at-work", 30*time.Minute)
	c.open("at-rest", 30*time.Minute)
	c.open("long", 48*time.Hour)
	for _, contract := range []string{"at-work", "at-rest", "long"} {
		if at := c.start(contract, ""); !about(at, 0) {
			t.Errorf("%s: at first the time is %s off", contract, at)
		}
	}
	c.told(http.StatusOK, "ready\n")

	c.set(time.Hour)
	c.told(http.StatusOK, "ready; the clock jumped 1h0m0s forward at ")
	c.start("at-work", "CONTRACT_EXPIRED")
	if at := c.start("long", ""); !about(at, time.Hour) {
		t.Errorf("an hour ahead the time is %s off", at)
	}

	c.set(0)
	c.told(http.StatusOK, "ready; the clock jumped 1h0m0s back at ")
	c.start("at-work", "CONTRACT_EXPIRED") // its time waits beyond the deadline
	if at := c.start("at-rest", ""); !about(at, 0) {
		t.Errorf("of who saw no jump the time is %s off", at)
	}
	if at := c.start("long", ""); !about(at, time.Hour) {
		t.Errorf("after the jump the time is %s off", at)
	}

	c.set(-24 * time.Hour)
	c.told(http.StatusOK, "ready; the clock jumped 24h0m0s back at ")
	if at := c.start("at-rest", ""); !about(at, 0) {
		t.Errorf("a day back the time is %s off", at)
	}
	if _, text := c.get("/metrics"); !strings.Contains(text, "\naiws_clock_jumped_seconds -86400\n") {
		t.Error("the metrics do not say how far the clock is off")
	}

	c.set(0)
	c.told(http.StatusOK, "ready; the clock jumped 24h0m0s forward at ")
	if at := c.start("at-rest", ""); !about(at, 0) {
		t.Errorf("at last the time is %s off", at)
	}
	c.end()
}

// TestClocksDiffer: where the server's clock is ahead of the reducer's, nothing
// is decided before they agree: one stamp would end deadlines for good.
func TestClocksDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a server")
	}
	for _, test := range []struct {
		name            string
		reducer, server time.Duration // how far they are off
		ahead           string
		mended          time.Duration // how far both are off then
	}{
		{"the server is an hour ahead", 0, time.Hour, "1h0m0s", time.Hour},
		{"the reducer is a day behind", -24 * time.Hour, 0, "24h0m0s", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := startClocked(t)
			c.open("c1", 48*time.Hour)
			c.clock.by.Store(int64(test.reducer))
			c.stamps.by.Store(int64(test.server))
			answered := make(chan time.Duration, 1)
			go func() { answered <- c.start("c1", "") }()
			c.told(http.StatusServiceUnavailable, test.ahead+" ahead of this machine's clock: set the clocks right")
			if status, text := c.get("/healthz"); status != http.StatusOK || !strings.HasPrefix(text, string(loop.PhaseStalled)+": ") {
				t.Errorf("/healthz: %d %s", status, text)
			}
			if len(answered) > 0 {
				t.Error("it was answered before the clocks were right")
			}
			c.set(test.mended)
			c.told(http.StatusOK, "ready")
			if at := <-answered; !about(at, test.mended) {
				t.Errorf("the time is %s off", at)
			}
			c.end()
		})
	}
}

// end stops the daemon.
func (c *clocked) end() {
	c.t.Helper()
	c.stop()
	if err := <-c.ended; err != nil {
		c.t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}
