package natsflags

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

func parse(t *testing.T, args ...string) *Flags {
	t.Helper()
	var f Flags
	c := &cobra.Command{}
	f.Add(c)
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	return &f
}

func TestDefaults(t *testing.T) {
	f := parse(t)
	if f.URL != "nats://127.0.0.1:4222" || f.Timeout != 5*time.Second {
		t.Errorf("defaults: %+v", f)
	}
}

func TestOptions(t *testing.T) {
	options, err := parse(t, "--creds", "x", "--tls-ca", "a", "--tls-cert", "b", "--tls-key", "c").Options("test")
	if err != nil || len(options) != 5 {
		t.Errorf("%d options, %v", len(options), err)
	}
	missing := filepath.Join(t.TempDir(), "seed")
	if _, err := parse(t, "--nkey", missing).Options("test"); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("a missing seed: %v", err)
	}
	if _, err := parse(t, "--tls-cert", "b").Options("test"); exit.Code(err) != exit.Usage {
		t.Errorf("a certificate without a key: %v", err)
	}
}

func TestConnectNamesTheServer(t *testing.T) {
	_, err := parse(t, "--nats", "nats://127.0.0.1:1", "--timeout", "1s").Connect("test")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("got %v", err)
	}
}

// A password in a URL is nobody's to read.
func TestServer(t *testing.T) {
	f := parse(t, "--nats", "nats://bob:secret@127.0.0.1:1, nats://b:4222", "--timeout", "1s")
	if got := f.Server(); got != "nats://xxxxx@127.0.0.1:1,nats://b:4222" {
		t.Errorf("got %s", got)
	}
	if _, err := f.Connect("test"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
	for _, server := range []string{"nats://secret@127.0.0.1:1", "bob:secret@127.0.0.1:1", "nats://bob:secret/x@127.0.0.1:1", "nats://bob:secret%zz@127.0.0.1:1"} {
		_, err := parse(t, "--nats", server, "--timeout", "1s").Connect("test")
		if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "127.0.0.1:1") {
			t.Errorf("%s: %v", server, err)
		}
	}
}
