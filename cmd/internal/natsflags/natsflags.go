// Package natsflags holds the connection flags that every command has which
// talks to a NATS server.
package natsflags

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// Flags say which server and who we are.
type Flags struct {
	URL     string
	Creds   string
	NKey    string
	CA      string
	Cert    string
	Key     string
	Timeout time.Duration
}

// Add adds the flags to a command that asks a server.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().StringVar(&f.URL, "nats", nats.DefaultURL, "server `URL`, or several with commas between")
	c.Flags().DurationVar(&f.Timeout, "timeout", 5*time.Second, "how long to wait for the server's answer")
	f.AddLogin(c)
}

// AddLogin adds the flags that say who we are.
func (f *Flags) AddLogin(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.Creds, "creds", "", "credentials `FILE` of a NATS user")
	flags.StringVar(&f.NKey, "nkey", "", "`FILE` with the seed of an nkey")
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
		return nil, fmt.Errorf("connect to %s: %w", f.Server(), err)
	}
	return conn, nil
}

// Server is the URL for people to read: without passwords.
func (f *Flags) Server() string {
	servers := strings.Split(f.URL, ",")
	for i, server := range servers {
		if u, err := url.Parse(strings.TrimSpace(server)); err == nil {
			servers[i] = u.Redacted()
		}
	}
	return strings.Join(servers, ",")
}

// Options gives the flags as options of the client.
func (f *Flags) Options(name string) ([]nats.Option, error) {
	options := []nats.Option{nats.Name(name), nats.Timeout(f.Timeout)}
	if (f.Cert == "") != (f.Key == "") {
		return nil, exit.With(exit.Usage, errors.New("--tls-cert and --tls-key go together"))
	}
	if f.Creds != "" {
		options = append(options, nats.UserCredentials(f.Creds))
	}
	if f.NKey != "" {
		option, err := nats.NkeyOptionFromSeed(f.NKey)
		if err != nil {
			return nil, fmt.Errorf("--nkey %s: %w", f.NKey, err)
		}
		options = append(options, option)
	}
	if f.CA != "" {
		options = append(options, nats.RootCAs(f.CA))
	}
	if f.Cert != "" {
		options = append(options, nats.ClientCert(f.Cert, f.Key))
	}
	return options, nil
}
