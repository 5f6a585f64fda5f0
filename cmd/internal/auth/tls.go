package auth

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// TLS names the files of a server's certificate.
type TLS struct {
	Cert string
	Key  string
	CA   string // clients must show a certificate of these authorities; none when empty
}

// NewTLS checks the files, since a server that cannot use them does not start,
// and gives them with absolute names: the server may start elsewhere. now is when
// the certificate has to be good.
func NewTLS(cert, key, ca string, now time.Time) (*TLS, error) {
	if cert == "" || key == "" {
		return nil, errors.New("a TLS certificate and its key go together, and authorities for clients' certificates with them")
	}
	t := &TLS{Cert: cert, Key: key, CA: ca}
	for _, name := range []*string{&t.Cert, &t.Key, &t.CA} {
		if *name == "" {
			continue
		}
		absolute, err := filepath.Abs(*name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", *name, err)
		}
		*name = absolute
	}
	return t, t.check(now)
}

func (t *TLS) check(now time.Time) error {
	if err := Private(t.Key); err != nil {
		return err
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s: %w", t.Cert, t.Key, err)
	}
	switch leaf := pair.Leaf; {
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("TLS certificate %s: it is not valid before %s", t.Cert, leaf.NotBefore.Format(time.RFC3339))
	case !now.Before(leaf.NotAfter):
		return fmt.Errorf("TLS certificate %s: it is not valid since %s; get a new one", t.Cert, leaf.NotAfter.Format(time.RFC3339))
	}
	if t.CA == "" {
		return nil
	}
	authorities, err := os.ReadFile(t.CA)
	if err != nil {
		return err // it names the file
	}
	if !x509.NewCertPool().AppendCertsFromPEM(authorities) {
		return fmt.Errorf("TLS authorities %s: there is no certificate in it", t.CA)
	}
	return nil
}

// Private says what is wrong where anybody but its owner may read a file.
func Private(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err // it names the file
	}
	if mode := info.Mode() & fs.ModePerm; mode&0o077 != 0 {
		return fmt.Errorf("%s is a secret, and others on this machine may read it (mode %04o): chmod 600 %s", name, mode, name)
	}
	return nil
}
