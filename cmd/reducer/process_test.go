package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// binaries are the two programs, built once for the tests that need processes.
var binaries = struct {
	once sync.Once
	dir  string
	err  error
}{}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if binaries.dir != "" {
			_ = os.RemoveAll(binaries.dir)
		}
		os.Exit(code)
	}))
}

// program gives the path of reducer or ingest. Tests with processes are skipped
// with -short.
func program(t *testing.T, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs processes")
	}
	binaries.once.Do(func() {
		if binaries.dir, binaries.err = os.MkdirTemp("", "reducer-test-*"); binaries.err != nil {
			return
		}
		binaries.err = proctest.Build(binaries.dir)
	})
	if binaries.err != nil {
		t.Fatal(binaries.err)
	}
	return filepath.Join(binaries.dir, name)
}

// result is how a program ended.
type result struct {
	code        int
	out, stderr string
}

func (r result) String() string { return fmt.Sprintf("exit code %d\n%s%s", r.code, r.out, r.stderr) }

// run runs a program to its end: reducer in this process, which is faster and
// counts for coverage.
func run(t *testing.T, stdin, name string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if name == "reducer" {
		root := newRoot()
		var out, stderr bytes.Buffer
		root.SetIn(strings.NewReader(stdin))
		root.SetOut(&out)
		root.SetErr(&stderr)
		root.SetArgs(args)
		code := cli.Run(ctx, root)
		return result{code, out.String(), stderr.String()}
	}
	c := exec.CommandContext(ctx, program(t, name), args...)
	var out, stderr bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(stdin), &out, &stderr
	err := c.Run()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), stderr.String()}
}

// must runs a program that has to end with a code.
func must(t *testing.T, code int, name string, args ...string) string {
	t.Helper()
	r := run(t, "", name, args...)
	if r.code != code {
		t.Fatalf("%s %s: %s", name, strings.Join(args, " "), r)
	}
	return r.out
}

// served is a reducer serve that runs.
type served struct {
	t           *testing.T
	data, url   string
	process     *os.Process
	out, stderr *proctest.Output
	ended       chan struct{}
	code        int // once ended is closed
}

// start starts a reducer on a data directory. The test kills what it does not
// stop.
func start(t *testing.T, data string, args ...string) *served {
	t.Helper()
	s := &served{t: t, data: data, out: &proctest.Output{}, stderr: &proctest.Output{}, ended: make(chan struct{})}
	c := exec.Command(program(t, "reducer"), append([]string{"serve", "--data", data}, args...)...)
	c.Stdout, c.Stderr = s.out, s.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.process = c.Process
	go func() {
		_ = c.Wait() // the state says it
		s.code = c.ProcessState.ExitCode()
		close(s.ended)
	}()
	t.Cleanup(func() {
		_ = s.process.Kill()
		<-s.ended
		if strings.Contains(s.stderr.String(), "DATA RACE") {
			t.Error("serve has a race")
		}
		if t.Failed() {
			t.Logf("serve on %s said:\n%s", data, s.stderr)
		}
	})
	return s
}

// serve starts a reducer, on a free port if not told otherwise, and waits until
// it takes commands.
func serve(t *testing.T, data string, args ...string) *served {
	t.Helper()
	if len(args) == 0 {
		args = []string{"--listen", "127.0.0.1:0"}
	}
	s := start(t, data, args...)
	eventually(t, "serve is ready", func() bool {
		select {
		case <-s.ended:
			t.Fatalf("serve ended with %d: %s", s.code, s.stderr)
		default:
		}
		_, rest, ok := strings.Cut(s.out.String(), "ready ")
		s.url, _, _ = strings.Cut(rest, "\n")
		return ok
	})
	return s
}

// stop asks for the end, which has to come within five seconds.
func (s *served) stop() {
	s.t.Helper()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(5 * time.Second):
		s.t.Fatal("serve did not stop within five seconds")
	}
	if s.code != 0 {
		s.t.Fatalf("serve ended with %d: %s", s.code, s.stderr)
	}
}

// kill ends it as a power failure would, but for the disk.
func (s *served) kill() {
	s.t.Helper()
	if err := s.process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	<-s.ended
}

// exits waits for it to end by itself.
func (s *served) exits(code int) string {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		s.t.Fatalf("serve goes on: %s", s.stderr)
	}
	if s.code != code {
		s.t.Fatalf("serve ended with %d, want %d: %s", s.code, code, s.stderr)
	}
	return s.stderr.String()
}

// eventually waits for something to be true.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true that %s", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
