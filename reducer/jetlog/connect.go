package jetlog

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/internal/natslogin"
	"github.com/aiws-reducer/aiws-reducer/internal/natsurl"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// MinPayload is the smallest max_payload of a server that a reducer works with:
// one decision with its command can be that large (DESIGN 2).
const MinPayload = 4 << 20

// DefaultURL is where a server is looked for.
const DefaultURL = nats.DefaultURL

const connectTimeout = 5 * time.Second

// ConnectOptions say how to reach a server and who we are there.
type ConnectOptions struct {
	natslogin.Login
	URL  string // DefaultURL when empty; several are separated by commas
	Name string // shown by the server
}

// Options returns the options for nats.Connect, for programs that only ask and
// may reconnect. A term uses [Connect].
func (o ConnectOptions) Options() ([]nats.Option, error) {
	name := o.Name
	if name == "" {
		name = "aiws-reducer"
	}
	login, err := o.Login.Options()
	if err != nil {
		return nil, err
	}
	return append(login, nats.Name(name), nats.Timeout(connectTimeout)), nil
}

// Conn is one connection that never comes back: a term's.
type Conn struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	lost   chan struct{} // closed when the connection is
	server *Server       // that it is a connection in memory to, or nil
}

// Connect connects to an external server and checks that a reducer can work
// with it.
func Connect(ctx context.Context, o ConnectOptions) (*Conn, error) {
	options, err := o.Options()
	if err != nil {
		return nil, err
	}
	url := o.URL
	if url == "" {
		url = DefaultURL
	}
	c, err := dial(url, options...)
	if err != nil {
		return nil, fmt.Errorf("no NATS server at %s: %w", natsurl.Redacted(url), natsurl.Without(err))
	}
	if err := c.check(ctx); err != nil {
		at := c.nc.ConnectedUrlRedacted() // which a closed connection no longer knows
		c.Close()
		return nil, fmt.Errorf("the NATS server at %s: %w", at, err)
	}
	return c, nil
}

// dial connects once, for one term: no reconnect and no buffer that could send
// later what was given up.
func dial(url string, options ...nats.Option) (*Conn, error) {
	c := &Conn{lost: make(chan struct{})}
	nc, err := nats.Connect(url, append(options,
		nats.NoReconnect(),
		nats.ReconnectBufSize(-1),
		nats.ClosedHandler(func(*nats.Conn) { close(c.lost) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // each error shows where it matters
	)...)
	if err != nil {
		return nil, err
	}
	c.nc = nc
	if c.js, err = jetstream.New(nc); err != nil {
		nc.Close()
		return nil, err
	}
	return c, nil
}

func (c *Conn) check(ctx context.Context) error {
	if got := c.nc.MaxPayload(); got < MinPayload {
		return fmt.Errorf("%w: max_payload is %d bytes, a reducer needs at least %d; raise it in the server's configuration",
			loop.ErrConfig, got, MinPayload)
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if _, err := c.js.AccountInfo(ctx); err != nil {
		return fmt.Errorf("JetStream cannot be used: %w", err)
	}
	return nil
}

// api asks the JetStream API and decodes the answer. An error in the answer is
// an *apiError with its kind.
func (c *Conn) api(ctx context.Context, subject, request string, answer any) error {
	m, err := c.nc.RequestWithContext(ctx, "$JS.API."+subject, []byte(request))
	if err != nil {
		return wireError(err)
	}
	var refusal struct {
		Error *apiError `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &refusal); err != nil {
		return fmt.Errorf("not an answer of JetStream: %w", err)
	}
	if refusal.Error != nil {
		return fmt.Errorf("%w: %w", refusal.Error.kind(), refusal.Error)
	}
	return json.Unmarshal(m.Data, answer)
}

// NATS is the connection, for what else a process does on it.
func (c *Conn) NATS() *nats.Conn { return c.nc }

// Lost is closed when the connection is gone.
func (c *Conn) Lost() <-chan struct{} { return c.lost }

// Close sends what is waiting to be sent and ends the connection.
func (c *Conn) Close() {
	_ = c.nc.FlushTimeout(closeFlush) // what cannot be sent now is lost anyway
	c.nc.Close()
	<-c.lost
}

const closeFlush = 500 * time.Millisecond
