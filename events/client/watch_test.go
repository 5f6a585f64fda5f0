package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"strings"
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

// watcher collects the changes of a watch.
type watcher struct {
	changes chan client.Change
	done    chan error
	cancel  context.CancelFunc
}

func watch(ctx context.Context, t *testing.T, c *client.Client, o client.WatchOptions) *watcher {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{changes: make(chan client.Change, 10_000), done: make(chan error, 1), cancel: cancel}
	go func() {
		var failed error
		for change, err := range c.Watch(ctx, o) {
			if err != nil {
				failed = err
				break
			}
			w.changes <- change
		}
		w.done <- failed
		close(w.changes)
	}()
	t.Cleanup(func() { w.stop(t) })
	return w
}

func (w *watcher) stop(t *testing.T) {
	t.Helper()
	w.cancel()
	if err := <-w.done; err != nil {
		t.Error(err)
	}
	w.done <- nil
}

// until returns the changes up to the first one that ends it, included.
func (w *watcher) until(t *testing.T, end func(client.Change) bool) []client.Change {
	t.Helper()
	var got []client.Change
	late := time.After(20 * time.Second)
	for {
		select {
		case change, ok := <-w.changes:
			if !ok {
				t.Fatalf("the watch ended after %d changes", len(got))
			}
			got = append(got, change)
			if end(change) {
				return got
			}
		case <-late:
			t.Fatalf("after %d changes nothing more comes", len(got))
		}
	}
}

func state(c client.Change) string {
	var row struct{ State string }
	_ = json.Unmarshal(c.Row, &row)
	return row.State
}

func TestWatch(t *testing.T) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	submit(ctx, t, c, "c1", openContract("c1"), &schema.StartRun{RunID: "r1"}, &schema.StartRun{RunID: "r.2"})
	submit(ctx, t, c, "c2", openContract("c2"), &schema.StartRun{RunID: "r1"})
	if err := r.Mirrored(ctx); err != nil {
		t.Fatal(err)
	}
	caughtUp := func(c client.Change) bool { return c.Kind == client.CaughtUp }
	w := watch(ctx, t, c, client.WatchOptions{Contract: "c1", Projection: "runs", Marks: true})
	got := w.until(t, caughtUp)
	if len(got) != 3 || got[0].Key != "r1" || got[1].Key != "r.2" || got[0].Contract != "c1" || got[0].Seq != 2 || got[1].Seq != 3 || state(got[0]) != "READY" {
		t.Errorf("what is there: %+v", got)
	}
	fresh := watch(ctx, t, c, client.WatchOptions{New: true, Marks: true})
	fresh.until(t, caughtUp)
	decisions := submit(ctx, t, c, "c1", &schema.Transition{RunID: "r.2", To: "RUNNING"}, &schema.StartRun{RunID: "r3"})
	got = w.until(t, func(c client.Change) bool { return c.Key == "r3" })
	if len(got) != 2 || got[0].Key != "r.2" || state(got[0]) != "RUNNING" || got[0].Seq != decisions[0].CommandSeq || got[0].Block == 0 {
		t.Errorf("what happens: %+v", got)
	}
	for _, change := range fresh.until(t, func(c client.Change) bool { return c.Key == "r3" }) {
		if change.Seq < decisions[0].CommandSeq {
			t.Errorf("new only: %+v", change)
		}
	}
	resumed := watch(ctx, t, c, client.WatchOptions{Contract: "c1", Projection: "runs", Since: decisions[0].CommandSeq, Marks: true})
	got = resumed.until(t, caughtUp)
	if len(got) != 3 || got[0].Key != "r.2" || got[1].Key != "r3" {
		t.Errorf("resumed: %+v", got)
	}
	one := watch(ctx, t, c, client.WatchOptions{Contract: "c2", Projection: "exposure", Key: "contract/c2", Marks: true})
	if got = one.until(t, caughtUp); len(got) != 2 || got[0].Key != "contract/c2" {
		t.Errorf("one key: %+v", got)
	}
	long := strings.Repeat("=", 99)
	submit(ctx, t, c, "c1", &schema.StartRun{RunID: long})
	w.until(t, func(c client.Change) bool { return c.Key == long && !c.Hashed })
	all := 0
	for _, err := range c.Watch(ctx, client.WatchOptions{Once: true}) {
		if err != nil {
			t.Fatal(err)
		}
		all++
	}
	if all != 5+2+2 { // runs, missions, exposure
		t.Errorf("once: %d changes", all)
	}
}

func TestWatchErrors(t *testing.T) {
	ctx := integration(t)
	c := connect(t, plainServer(t, ""), client.Options{})
	for _, o := range []client.WatchOptions{{Projection: "decisions"}, {Key: "x"}, {}} {
		failed := false
		for _, err := range c.Watch(ctx, o) {
			failed = err != nil
		}
		if !failed {
			t.Errorf("%+v: no error", o)
		}
	}
}

