package jetlog

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

func configFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func testDir(t *testing.T) *Dir {
	t.Helper()
	dir, err := OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// TestServerRefuses: what would be unsafe, or cannot work, is an error with a
// reason before anything is opened.
func TestServerRefuses(t *testing.T) {
	used, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	for _, c := range []struct{ name, listen, config, want string }{
		{"a port in use", used.Addr().String(), "", "address already in use"},
		{"no port", "127.0.0.1", "", "want host:port"},
		{"a bad port", "127.0.0.1:x", "", "is no port"},
		{"strangers", "0.0.0.0:0", "", "listening on 0.0.0.0:0 needs authentication and TLS"},
		{"monitoring for strangers", "127.0.0.1:0", `http: "0.0.0.0:8222"`, "monitoring on 0.0.0.0"},
		{"secure monitoring for strangers", "127.0.0.1:0", `https: "0.0.0.0:8222"`, "monitoring on 0.0.0.0"},
		{"profiling for strangers", "0.0.0.0:0", `prof_port: 6060`, "prof_port"},
		{"strangers with passwords in the clear", "0.0.0.0:0", `authorization { user: a, password: b }`, "needs authentication and TLS"},
		{"a cluster", "", `cluster { name: c, port: 6222 }`, "--nats"},
		{"leaf nodes", "", `leafnodes { port: 7422 }`, "--nats"},
		{"websocket", "", `websocket { port: 8080, no_tls: true }`, "--nats"},
		{"mqtt", "", "server_name: x\nmqtt { port: 1883 }", "--nats"},
		{"another store", "", `jetstream { store_dir: "/somewhere" }`, "data directory"},
		{"a configuration with an error", "", `port: {`, "NATS configuration"},
		{"two accounts", "", `accounts { A { users: [{user: a, password: a}] }, B { users: [{user: b, password: b}] } }`, "which account"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ServerOptions{Dir: testDir(t), Listen: c.listen}
			if c.config != "" {
				o.ConfigFile = configFile(t, c.config)
			}
			if _, err := StartServer(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestServerUsers: with users in the configuration this process is one too, and
// nobody else gets in without being one.
func TestServerUsers(t *testing.T) {
	ctx := integration(t)
	for _, c := range []struct {
		name, config, account string
		login                 nats.Option
	}{
		{"one user", `authorization { user: bob, password: secret }`, "", nats.UserInfo("bob", "secret")},
		{"a token", `authorization { token: secret }`, "", nats.Token("secret")},
		{"users", `authorization { users: [{user: bob, password: secret, permissions: {publish: "aiws.cmd.>"}}] }`, "", nats.UserInfo("bob", "secret")},
		{"an account", `accounts { AIWS { jetstream: enabled, users: [{user: bob, password: secret}] }, SYS {} }
			system_account: SYS`, "", nats.UserInfo("bob", "secret")},
		{"accounts", `accounts { AIWS { jetstream: enabled, users: [{user: bob, password: secret}] }, OTHER { users: [{user: x, password: y}] } }`,
			"AIWS", nats.UserInfo("bob", "secret")},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := StartServer(ServerOptions{
				Dir: testDir(t), Listen: "127.0.0.1:0", ConfigFile: configFile(t, c.config), Account: c.account,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop()
			s := session(ctx, t, server)
			defer s.Close()
			if err := s.OpenDoors(ctx); err != nil {
				t.Fatal(err)
			}
			if nc, err := nats.Connect(server.URL()); err == nil {
				nc.Close()
				t.Error("a stranger got in")
			}
			nc, err := nats.Connect(server.URL(), c.login)
			if err != nil {
				t.Fatal(err)
			}
			defer nc.Close()
			if err := nc.Publish("aiws.cmd.c1.bob.startRun", []byte("{}")); err != nil {
				t.Fatal(err)
			}
			f, err := s.Inbox().Read(ctx, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			take(t, f, 1)
		})
	}
}

// TestServerRestart: a restart keeps the streams and the address, closes the
// doors and ends every connection.
func TestServerRestart(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	s := session(ctx, t, server)
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Log().Append(ctx, 0, []byte("first")); err != nil {
		t.Fatal(err)
	}
	url := server.URL()
	if err := server.Healthy(); err != nil {
		t.Error(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	<-s.Conn().Lost()
	s.Close()
	if nc, err := nats.Connect(url, nats.Timeout(time.Second)); err == nil {
		nc.Close()
		t.Error("the doors are open after a restart")
	}
	s = session(ctx, t, server)
	defer s.Close()
	if err := s.OpenDoors(ctx); err != nil {
		t.Fatal(err)
	}
	if server.URL() != url {
		t.Errorf("it listens on %s, before on %s", server.URL(), url)
	}
	if found, err := s.Log().Get(ctx, 1); err != nil || string(found) != "first" {
		t.Errorf("block 1 is %q, %v", found, err)
	}
}

// TestServerStopped: a stopped server is an error, not a panic.
func TestServerStopped(t *testing.T) {
	ctx := integration(t)
	server := startServer(t, t.TempDir())
	server.Stop()
	server.Stop()
	if _, err := server.Connect(ctx, ConnectOptions{}); !errors.Is(err, errStopped) {
		t.Errorf("connect: %v", err)
	}
	if err := server.Healthy(); !errors.Is(err, errStopped) {
		t.Errorf("health: %v", err)
	}
	if err := server.OpenDoors(); !errors.Is(err, errStopped) {
		t.Errorf("doors: %v", err)
	}
}

// TestConnect: what a server must be like, in words.
func TestConnect(t *testing.T) {
	ctx := integration(t)
	if _, err := Connect(ctx, ConnectOptions{URL: "nats://127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), "no NATS server at nats://127.0.0.1:1") {
		t.Errorf("nobody there: %v", err)
	}
	for _, c := range []struct {
		name, config, want string
	}{
		{"a small payload", `max_payload: 1MB`, "max_payload is 1"},
		{"a large enough payload", `max_payload: 4MB`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, err := StartServer(ServerOptions{Dir: testDir(t), Listen: "127.0.0.1:0", ConfigFile: configFile(t, c.config)})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Stop()
			if err := server.OpenDoors(); err != nil {
				t.Fatal(err)
			}
			conn, err := Connect(ctx, ConnectOptions{URL: server.URL()})
			if err == nil {
				conn.Close()
			}
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, loop.ErrConfig) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestOffline: a stopped directory can be read, a used one cannot.
func TestOffline(t *testing.T) {
	ctx := integration(t)
	path := t.TempDir()
	dir, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := StartServer(ServerOptions{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	s := session(ctx, t, server)
	if err := s.Log().Append(ctx, 0, []byte("first")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	server.Stop()
	if _, err := OpenOffline(ctx, path, testStreams, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("a directory in use: %v", err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	off, err := OpenOffline(ctx, path, testStreams, nil)
	if err != nil {
		t.Fatal(err)
	}
	found, err := off.Log.Get(ctx, 1)
	if err != nil || string(found) != "first" {
		t.Errorf("block 1 is %q, %v", found, err)
	}
	off.Close()
	if _, err := OpenOffline(ctx, t.TempDir(), testStreams, nil); err == nil {
		t.Error("an empty directory was opened")
	}
	other := testStreams
	other.Shard = 7
	if _, err := OpenOffline(ctx, path, other, nil); err == nil || !strings.Contains(err.Error(), "there is no decision log") {
		t.Errorf("a shard that is not there: %v", err)
	}
}
