package torture

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// programs is the directory of reducer and ingest.
type programs string

func (p programs) path(name string) string { return filepath.Join(string(p), name) }

// build builds the programs as they are.
func build(t *testing.T, dir string) programs {
	t.Helper()
	if err := proctest.Build(dir); err != nil {
		t.Fatal(err)
	}
	return programs(dir)
}

// process is a program that runs.
type process struct {
	name        string
	command     *exec.Cmd
	out, stderr proctest.Output
	harmed      bool // it was started on files that were damaged, for a reducer
	ended       chan struct{}
	code        int // once ended is closed; -1 when it was killed
}

func startProcess(name string, c *exec.Cmd) (*process, error) {
	p := &process{name: name, command: c, ended: make(chan struct{})}
	c.Stdout, c.Stderr = &p.out, &p.stderr
	if err := c.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = c.Wait() // the state says it
		p.code = c.ProcessState.ExitCode()
		close(p.ended)
	}()
	return p, nil
}

// kill is SIGKILL. It returns when the process is gone.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it may have ended
	<-p.ended
}

func (p *process) signal(s syscall.Signal) error { return p.command.Process.Signal(s) }

func (p *process) alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// waits says whether the process ended in time.
func (p *process) waits(d time.Duration) bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// Of a NATS server in a process of its own, which is this test program.
const (
	serverDir    = "AIWS_TORTURE_SERVER_DIR"
	serverListen = "AIWS_TORTURE_SERVER_LISTEN"
)

// runServer runs a NATS server as docs/operations.md asks for, until it is killed.
func runServer(dir, listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	o := &server.Options{Host: host, JetStream: true, StoreDir: dir, MaxPayload: 8 << 20, SyncAlways: true, NoSigs: true}
	if _, err := fmt.Sscan(port, &o.Port); err != nil {
		return err
	}
	s, err := server.NewServer(o)
	if err != nil {
		return err
	}
	s.SetLoggerV2(nil, false, false, false)
	s.Start()
	if !s.ReadyForConnections(time.Minute) {
		return fmt.Errorf("the NATS server does not begin to listen")
	}
	fmt.Println("ready nats://" + listen)
	s.WaitForShutdown()
	return nil
}

// startServer starts that process.
func startServer(dir, listen string) (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), serverDir+"="+dir, serverListen+"="+listen)
	return startProcess("the NATS server", c)
}

// awaitReady waits until a server says that it is ready.
func awaitReady(p *process, patience time.Duration) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.HasPrefix(p.out.String(), "ready ") {
			return nil
		}
		if !p.alive() {
			return fmt.Errorf("%s ended with %d:\n%s", p.name, p.code, p.stderr.String())
		}
	}
	return fmt.Errorf("%s is not ready after %s:\n%s", p.name, patience, p.stderr.String())
}
