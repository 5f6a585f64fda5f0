package jetlog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Sync is the durability switch of the embedded server (DESIGN 3).
type Sync string

// With SyncAlways a block is on disk before it is acknowledged. With
// SyncInterval a power failure may take the last minutes of answered decisions.
const (
	SyncAlways   Sync = "always"
	SyncInterval Sync = "interval"
)

const (
	serverPayload = 8 << 20 // max_payload: one decision with its command, with room
	startPatience = 10 * time.Minute
	manyBytes     = 1 << 60 // the free-space gate is the limit, not the server's guess
)

// ServerOptions are those of the embedded server.
type ServerOptions struct {
	Dir        *Dir
	Listen     string   // host:port; 127.0.0.1:4222, or the configuration's, when empty
	ConfigFile string   // a nats-server configuration: users, TLS, limits
	Account    string   // of the streams, where the configuration has several
	Sync       Sync     // SyncAlways when empty
	Insecure   bool     // listen beyond loopback without authentication and TLS
	Beside     []string // streams that must work for ours to be of use, such as that of the KV mirror
	Log        *slog.Logger
}

// Server is an embedded NATS server. It starts without listeners: until
// OpenDoors only this process reaches it, over connections in memory.
//
// That is how the inbox is purged before anyone can publish (DESIGN 3, step 2).
// The server is started with DontListen, and its own accept loop is begun
// later; nothing is started twice. Listeners of other kinds (websocket, MQTT,
// leaf nodes, clusters) would open at the start, so a configuration with them
// is refused.
type Server struct {
	log *serverLog

	mu      sync.Mutex
	o       ServerOptions
	options *server.Options // of the running server
	user    nats.Option     // how this process logs in; nil where nobody has to
	running *server.Server
	open    bool
}

// StartServer starts a server without listeners on a data directory that this
// process holds.
func StartServer(o ServerOptions) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, log: &serverLog{log: o.Log}}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s, s.start()
}

// start runs a server that is not running. The caller holds mu.
func (s *Server) start() (err error) {
	if s.options, s.user, err = serverOptions(s.o); err != nil {
		return err
	}
	if err := s.tryAddress(); err != nil {
		return err
	}
	running, err := server.NewServer(s.options)
	if err != nil {
		return fmt.Errorf("embedded server: %w", err)
	}
	s.log.reset()
	running.SetLoggerV2(s.log, false, false, false)
	if err := s.begin(running); err != nil {
		return err
	}
	err = s.log.fatal()
	if err == nil && !running.ReadyForConnections(startPatience) {
		err = errors.New("it did not start in time")
	}
	if err != nil {
		running.Shutdown()
		running.WaitForShutdown()
		return fmt.Errorf("embedded server: %w", err)
	}
	s.running, s.open = running, false
	return nil
}

// tryAddress finds out early whether the address can be listened on, so that a
// port in use is not found only after a long recovery.
func (s *Server) tryAddress() error {
	l, err := net.Listen("tcp", net.JoinHostPort(s.options.Host, strconv.Itoa(max(s.options.Port, 0))))
	if err != nil {
		return fmt.Errorf("embedded server: %w", err)
	}
	return l.Close()
}

// OpenDoors lets clients connect. It does nothing when they can already.
func (s *Server) OpenDoors() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open {
		return nil
	}
	if s.running == nil {
		return errStopped
	}
	s.log.reset()
	s.options.DontListen = false // nobody else is there yet to read it
	s.running.AcceptLoop(make(chan struct{}))
	if err := s.log.fatal(); err != nil {
		return fmt.Errorf("embedded server: %w", err)
	}
	address, ok := s.running.Addr().(*net.TCPAddr)
	if !ok {
		return errors.New("embedded server: it does not listen")
	}
	s.o.Listen = net.JoinHostPort(s.options.Host, strconv.Itoa(address.Port)) // a restart listens there too
	s.open = true
	return nil
}

// URL is where clients connect once the doors are open.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return ""
	}
	return s.running.ClientURL()
}

// Connect returns a new connection in memory. options may say who we are where
// the configuration has users that this process cannot add itself to.
func (s *Server) Connect(ctx context.Context, o ConnectOptions) (*Conn, error) {
	options, err := o.Options()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	running, user := s.running, s.user
	s.mu.Unlock()
	if running == nil {
		return nil, errStopped
	}
	if user != nil && !o.Given() {
		options = append(options, user)
	}
	c, err := dial("", append(options, nats.InProcessServer(running))...)
	if err != nil {
		return nil, fmt.Errorf("embedded server: %w", err)
	}
	c.server = s
	if err := c.check(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("embedded server: %w", err)
	}
	return c, nil
}

var errStopped = errors.New("embedded server: it is stopped")

// Healthy says what keeps our streams, and those beside them, from working
// though the server runs. After one failed write (a full disk) a stream
// takes nothing more, and says so to nobody, until the server is started again:
// see [Server.Restart].
func (s *Server) Healthy() error {
	s.mu.Lock() // while the doors are opened it is not to be asked
	defer s.mu.Unlock()
	if s.running == nil {
		return errStopped
	}
	for _, fault := range s.running.Healthz(&server.HealthzOptions{Details: true}).Errors {
		ours := fault.Type == server.HealthzErrorStream && (strings.HasPrefix(fault.Stream, streamPrefix) || slices.Contains(s.o.Beside, fault.Stream))
		if ours || fault.Type == server.HealthzErrorJetStream {
			return fmt.Errorf("embedded server: %s", fault.Error)
		}
	}
	return nil
}

// remains returns a directory with messages of a stream, or "".
func (s *Server) remains(stream string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	// <account>/streams/<stream>/msgs/<n>.blk
	files, _ := filepath.Glob(filepath.Join(s.o.Dir.JetStream(), "*", "streams", stream, "msgs", "*.blk")) // only a bad pattern is an error
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			return filepath.Dir(filepath.Dir(name))
		}
	}
	return ""
}

// Restart stops the server and starts it without listeners, on the address it
// had. All connections are lost.
func (s *Server) Restart() error {
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.start()
}

// Stop ends the server and everything it does.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return
	}
	s.running.Shutdown()
	s.running.WaitForShutdown()
	s.running, s.open = nil, false
}
