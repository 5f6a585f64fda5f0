package projections_test

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// everything makes up commands of every type, which mostly make sense: a world in
// memory decides them too.
type everything struct {
	world     *reducertest.World
	generator *reducertest.Generator
}

func newEverything(seed uint64) *everything {
	w := reducertest.NewWorld()
	w.Quick = true
	return &everything{w, reducertest.NewGenerator(seed, w.State)}
}

// next makes commands that any publisher could send, as of now.
func (e *everything) next(t *testing.T, count int) (all []*events.Message) {
	t.Helper()
	for len(all) < count {
		now := time.Now().UnixMilli()
		e.generator.At(now)
		m := e.generator.Next()
		m.Time = now * events.NanosPerMilli
		d, err := e.world.Step(m)
		if err != nil {
			t.Fatal(err)
		}
		e.generator.Learn(m, d)
		_, valid := schema.ParseSubject(m.Subject)
		if valid && (m.IDs == nil || len(m.IDs) == 1 && schema.ValidCommandID(m.IDs[0])) {
			all = append(all, m)
		}
	}
	return all
}

// TestMirrorRandom: after 10,000 random commands of every type, with restarts
// among them, half of them kills in the middle of the work, the bucket is as the
// store, row by row.
func TestMirrorRandom(t *testing.T) {
	ctx := integration(t)
	const commands, each = 10_000, 1250
	dir, listen, source := t.TempDir(), proctest.FreeAddress(t), newEverything(11)
	decided, accepted, types := uint64(0), 0, map[string]bool{}
	for round := 0; decided < commands; round++ {
		if round%2 == 1 {
			killMeanwhile(ctx, t, dir, listen, source.next(t, each))
		}
		r, err := clienttest.Start(ctx, dir, clienttest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		nc, err := nats.Connect(r.URL)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range publish(ctx, t, nc, source.next(t, each)) {
			if d.Outcome == events.OutcomeAccepted {
				accepted++
				types[d.Type] = true
			}
		}
		cursor, err := r.Cursor()
		if err != nil {
			t.Fatal(err)
		}
		decided = cursor.CommandSeq
		compare(ctx, t, r, nc)
		nc.Close()
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if accepted < commands/10 || len(types) < 20 {
		t.Errorf("%d accepted commands of %d types: the test does not test", accepted, len(types))
	}
	t.Logf("%d commands, %d accepted of those that were waited for, %d types", decided, accepted, len(types))
}

// killMeanwhile sends commands to a reducer in a process of its own and kills it
// before all are decided.
func killMeanwhile(ctx context.Context, t *testing.T, dir, listen string, messages []*events.Message) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(program, "-test.run=^TestMirrorChild$")
	child.Env = append(os.Environ(), childDir+"="+dir, childListen+"="+listen)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	nc := connectSoon(ctx, t, "nats://"+listen)
	defer nc.Close()
	out, err := exchange.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var last *exchange.Pending
	for i, m := range messages {
		p := out.Prepare(m.Subject, m.IDs, m.Body)
		if err := p.Send(); err != nil {
			t.Fatal(err)
		}
		if i == len(messages)*3/4 {
			last = p
		}
	}
	select {
	case <-last.Answers: // most of them are there, the rest is under way
	case <-ctx.Done():
		t.Fatal("no answer")
	}
}

// connectSoon connects as soon as somebody listens.
func connectSoon(ctx context.Context, t *testing.T, url string) *nats.Conn {
	t.Helper()
	for {
		nc, err := nats.Connect(url)
		if err == nil {
			return nc
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
