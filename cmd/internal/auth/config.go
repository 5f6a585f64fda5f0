package auth

import (
	"fmt"
	"strings"
)

// Config is what a server is configured with.
type Config struct {
	Users   []User
	Reducer string // public key of the reducer itself, for a server that it is not embedded in
	TLS     *TLS   // nil: connections are not encrypted
}

// String is the configuration as a NATS server reads it.
func (c *Config) String() string {
	var b strings.Builder
	b.WriteString("# Written by reducer init. No seed and no password is in here: they are beside it.\n" +
		"max_payload: 8MB\nmax_connections: 1000\nmax_subscriptions: 1000\nmax_pending: 64MB\nwrite_deadline: \"5s\"\n")
	if c.TLS != nil {
		c.TLS.write(&b)
	}
	b.WriteString("authorization {users: [\n")
	fmt.Fprintf(&b, "  {nkey: %s} # the reducer itself, or who runs it: may do everything\n", c.Reducer)
	for _, u := range c.Users {
		fmt.Fprintf(&b, "  # %q, %s\n  {%s, permissions: {\n    publish: [\n", u.Name, u.Role, u.login())
		for _, subject := range u.Publish() {
			fmt.Fprintf(&b, "      %q\n", subject)
		}
		fmt.Fprintf(&b, "    ]\n    subscribe: [%q]\n  }}\n", u.Inbox()+".>")
	}
	b.WriteString("]}\n")
	return b.String()
}

// login is how the configuration knows the user.
func (u User) login() string {
	if u.Hash != "" {
		return fmt.Sprintf("user: %q, password: %q", u.Token(), u.Hash)
	}
	return "nkey: " + u.Public
}

// write adds the block of the configuration. Names of files are quoted as the
// server's parser unquotes them.
func (t *TLS) write(b *strings.Builder) {
	fmt.Fprintf(b, "tls {\n  cert_file: %q\n  key_file: %q\n", t.Cert, t.Key)
	if t.CA != "" {
		fmt.Fprintf(b, "  ca_file: %q\n  verify: true # clients show a certificate of these authorities\n", t.CA)
	}
	b.WriteString("}\n")
}
