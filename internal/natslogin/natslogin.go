// Package natslogin is who we are to a NATS server, and whom we take it for:
// once for the clients and the reducer. What is secret is in files and never an
// argument of a program, where everybody on the machine could read it.
package natslogin

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
)

// Login names the files to log in with. Its zero value is nobody.
type Login struct {
	Creds    string // file of a JWT and its seed
	NKey     string // file of an nkey seed
	User     string // name of a user with a password
	Password string // file of that user's password
	CA       string // file of the authorities to trust
	Cert     string // file of our certificate
	Key      string // file of its key
}

// Given says whether it says who we are, certificates aside.
func (l *Login) Given() bool { return l.Creds != "" || l.NKey != "" || l.User != "" }

// Check says what does not go together.
func (l *Login) Check() error {
	ways := 0
	for _, way := range []string{l.Creds, l.NKey, l.User} {
		if way != "" {
			ways++
		}
	}
	switch {
	case ways > 1:
		return errors.New("give one of a credentials file, an nkey and a user with a password")
	case (l.User == "") != (l.Password == ""):
		return errors.New("a user and the file of its password go together")
	case (l.Cert == "") != (l.Key == ""):
		return errors.New("a TLS certificate and its key go together")
	}
	return nil
}

// Options reads the files and gives them as options of the client.
func (l *Login) Options() ([]nats.Option, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	var options []nats.Option
	if l.Creds != "" {
		options = append(options, nats.UserCredentials(l.Creds))
	}
	if l.NKey != "" {
		option, err := nats.NkeyOptionFromSeed(l.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey %s: %w", l.NKey, err)
		}
		options = append(options, option)
	}
	if l.User != "" {
		password, err := os.ReadFile(l.Password)
		if err != nil {
			return nil, fmt.Errorf("password of %s: %w", l.User, err)
		}
		options = append(options, nats.UserInfo(l.User, string(bytes.TrimRight(password, "\r\n"))))
	}
	if l.CA != "" {
		options = append(options, nats.RootCAs(l.CA))
	}
	if l.Cert != "" {
		options = append(options, nats.ClientCert(l.Cert, l.Key))
	}
	return options, nil
}
