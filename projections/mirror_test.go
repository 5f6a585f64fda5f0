package projections_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// openDesk opens a contract in which runs and waits can be made at will.
func openDesk(contract string) *events.Message {
	return command(contract, "host", fmt.Sprintf(`{"type":"openContract","contract":{"id":%q,"missionId":"m","aiwsEdition":"0.4","profile":"finite-v1",`+
		`"budget":"1000","deadline":"4102444800000","criteria":["c"],"actions":["a"],"resources":["r"],"requiresApproval":false,"maxAttempts":"3",`+
		`"maxAuthorizationAgeMs":"3155760000000","features":[]}}`, contract))
}

func command(contract, principal, body string) *events.Message {
	var named struct{ Type string }
	if err := json.Unmarshal([]byte(body), &named); err != nil {
		panic(err)
	}
	return &events.Message{Subject: fmt.Sprintf("aiws.cmd.%s.%s.%s", contract, principal, named.Type), Body: []byte(body)}
}

// busy makes commands that change many rows, over and over.
func busy(rng *rand.Rand, contract string, count int) []*events.Message {
	var all []*events.Message
	for range count {
		run, wait := fmt.Sprintf("r%d", rng.IntN(40)), fmt.Sprintf("w.%d", rng.IntN(200))
		if rng.IntN(30) == 0 {
			run = strings.Repeat("=", 70+rng.IntN(5)) // its key in the bucket is a hash
		}
		bodies := []string{
			fmt.Sprintf(`{"type":"startRun","runId":%q}`, run),
			fmt.Sprintf(`{"type":"transition","runId":%q,"to":"RUNNING"}`, run),
			fmt.Sprintf(`{"type":"transition","runId":%q,"to":"READY"}`, run),
			fmt.Sprintf(`{"type":"wait","runId":%q,"waitId":%q,"kind":"INPUT","correlation":"c","deadline":"4000000000000"}`, run, wait),
			fmt.Sprintf(`{"type":"resume","waitId":%q,"correlation":"c"}`, wait),
		}
		all = append(all, command(contract, "host", bodies[rng.IntN(len(bodies))]))
	}
	return all
}

func bucket(ctx context.Context, t *testing.T, nc *nats.Conn) (jetstream.KeyValue, jetstream.Stream) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(ctx, wire.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, wire.BucketStream)
	if err != nil {
		t.Fatal(err)
	}
	return kv, stream
}

