package projections_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// counted counts what a check reads, and ends it after some reads.
func counted(bytes *int, reads int) func(context.Context, int) error {
	return func(ctx context.Context, n int) error {
		*bytes += n
		if reads--; reads < 0 {
			return errEnough
		}
		return ctx.Err()
	}
}

var errEnough = errors.New("enough")

// TestStoreCheck: rows that are not what the log says are found, however good
// the sums of their files are, and the store is made again.
func TestStoreCheck(t *testing.T) {
	ctx := integration(t)
	path, rng := t.TempDir(), rand.New(rand.NewPCG(3, 3))
	r, nc := start(ctx, t, path, clienttest.Options{})
	size := 0
	if err := r.Home.Check(ctx, counted(&size, 1000)); err != nil {
		t.Errorf("empty: %v", err)
	}
	publish(ctx, t, nc, []*events.Message{openDesk("c1")})
	publish(ctx, t, nc, busy(rng, "c1", 1500))
	want, end := stored(t, r)
	if err := r.Home.Check(ctx, counted(&size, 1000)); err != nil || size < 100_000 {
		t.Errorf("%d bytes were read: %v", size, err)
	}
	if err := r.Home.Check(ctx, counted(&size, 1)); !errors.Is(err, errEnough) {
		t.Errorf("the reader's error: %v", err)
	}
	nc.Close()
	if err := r.Stop(); err != nil {
		t.Fatal(err)
	}
	tamper(t, filepath.Join(path, "store"))
	r, _ = start(ctx, t, path, clienttest.Options{})
	if rows, _ := stored(t, r); maps.Equal(rows, want) {
		t.Fatal("nothing was changed")
	}
	var damaged interface{ Damaged() bool }
	if err := r.Home.Check(ctx, counted(&size, 1000)); !errors.As(err, &damaged) || !damaged.Damaged() || !strings.Contains(err.Error(), "the log says") {
		t.Fatalf("tampered with: %v", err)
	}
	for at, err := r.Cursor(); err != nil || at.LogSeq < end.LogSeq; at, err = r.Cursor() { // until it is made again
		if ctx.Err() != nil {
			t.Fatalf("at block %d: %v", at.LogSeq, err)
		}
		time.Sleep(time.Millisecond)
	}
	if err := r.Home.Check(ctx, counted(&size, 1000)); err != nil {
		t.Errorf("made again: %v", err)
	}
	if rows, _ := stored(t, r); !maps.Equal(rows, want) {
		t.Error("the store has other rows than before")
	}
}

// tamper takes a run out of a closed store.
func tamper(t *testing.T, dir string) {
	t.Helper()
	store, err := projections.OpenStore(projections.StoreOptions{Dir: dir, FlushEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	var change state.Change
	err = store.Scan([]byte("R"), []byte("S"), false, func(key, _ []byte) bool {
		change.Key = bytes.Clone(key)
		return false
	})
	if err != nil || change.Key == nil {
		t.Fatalf("no run: %v", err)
	}
	if err := errors.Join(store.Commit([]state.Change{change}, store.Cursor()), store.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestStoreCheckEnds: a check lets go of a store that is to be closed.
func TestStoreCheckEnds(t *testing.T) {
	ctx := integration(t)
	r, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	publish(ctx, t, nc, []*events.Message{openDesk("c1")})
	reading, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- r.Home.Check(ctx, func(ctx context.Context, _ int) error {
			close(reading)
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}()
	<-reading
	nc.Close()
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err == nil || ctx.Err() != nil {
		t.Errorf("the check ended with %v", err)
	}
}

// TestMirrorCheck: what the bucket has otherwise than the store, or lacks, or
// has too many, is found while both are at work, and made right when told.
func TestMirrorCheck(t *testing.T) {
	ctx := integration(t)
	r, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	publish(ctx, t, nc, []*events.Message{openDesk("c1")})
	publish(ctx, t, nc, busy(rand.New(rand.NewPCG(4, 4)), "c1", 600))
	compare(ctx, t, r, nc)
	rows, _ := mirrored(ctx, t, nc)
	size := 0
	found, err := r.Mirror.Check(ctx, counted(&size, 1000))
	if err != nil || !found.Complete || found.Rows != uint64(len(rows)) || size == 0 {
		t.Errorf("%+v, %d bytes, want %d rows: %v", found, size, len(rows), err)
	}
	if _, err := r.Mirror.Check(ctx, counted(&size, 0)); !errors.Is(err, errEnough) {
		t.Errorf("the reader's error: %v", err)
	}
	kv, stream := bucket(ctx, t, nc)
	some := ""
	for key := range rows {
		some = max(some, key)
	}
	for _, c := range []struct {
		name, want string
		spoil      func() error
	}{
		{"another value", "another value of " + some, func() error {
			_, err := kv.Put(ctx, some, []byte(strings.Replace(rows[some], `"v":1`, `"v":1 `, 1)))
			return err
		}},
		{"a row lost", "lacks " + some, func() error {
			return stream.Purge(ctx, jetstream.WithPurgeSubject(wire.BucketPrefix+some))
		}},
		{"a row too many", "has c1.runs.stale", func() error {
			_, err := kv.Put(ctx, "c1.runs.stale", []byte(`{"at":"1","block":1,"row":{},"seq":1,"v":1}`))
			return err
		}},
	} {
		if err := c.spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Mirror.Check(ctx, counted(&size, 1000)); !errors.Is(err, projections.ErrNotTheLog) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		r.Mirror.Compare()
		for found, err = r.Mirror.Check(ctx, counted(&size, 1000)); err != nil || !found.Complete; found, err = r.Mirror.Check(ctx, counted(&size, 1000)) {
			if ctx.Err() != nil {
				t.Fatalf("%s: it is not made right: %v", c.name, err)
			}
		}
	}
	if err := r.Mirrored(ctx); err != nil {
		t.Fatal(err)
	}
	if after, _ := mirroredUnordered(ctx, t, nc); !maps.Equal(after, rows) {
		t.Error("the bucket has other rows than before")
	}
}
