package projections_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// Of a reducer in a process of its own: its directory and its address.
const (
	childDir    = "AIWS_TEST_DIR"
	childListen = "AIWS_TEST_LISTEN"
)

// TestMirrorChild is that process; it runs until it is killed.
func TestMirrorChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("is run by TestMirrorKills")
	}
	r, err := clienttest.Start(context.Background(), dir, clienttest.Options{Listen: os.Getenv(childListen)})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Minute)
	t.Error(r.Stop())
}

// TestMirrorKills: a reducer is killed at any moment while it is busy, and
// starts again; the bucket is then as the store, row by row.
func TestMirrorKills(t *testing.T) {
	ctx := integration(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, listen := t.TempDir(), proctest.FreeAddress(t)
	rng := rand.New(rand.NewPCG(5, 5))
	for round := range 8 {
		cmd := exec.Command(program, "-test.run=^TestMirrorChild$")
		cmd.Env = append(os.Environ(), childDir+"="+dir, childListen+"="+listen)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		sent := keepBusy(ctx, t, "nats://"+listen, rng, round, time.Duration(rng.IntN(200))*time.Millisecond)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		t.Logf("round %d: %d commands sent", round, sent)
	}
	r, nc := start(ctx, t, dir, clienttest.Options{})
	decided(ctx, t, r, nc)
	want, at := stored(t, r)
	if err := r.Mirrored(ctx); err != nil {
		t.Fatal(err)
	}
	got, cursor := mirrored(ctx, t, nc)
	if !maps.Equal(got, want) || cursor.Block != at.LogSeq {
		t.Errorf("the bucket has %d rows at block %d, the store %d at %d", len(got), cursor.Block, len(want), at.LogSeq)
	}
	t.Logf("%d rows, %d commands, %d blocks", len(want), at.CommandSeq, at.LogSeq)
}

// decided waits until the last command of the inbox has its decision.
func decided(ctx context.Context, t *testing.T, r *clienttest.Reducer, nc *nats.Conn) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for {
		inbox, err := js.Stream(ctx, wire.InboxStream(0))
		if err != nil {
			t.Fatal(err)
		}
		cursor, err := r.Cursor()
		if err != nil {
			t.Fatal(err)
		}
		if cursor.CommandSeq >= inbox.CachedInfo().State.LastSeq {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// keepBusy sends commands from the moment that the reducer listens, for a while.
func keepBusy(ctx context.Context, t *testing.T, url string, rng *rand.Rand, round int, while time.Duration) (sent int) {
	t.Helper()
	nc := connectSoon(ctx, t, url)
	defer nc.Close()
	out, err := exchange.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	contract := fmt.Sprint("c", round%3)
	commands := append([]*events.Message{openDesk(contract)}, busy(rng, contract, 20_000)...)
	for end := time.Now().Add(while); time.Now().Before(end) && sent < len(commands); sent++ {
		m := commands[sent]
		if err := out.Prepare(m.Subject, nil, m.Body).Send(); err != nil {
			t.Fatal(err)
		}
		if sent%50 == 49 {
			time.Sleep(time.Millisecond)
		}
	}
	return sent
}