// TestWatchRestarts: a watch goes on where it was when the reducer stops and
// starts again, and gives nothing twice; so it does when the bucket was lost
// meanwhile and its sequences began again.
func TestWatchRestarts(t *testing.T) {
	for _, way := range []client.Way{client.Streams, client.Service} {
		t.Run(way.String(), func(t *testing.T) { watchRestarts(t, way) })
	}
}

func watchRestarts(t *testing.T, way client.Way) {
	ctx := integration(t)
	path := t.TempDir()
	r := start(ctx, t, path, clienttest.Options{})
	where, err := url.Parse(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, r.URL, client.Options{Principal: "host", Way: way})
	submit(ctx, t, c, "c1", openContract("c1"))
	w := watch(ctx, t, c, client.WatchOptions{Contract: "c1", Projection: "runs"})
	fresh := watch(ctx, t, c, client.WatchOptions{Contract: "c1", Projection: "runs", New: true})
	time.Sleep(100 * time.Millisecond) // both have begun
	want := map[string]uint64{}
	for round := range 3 {
		for i := range 20 {
			d := submit(ctx, t, c, "c1", &schema.StartRun{RunID: fmt.Sprintf("r%d-%d", round, i)})
			want[fmt.Sprintf("r%d-%d", round, i)] = d[0].CommandSeq
		}
		if err := r.Mirrored(ctx); err != nil {
			t.Fatal(err)
		}
		if round == 1 {
			loseBucket(ctx, t, r.URL)
		}
		if err := r.Stop(); err != nil {
			t.Log(err)
		}
		r = start(ctx, t, path, clienttest.Options{Listen: where.Host})
	}
	submit(ctx, t, c, "c1", &schema.StartRun{RunID: "last"})
	for name, w := range map[string]*watcher{"all": w, "new": fresh} {
		got := map[string]uint64{}
		for _, change := range w.until(t, func(c client.Change) bool { return c.Key == "last" }) {
			if change.Key == "last" {
				continue
			}
			if got[change.Key] != 0 {
				t.Errorf("%s: %s came twice", name, change.Key)
			}
			got[change.Key] = change.Seq
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: got %d changes, want %d", name, len(got), len(want))
		}
	}
}

func loseBucket(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(ctx, wire.BucketStream); err != nil {
		t.Fatal(err)
	}
}

// TestWatchSlow: a watcher that does nothing holds nothing up, and gets the
// last of each key afterwards.
func TestWatchSlow(t *testing.T) {
	for _, way := range []client.Way{client.Streams, client.Service} {
		t.Run(way.String(), func(t *testing.T) { watchSlow(t, way) })
	}
}

func watchSlow(t *testing.T, way client.Way) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host", Way: way})
	submit(ctx, t, c, "c1", openContract("c1"), &schema.StartRun{RunID: "r1"})
	if err := r.Mirrored(ctx); err != nil {
		t.Fatal(err)
	}
	last, seen := uint64(0), 0
	for change, err := range c.Watch(ctx, client.WatchOptions{Contract: "c1", Projection: "runs"}) {
		if err != nil {
			t.Fatal(err)
		}
		if seen++; seen == 1 {
			for i := range 2000 {
				to := []string{"RUNNING", "READY"}[i%2]
				d := submit(ctx, t, c, "c1", &schema.Transition{RunID: "r1", To: to})
				last = d[0].CommandSeq
			}
			if err := r.Mirrored(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if change.Seq == last {
			break
		}
	}
	if seen > 600 {
		t.Errorf("%d changes were kept for a slow watcher", seen)
	}
}

func TestRead(t *testing.T) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	for range c.Read(ctx, client.ReadOptions{}) {
		t.Error("an empty log has decisions")
	}
	decisions := submit(ctx, t, c, "c1", openContract("c1"))
	for i := range 100 {
		decisions = append(decisions, submit(ctx, t, c, "c1", &schema.StartRun{RunID: fmt.Sprint("r", i)})...)
	}
	submit(ctx, t, c, "c2", openContract("c2"))
	for _, from := range []int{0, 1, 2, 50, 101} {
		next := max(from, 1) - 1
		for e, err := range c.Read(ctx, client.ReadOptions{From: uint64(from), Contract: "c1"}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := decisions[next]; string(e.Record) != string(want.Append(nil)) || e.Message.Seq != want.CommandSeq || e.Block == 0 {
				t.Errorf("from %d: %s, want %s", from, e.Record, want.Append(nil))
			}
			next++
		}
		if next != len(decisions) {
			t.Errorf("from %d: the last one is %d, want %d", from, next, len(decisions))
		}
	}
	live := make(chan *events.Decision, 1)
	go func() {
		for e, err := range c.Read(ctx, client.ReadOptions{From: 103, Follow: true}) {
			if err != nil {
				t.Error(err)
			}
			live <- e.Decision
			break
		}
	}()
	d := submit(ctx, t, c, "c1", &schema.StartRun{RunID: "later"})
	if got := <-live; got.Hash != d[0].Hash {
		t.Errorf("live: %+v", got)
	}
	for _, err := range c.Read(ctx, client.ReadOptions{From: 1 << 40}) {
		t.Errorf("beyond the end: %v", err)
	}
}
