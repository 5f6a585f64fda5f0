package client

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Times of reading a stream.
const (
	readHeartbeat = 5 * time.Second
	readExpiry    = 30 * time.Second
	readPause     = 500 * time.Millisecond // before another reader is made
	consumerIdle  = 2 * time.Minute        // when the server forgets a reader that went away
)

// readerConfig is an ephemeral consumer that gets everything once, in order,
// and that the server keeps nothing for.
func readerConfig(description string) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Description: description, AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: consumerIdle,
	}
}

// newReader makes a consumer on the server.
func (c *Client) newReader(ctx context.Context, stream string, config jetstream.ConsumerConfig) (_ jetstream.Consumer, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.o.Request)
	defer cancel()
	ctx, end := c.unlessRefused(ctx, "$JS.API.CONSUMER.CREATE."+stream)
	defer end(&err)
	consumer, err := c.js.CreateConsumer(ctx, stream, config)
	if err != nil {
		return nil, c.explain(err)
	}
	return consumer, nil
}

// errGap: what the server sent is not what arrived.
var errGap = errors.New("messages were lost on the way")

// read calls f for each message of a consumer, in order and without a gap,
// until f returns false or an error. It ends with the connection, at once.
func (c *Client) read(ctx context.Context, stream string, consumer jetstream.Consumer, ahead int, f func(jetstream.Msg, *jetstream.MsgMetadata) (bool, error)) error {
	ctx, stop := c.whileConnected(ctx)
	defer stop()
	messages, err := consumer.Messages(
		jetstream.PullMaxMessages(ahead), jetstream.PullExpiry(readExpiry), jetstream.PullHeartbeat(readHeartbeat),
		jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return &lostReader{err}
	}
	defer c.leave(stream, consumer.CachedInfo().Name, messages)
	for reads := uint64(1); ; reads++ {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return &lostReader{err}
		}
		meta, err := m.Metadata()
		if err != nil || meta.Sequence.Consumer != reads {
			return &lostReader{errors.Join(err, errGap)}
		}
		if more, err := f(m, meta); !more || err != nil {
			return err
		}
	}
}

// lostReader is an error of reading that another reader does not have.
type lostReader struct{ error }

// Unwrap returns the cause.
func (l *lostReader) Unwrap() error { return l.error }

// whileConnected is a context that ends with the connection, which may come
// back later with another server behind it.
func (c *Client) whileConnected(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	status := c.nc.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case <-status:
			cancel(nats.ErrDisconnected)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
		c.nc.RemoveStatusListener(status)
	}
}

// leave ends the reading. That the server is told is a courtesy.
func (c *Client) leave(stream, consumer string, messages jetstream.MessagesContext) {
	messages.Stop()
	if c.nc.Status() == nats.CONNECTED {
		_ = c.nc.Publish("$JS.API.CONSUMER.DELETE."+stream+"."+consumer, nil)
	}
}

// pause waits a little, for the connection or the server to come back.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(jitter(readPause)):
	}
}
