package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/oklog/ulid/v2"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
)

// Options of a client. All may be left out.
type Options struct {
	Principal string        // who submits, where a command does not say
	Shard     int64         // of the reducer
	Resend    time.Duration // how long to wait for a decision before asking for it and sending again, 3 s
	Request   time.Duration // for the answer to a query, 5 s; a digest may take longer
	NewID     func() string // command ids; ULIDs

	Way Way // by which commands go and rows come
}

// Way is how a client works with a reducer: over its streams, or through its
// micro service alone, as a user has to that may not touch JetStream.
type Way int32

// The ways.
const (
	// AnyWay takes the streams, and the service where the server does not let this
	// user use them.
	AnyWay Way = iota
	// Streams publishes into the inbox and reads from streams.
	Streams
	// Service uses aiws.submit and aiws.q. Commands in flight are bounded below
	// the service's quota for a principal.
	Service
)

// String names the way.
func (w Way) String() string { return [...]string{"any way", "streams", "service"}[w] }

// Client works with one reducer over a connection, which stays the caller's.
type Client struct {
	o   Options
	nc  *nats.Conn
	js  jetstream.JetStream
	out *exchange.Exchange

	found atomic.Int32  // the Way that commands went; AnyWay while it is not known
	slots chan struct{} // taken by a command under way through the service
}

// New returns a client on a connection. Close it before the connection.
func New(nc *nats.Conn, o Options) (*Client, error) {
	if o.Resend == 0 {
		o.Resend = 3 * time.Second
	}
	if o.Request == 0 {
		o.Request = 5 * time.Second
	}
	if o.NewID == nil {
		o.NewID = func() string { return ulid.Make().String() }
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	out, err := exchange.New(nc)
	if err != nil {
		return nil, err
	}
	c := &Client{o: o, nc: nc, js: js, out: out, slots: make(chan struct{}, serviceSlots)}
	c.found.Store(int32(o.Way))
	return c, nil
}

// way is the one for the next command.
func (c *Client) way() Way { return Way(c.found.Load()) }

// Close stops listening for decisions. Calls under way end when their contexts
// do.
func (c *Client) Close() { c.out.Close() }

// ask asks the micro service. An error of the service is a *wire.Error.
func (c *Client) ask(ctx context.Context, e wire.Endpoint, contract string, request, answer any) error {
	return c.askFor(ctx, max(c.o.Request, patience(e)), e, contract, request, answer)
}

// askFor is ask with a time for the answer.
func (c *Client) askFor(ctx context.Context, limit time.Duration, e wire.Endpoint, contract string, request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	data, err := json.Marshal(request)
	if err != nil {
		return err
	}
	subject := e.Subject(contract)
	m, err := c.request(ctx, &nats.Msg{Subject: subject, Data: data})
	if err == nil {
		err = serviceError(m)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e, c.explain(err))
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		return fmt.Errorf("%s: the answer: %w", e, err)
	}
	return nil
}

// request is a request that ends soon when the server does not let us ask.
func (c *Client) request(ctx context.Context, m *nats.Msg) (answer *nats.Msg, err error) {
	ctx, end := c.unlessRefused(ctx, m.Subject)
	defer end(&err)
	return c.nc.RequestMsgWithContext(ctx, m)
}

// unlessRefused is a context that ends soon where the server says that this user
// may not publish to a subject, or one that begins so: it says it beside all
// answers. end puts that in the place of the error.
func (c *Client) unlessRefused(ctx context.Context, subject string) (_ context.Context, end func(*error)) {
	ctx, cancel := context.WithCancelCause(ctx)
	before := c.nc.LastError()
	soon := time.AfterFunc(refusedSoon, func() {
		if err := c.refusal(subject); err != nil && !errors.Is(err, before) {
			cancel(fmt.Errorf("%w: %w", ErrNotPermitted, err))
		}
	})
	return ctx, func(err *error) {
		if cause := context.Cause(ctx); *err != nil && errors.Is(cause, ErrNotPermitted) {
			*err = cause
		}
		soon.Stop()
		cancel(nil)
	}
}

// refusal is what the server last said about publishing to a subject, or to one
// that begins with it, when this user may not; or nil.
func (c *Client) refusal(subject string) error {
	if err := c.nc.LastError(); err != nil && errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject) {
		return err
	}
	return nil
}

// serviceError is the error that an answer of the service is, or nil.
func serviceError(m *nats.Msg) error {
	code := m.Header.Get(micro.ErrorCodeHeader)
	if code == "" {
		return nil
	}
	e := &wire.Error{}
	if err := json.Unmarshal(m.Data, e); err != nil || e.Code == "" {
		return fmt.Errorf("the service answers %s: %s", code, m.Header.Get(micro.ErrorHeader))
	}
	return e
}

// explain puts errors of the connection in terms of the reducer.
func (c *Client) explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, exchange.ErrNoInbox), errors.Is(err, exchange.ErrNoService):
		return fmt.Errorf("%w at %s", ErrNoReducer, c.nc.ConnectedUrlRedacted())
	}
	return err
}