// mirrored reads the bucket: the value of every key, the cursor apart. It also
// checks that the values stand in the order of their sequences.
func mirrored(ctx context.Context, t *testing.T, nc *nats.Conn) (rows map[string]string, cursor wire.Cursor) {
	t.Helper()
	kv, _ := bucket(ctx, t, nc)
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	rows = map[string]string{}
	last := uint64(0)
	for e := range w.Updates() {
		if e == nil {
			break
		}
		if e.Key() == wire.CursorKey(0) {
			checkSchema(t, "MirrorCursor", e.Value())
			if err := json.Unmarshal(e.Value(), &cursor); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if len(rows) == 0 {
			checkSchema(t, "MirroredRow", e.Value())
		}
		row, err := wire.ParseRow(e.Value())
		if err != nil {
			t.Fatal(err)
		}
		if row.Seq < last {
			t.Errorf("%s of command %d stands behind one of %d", e.Key(), row.Seq, last)
		}
		last = row.Seq
		rows[e.Key()] = string(e.Value())
	}
	return rows, cursor
}

// stored is what the bucket must be.
func stored(t *testing.T, r *clienttest.Reducer) (map[string]string, state.Cursor) {
	t.Helper()
	v, err := r.Home.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	reader, rows := state.NewReader(v), map[string]string{}
	err = reader.ScanMirrored(func(key []byte, _ state.Meta) bool {
		value, err := v.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		d, ok, err := reader.Mirrored(key, value)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			rows[wire.Key(d.Contract, d.Projection, d.Key)] = string(wire.AppendRow(nil, d.Meta.CommandSeq, d.Meta.LogSeq, d.Meta.At, d.Value))
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, v.Cursor()
}

// compare waits for the mirror and compares it with the store, row by row.
func compare(ctx context.Context, t *testing.T, r *clienttest.Reducer, nc *nats.Conn) {
	t.Helper()
	if err := r.Mirrored(ctx); err != nil {
		t.Fatal(err)
	}
	want, at := stored(t, r)
	got, cursor := mirrored(ctx, t, nc)
	if cursor.Block != at.LogSeq || cursor.Seq != at.CommandSeq || cursor.Generation != at.Generation || cursor.Clean {
		t.Errorf("cursor %+v, the store is at %+v", cursor, at)
	}
	t.Logf("%d rows", len(want))
	for key, value := range want {
		if got[key] != value {
			t.Errorf("%s\nis     %s\nshould %s", key, got[key], value)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s should not be there", key)
		}
	}
}

// TestMirror: the bucket is as the store, whatever the limits are.
func TestMirror(t *testing.T) {
	for name, limits := range map[string]projections.MirrorLimits{
		"usual":             {},
		"always behind":     {Queue: 1},
		"behind, few a run": {Queue: 1, Sort: 3},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := integration(t)
			r, nc := start(ctx, t, t.TempDir(), clienttest.Options{Mirror: limits})
			compare(ctx, t, r, nc)
			publish(ctx, t, nc, readLog(t, "../testdata/quickstart.jsonl"))
			compare(ctx, t, r, nc)
			publish(ctx, t, nc, []*events.Message{openDesk("c1")})
			publish(ctx, t, nc, busy(rand.New(rand.NewPCG(1, 1)), "c1", 1500))
			compare(ctx, t, r, nc)
		})
	}
}

// TestMirrorRestarts: after a clean stop nothing is written again; after any
// other the bucket is made right, whatever became of it.
func TestMirrorRestarts(t *testing.T) {
	ctx := integration(t)
	path, rng := t.TempDir(), rand.New(rand.NewPCG(2, 2))
	r, nc := start(ctx, t, path, clienttest.Options{})
	publish(ctx, t, nc, []*events.Message{openDesk("c1"), openDesk("c2")})
	publish(ctx, t, nc, busy(rng, "c1", 400))
	compare(ctx, t, r, nc)
	before, _ := mirrored(ctx, t, nc)
	last := lastSeq(ctx, t, nc)
	for round := range 3 {
		nc.Close()
		if err := r.Stop(); err != nil {
			t.Fatal(err)
		}
		r, nc = start(ctx, t, path, clienttest.Options{Mirror: projections.MirrorLimits{Sort: 1 + 50*round}})
		compare(ctx, t, r, nc)
		after, _ := mirrored(ctx, t, nc)
		if now := lastSeq(ctx, t, nc); !maps.Equal(before, after) || now > last+3 {
			t.Errorf("a clean restart wrote %d messages", now-last)
		}
		last = lastSeq(ctx, t, nc)
	}
	for round := range 5 {
		publish(ctx, t, nc, busy(rng, "c2", 100))
		if err := r.Mirrored(ctx); err != nil {
			t.Fatal(err)
		}
		spoil(ctx, t, nc, rng, round)
		nc.Close()
		if err := r.Stop(); err != nil && round != 0 {
			t.Log(err) // the fence held
		}
		r, nc = start(ctx, t, path, clienttest.Options{Mirror: projections.MirrorLimits{Sort: 1 + 20*round}})
		got := func() map[string]string { rows, _ := mirroredUnordered(ctx, t, nc); return rows }
		if err := r.Mirrored(ctx); err != nil {
			t.Fatal(err)
		}
		want, _ := stored(t, r)
		if !maps.Equal(got(), want) {
			t.Errorf("round %d: the bucket differs from the store", round)
		}
	}
}

func lastSeq(ctx context.Context, t *testing.T, nc *nats.Conn) uint64 {
	t.Helper()
	_, stream := bucket(ctx, t, nc)
	info, err := stream.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return info.State.LastSeq
}

func mirroredUnordered(ctx context.Context, t *testing.T, nc *nats.Conn) (map[string]string, int) {
	t.Helper()
	kv, _ := bucket(ctx, t, nc)
	w, err := kv.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	rows, out, last := map[string]string{}, 0, uint64(0)
	for e := range w.Updates() {
		if e == nil {
			break
		}
		if e.Key() == wire.CursorKey(0) {
			continue
		}
		row, err := wire.ParseRow(e.Value())
		if err != nil {
			t.Fatal(err)
		}
		if row.Seq < last {
			out++
		}
		last = max(last, row.Seq)
		rows[e.Key()] = string(e.Value())
	}
	return rows, out
}

// spoil does to the bucket what a crash, or an operator, might.
func spoil(ctx context.Context, t *testing.T, nc *nats.Conn, rng *rand.Rand, round int) {
	t.Helper()
	kv, stream := bucket(ctx, t, nc)
	put := func(key, value string) {
		if _, err := kv.Put(ctx, key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	rows, _ := mirroredUnordered(ctx, t, nc)
	switch round {
	case 0: // all of it is gone
		if err := stream.Purge(ctx); err != nil {
			t.Fatal(err)
		}
	case 1: // the end is gone, and the cursor with it
		info, err := stream.Info(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for seq := info.State.LastSeq - 40; seq <= info.State.LastSeq; seq++ {
			if m, err := stream.GetMsg(ctx, seq); err == nil {
				if err := stream.Purge(ctx, jetstream.WithPurgeSubject(m.Subject)); err != nil {
					t.Fatal(err)
				}
			}
		}
	case 2: // values differ
		for key, value := range rows {
			if rng.IntN(3) == 0 {
				put(key, strings.Replace(value, `"v":1`, `"v":1 `, 1))
			}
		}
	case 3: // keys are too many
		row := `{"at":"1","block":1,"row":{},"seq":1,"v":1}`
		put("c1.runs.stale", row)
		put("c1.exposure.grant.stale", row)
		put("nowhere.runs.r1", row)
		put(wire.Key("c1", "runs", strings.Repeat("x", 201)), row)
	}
	cursor := wire.BucketPrefix + wire.CursorKey(0)
	if round%2 == 0 { // the cursor of one that was killed says that all is well
		last, err := stream.GetLastMsgForSubject(ctx, cursor)
		if err == nil {
			put(wire.CursorKey(0), string(last.Data))
			return
		}
	}
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(cursor)); err != nil {
		t.Fatal(err)
	}
}

// TestMirrorFence: whoever claims the cursor last writes; what came before
// changes nothing any more, not even a row.
func TestMirrorFence(t *testing.T) {
	ctx := integration(t)
	r, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	publish(ctx, t, nc, []*events.Message{openDesk("c1")})
	compare(ctx, t, r, nc)
	kv, stream := bucket(ctx, t, nc)
	if err := kv.Delete(ctx, wire.CursorKey(0)); err != nil { // another one claims it
		t.Fatal(err)
	}
	consumer, err := stream.CreateConsumer(ctx, jetstream.ConsumerConfig{DeliverPolicy: jetstream.DeliverNewPolicy, AckPolicy: jetstream.AckNonePolicy})
	if err != nil {
		t.Fatal(err)
	}
	publish(ctx, t, nc, busy(rand.New(rand.NewPCG(3, 3)), "c1", 50))
	for r.Mirror.Info().Err == nil {
		if ctx.Err() != nil {
			t.Fatal("the mirror wrote on")
		}
		time.Sleep(time.Millisecond)
	}
	first, err := consumer.Next(jetstream.FetchMaxWait(20 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if first.Subject() != wire.BucketPrefix+wire.CursorKey(0) {
		t.Errorf("without the cursor %s was written", first.Subject())
	}
	compare(ctx, t, r, nc) // it claims the cursor again
}
