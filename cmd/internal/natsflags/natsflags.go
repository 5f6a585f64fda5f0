// Package natsflags holds the connection flags that every command has which
// talks to a NATS server.
package natsflags

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/internal/natslogin"
	"github.com/aiws-reducer/aiws-reducer/internal/natsurl"
)

// Flags say which server and who we are.
type Flags struct {
	natslogin.Login
	URL     string
	Inbox   string // prefix of our inboxes; the client library's when empty
	Timeout time.Duration
}

// Add adds the flags to a command that asks a server.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.URL, "nats", nats.DefaultURL, "server `URL`, or several with commas between")
	c.Flags().DurationVar(&f.Timeout, "timeout", 5*time.Second, "how long to wait for the server's answer")
	c.Flags().StringVar(&f.Inbox, "inbox-prefix", "", "`PREFIX` of the inboxes for answers, as the server permits it: _INBOX.<user>")
	f.AddLogin(c)
}

// AddLogin adds the flags that say who we are.
func (f *Flags) AddLogin(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Creds, "creds", "", "credentials `FILE` of a NATS user")
	flags.StringVar(&f.NKey, "nkey", "", "`FILE` with the seed of an nkey")
	flags.StringVar(&f.User, "user", "", "`NAME` of a NATS user with a password")
	flags.StringVar(&f.Password, "password-file", "", "`FILE` with the password of --user")
	flags.StringVar(&f.CA, "tls-ca", "", "`FILE` with the certificates to trust")
	flags.StringVar(&f.Cert, "tls-cert", "", "`FILE` with our certificate")
	flags.StringVar(&f.Key, "tls-key", "", "`FILE` with the key of our certificate")
}

// Connect connects once; a server that cannot be reached is an error that names it.
func (f *Flags) Connect(name string, more ...nats.Option) (*nats.Conn, error) {
	options, err := f.Options(name)
	if err != nil {
		return nil, err
	}
	conn, err := nats.Connect(f.URL, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", f.Server(), natsurl.Without(err))
	}
	return conn, nil
}

// ErrNobody: nobody answers at the server's address, or no reducer does.
var ErrNobody = errors.New("no reducer answers")

// Explain says what to do where nobody answers; other errors stay as they are.
// more is what else the command could do, or nothing.
func (f *Flags) Explain(err error, more string) error {
	if err == nil || errors.Is(err, ErrNobody) || !nobody(err) {
		return err
	}
	return fmt.Errorf("%w at %s; start one with `reducer serve`, or name its server with --nats%s (%w)", ErrNobody, f.Server(), more, err)
}

// nobody: there is no server, or one without a reducer.
func nobody(err error) bool {
	var refused *net.OpError
	return errors.Is(err, nats.ErrNoServers) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, client.ErrNoReducer) ||
		errors.As(err, &refused) && refused.Op == "dial"
}

// Server is the URL for people to read: without passwords and tokens.
func (f *Flags) Server() string { return natsurl.Redacted(f.URL) }

// Options gives the flags as options of the client.
func (f *Flags) Options(name string) ([]nats.Option, error) {
	if err := f.Check(); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	options, err := f.Login.Options()
	if err != nil {
		return nil, err
	}
	options = append(options, nats.Name(name), nats.Timeout(f.Timeout))
	if f.Inbox != "" {
		if !strings.HasPrefix(f.Inbox, wire.ReplyPrefix) {
			return nil, exit.With(exit.Usage, errors.New("--inbox-prefix: want "+wire.ReplyPrefix+" in front; a reducer answers nowhere else"))
		}
		options = append(options, nats.CustomInboxPrefix(f.Inbox))
	}
	return options, nil
}
