package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// reducerProgram is the program to measure, built where none is named.
func reducerProgram(named, dir string) (string, error) {
	if named != "" {
		return filepath.Abs(named)
	}
	path := filepath.Join(dir, "reducer")
	c := exec.Command("go", "build", "-o", path, "github.com/aiws-reducer/aiws-reducer/cmd/reducer")
	if text, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the reducer: %w\n%s", err, text)
	}
	return path, nil
}

// server is one side of a comparison, in a process of its own.
type server struct {
	cmd    *exec.Cmd
	url    string
	said   *bytes.Buffer // on standard error
	starts time.Duration // from its start until it was ready
}

// begin starts a side on a data directory.
type begin func(p plan, dir string) (*server, error)

// serve starts the real thing.
func serve(p plan, dir string) (*server, error) {
	return startServer(exec.Command(p.reducer, "serve", "--data", dir, "--listen", "127.0.0.1:0", "--log-level", "warn"))
}

// readyPatience is how long a server may take to read its log.
const readyPatience = 5 * time.Minute

// startServer starts a program that prints "ready" and an address.
func startServer(c *exec.Cmd) (*server, error) {
	s := &server{cmd: c, said: &bytes.Buffer{}}
	c.Stderr = s.said
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "ready "); ok {
				ready <- url
			}
		}
		close(ready)
	}()
	select {
	case url, ok := <-ready:
		if ok {
			s.url, s.starts = url, time.Since(began)
			return s, nil
		}
		err = errors.New("it ended")
	case <-time.After(readyPatience):
		err = fmt.Errorf("it was not ready within %s", readyPatience)
	}
	s.kill()
	return nil, fmt.Errorf("start %s: %w: %s", filepath.Base(c.Path), err, s.said)
}

// stop ends it in good order.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("stop %s: %w: %s", filepath.Base(s.cmd.Path), err, s.said)
	}
	return nil
}

// kill ends it as a crash does.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // it may have ended by itself
	_ = s.cmd.Wait()         // it was killed
}

// usage of a process, as far as the system tells; zero where it does not.
type usage struct {
	cpu      time.Duration // of all its threads, user and system
	resident float64       // MiB
	peak     float64       // MiB, of resident memory since the program began
}

// usageOf reads /proc. The peak that wait reports is of no use: it counts the
// memory of the process that started the program.
func usageOf(pid int) usage {
	var u usage
	status := fmt.Sprintf("/proc/%d/status", pid)
	u.resident, u.peak = mebibytes(field(status, "VmRSS")), mebibytes(field(status, "VmHWM"))
	text := firstLine(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:]) // the name before may hold anything
	const user, system = 11, 12
	if len(fields) > system {
		u.cpu = ticks(fields[user]) + ticks(fields[system])
	}
	return u
}

func mebibytes(text string) float64 {
	kib, _ := strconv.ParseFloat(strings.TrimSuffix(text, " kB"), 64) // 0 where it is not known
	return kib / 1024
}

// ticks converts the unit of /proc, which is a hundredth of a second on every
// Linux.
func ticks(text string) time.Duration {
	n, _ := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * 10 * time.Millisecond
}

func (s *server) usage() usage { return usageOf(s.cmd.Process.Pid) }

// processorTime is what this process has used of all processors, the garbage
// collector's share included: other processes hardly disturb it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it has no other failure than a wrong argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// self starts this program again, for a task.
func self(args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.Command(path, args...), nil
}
