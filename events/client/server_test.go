package client_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// plainServer runs a NATS server with JetStream and no reducer.
func plainServer(t *testing.T, user string) string {
	t.Helper()
	options := &server.Options{}
	if user != "" {
		file := filepath.Join(t.TempDir(), "nats.conf")
		text := fmt.Sprintf("authorization {users: [{user: u, password: p, %s}]}", user)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if options, err = server.ProcessConfigFile(file); err != nil {
			t.Fatal(err)
		}
	}
	options.Host, options.Port, options.NoSigs, options.NoLog = "127.0.0.1", server.RANDOM_PORT, true, true
	options.JetStream, options.StoreDir = true, t.TempDir()
	s, err := server.NewServer(options)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not start")
	}
	return s.ClientURL()
}
