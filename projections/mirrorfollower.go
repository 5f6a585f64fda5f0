package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// Name implements loop.Follower.
func (m *Mirror) Name() string { return "the KV mirror" }

// LogSeq implements loop.Follower: the block of the cursor in the bucket, 0
// when there is none for this log. It changes nothing, so that whoever finds
// the mirror ahead of the log finds it there again.
func (m *Mirror) LogSeq(ctx context.Context) (seq uint64, err error) {
	err = m.briefly(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		cursor, _, err := m.readCursor(ctx, js)
		if err == nil && cursor != nil {
			seq = cursor.Block
		}
		return err
	})
	return seq, err
}

// Discard implements loop.Follower: the bucket is emptied, and filled again
// after the next Open. Where other shards write it too, only the cursor goes:
// every row is compared then.
func (m *Mirror) Discard(ctx context.Context) error {
	m.mu.Lock()
	if m.interrupt != nil {
		m.interrupt()
	}
	m.mu.Unlock()
	return m.briefly(ctx, func(ctx context.Context, js jetstream.JetStream) error {
		bucket, err := js.Stream(ctx, wire.BucketStream)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if m.o.Shards > 1 {
			return bucket.Purge(ctx, jetstream.WithPurgeSubject(m.cursorSubject()))
		}
		return bucket.Purge(ctx)
	})
}

// briefly connects for one thing.
func (m *Mirror) briefly(ctx context.Context, f func(context.Context, jetstream.JetStream) error) error {
	ctx, cancel := context.WithTimeout(ctx, m.o.Limits.Answer)
	defer cancel()
	nc, err := m.o.Connect(ctx)
	if err != nil {
		return fmt.Errorf("the KV mirror: %w", err)
	}
	defer closeAndWait(nc)
	js, err := jetstream.New(nc)
	if err != nil {
		return fmt.Errorf("the KV mirror: %w", err)
	}
	return f(ctx, js)
}

// closeAndWait closes a connection and waits until its goroutines know.
func closeAndWait(nc *nats.Conn) {
	closed := make(chan struct{})
	nc.SetClosedHandler(func(*nats.Conn) { close(closed) })
	nc.Close()
	<-closed
}
