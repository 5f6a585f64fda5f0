package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

	// ThroughService submits through the micro service, for a user that may not
	// touch JetStream.
	ThroughService bool
}

// Client works with one reducer over a connection, which stays the caller's.
type Client struct {
	o   Options
	nc  *nats.Conn
	js  jetstream.JetStream
	out *exchange.Exchange
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
	return &Client{o: o, nc: nc, js: js, out: out}, nil
}

// Close stops listening for decisions. Calls under way end when their contexts
// do.
func (c *Client) Close() { c.out.Close() }

// ask asks the micro service. An error of the service is a *wire.Error.
func (c *Client) ask(ctx context.Context, e wire.Endpoint, contract string, request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, max(c.o.Request, patience(e)))
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
	soon := time.AfterFunc(refusedSoon, func() {
		if err := c.refusal(subject); err != nil {
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
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, exchange.ErrNoInbox):
		return fmt.Errorf("%w at %s", ErrNoReducer, c.nc.ConnectedUrlRedacted())
	}
	return err
}
