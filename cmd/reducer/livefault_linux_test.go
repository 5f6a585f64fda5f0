package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
)

// liveFault takes something from a reducer that runs, and may give it back.
type liveFault struct {
	name   string
	disk   func(t *testing.T) string                  // where its data directory is
	strike func(t *testing.T, s *served) (end func()) // nil end: only a restart helps
	says   []string                                   // one of these is in /readyz meanwhile
}

var liveFaults = []liveFault{
	{
		name: "files may not grow", disk: anyDisk, // what a full disk or a quota does
		strike: func(t *testing.T, s *served) func() { return takeAway(t, s, unix.RLIMIT_FSIZE, 4096) },
		says:   []string{"the log does not take block", "embedded server", "file too large"},
	},
	{
		name: "no file handles", disk: anyDisk,
		strike: func(t *testing.T, s *served) func() { return takeAway(t, s, unix.RLIMIT_NOFILE, 8) },
		says:   []string{"no file handle is left, so that nobody can connect"},
	},
	{
		name: "the disk is full", disk: smallDisk,
		strike: func(t *testing.T, s *served) func() {
			name := filepath.Join(filepath.Dir(s.data), "fill")
			fill(t, name)
			return func() {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
			}
		},
		says: []string{"is nearly full: 0 MiB are free"},
	},
	{
		name: "the disk turns read-only", disk: faultyDisk, strike: turnReadOnly,
		says: []string{"the disk of the data directory takes no writes"},
	},
}

// TestLiveFaults: whatever is taken from a reducer at work, no command gets a
// wrong answer, monitors are told in words what is wrong, and all goes on, with
// everything that was answered, when the cause is gone: by itself, or after the
// restart that a new mount needs.
func TestLiveFaults(t *testing.T) {
	t.Parallel()
	for _, f := range liveFaults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			program(t, "reducer")
			data := filepath.Join(f.disk(t), "data")
			s := serve(t, data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
			must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
			before := must(t, 0, "reducer", "export", "--decisions", "--nats", s.url)
			monitor := monitored(t, s)
			told(t, monitor, http.StatusOK, "ready")
			work := workFile(t)

			end := f.strike(t, s)
			heard := starved(t, s, work)
			told(t, monitor, http.StatusServiceUnavailable, f.says...)
			if status, body := get(t, monitor, "/healthz"); status != http.StatusOK || !containsAny(body, f.says) {
				t.Errorf("/healthz: %d %s", status, body)
			}
			if _, text := get(t, monitor, "/metrics"); !strings.Contains(text, "\naiws_ready 0\n") {
				t.Error("the metrics say that it is ready")
			}
			if end == nil {
				s = restarted(t, s)
			} else {
				end()
				told(t, monitor, http.StatusOK, "ready")
			}
			wentOn(t, s, before, heard, work)
		})
	}
}

// starved sends commands to a reducer that lacks something, and returns the
// answers: none is needed, and who gets none is told so.
func starved(t *testing.T, s *served, work string) (heard []string) {
	t.Helper()
	for range 3 {
		r := run(t, "", "ingest", "--wait", "--json", "--timeout", "3s", "--nats", s.url, work)
		heard = append(heard, strings.SplitAfter(r.out, "\n")...)
		if answered := strings.Count(r.out, "\n"); r.code == exit.Failure && r.stderr == "" || r.code != exit.Failure && answered < workCommands {
			t.Errorf("with %d answers: %s", answered, r)
		}
	}
	return heard
}

// wentOn checks a reducer that has all it needs again.
func wentOn(t *testing.T, s *served, before string, heard []string, work string) {
	t.Helper()
	var r result
	eventually(t, "all commands are answered again", func() bool {
		r = run(t, "", "ingest", "--wait", "--json", "--timeout", "20s", "--nats", s.url, work)
		return r.code == exit.Rejected || r.code == exit.OK
	})
	heard = append(heard, strings.SplitAfter(r.out, "\n")...)
	after := must(t, 0, "reducer", "export", "--decisions", "--nats", s.url)
	if !strings.HasPrefix(after, before) {
		t.Errorf("the log was\n%s\nand is\n%s", before, after)
	}
	for _, answer := range heard {
		if record := strings.TrimSuffix(answer, "\n"); !strings.Contains(after, record) {
			t.Errorf("not on the log: %s", record)
		}
	}
	must(t, 0, "reducer", "verify", "--nats", s.url)
	s.stop()
}

// told waits until /readyz has a status and says one of some words.
func told(t *testing.T, monitor string, status int, words ...string) {
	t.Helper()
	eventually(t, "/readyz says "+strings.Join(words, " or "), func() bool {
		code, body := get(t, monitor, "/readyz")
		return code == status && containsAny(body, words)
	})
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// workCommands is how many commands a file of work has.
const workCommands = 60

// workFile is a file of commands that open a ledger and work on it.
func workFile(t *testing.T) string {
	t.Helper()
	commands := workload.Open(workload.Ledger(0))
	for worker := workload.NewWorker(workload.Ledger(0), 0); len(commands) < workCommands; {
		commands = append(commands, worker.Next())
	}
	var lines []byte
	for i, c := range commands[:workCommands] {
		lines = logfile.Append(lines, &events.Message{Seq: uint64(i + 1), Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body})
	}
	name := filepath.Join(t.TempDir(), "work.jsonl")
	if err := os.WriteFile(name, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func anyDisk(t *testing.T) string { return t.TempDir() }

// takeAway limits a process that runs.
func takeAway(t *testing.T, s *served, resource int, amount uint64) (end func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Prlimit(s.process.Pid, resource, nil, &before); err != nil {
		t.Skip("no right to limit a process:", err)
	}
	if err := unix.Prlimit(s.process.Pid, resource, &unix.Rlimit{Cur: amount, Max: before.Max}, nil); err != nil {
		t.Skip("no right to limit a process:", err)
	}
	return func() {
		if err := unix.Prlimit(s.process.Pid, resource, &before, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// smallDisk is a file system of its own in memory.
func smallDisk(t *testing.T) string {
	t.Helper()
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=600m"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// Of a faultyDisk: the file in which it is, beside the place where it is mounted.
const faultyImage = "image"

// faultyDisk is a file system in a file, which an error turns read-only at once.
// Nobody can do that to a disk that is used otherwise: a mount that is written
// to refuses.
func faultyDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	image, disk := filepath.Join(dir, faultyImage), filepath.Join(dir, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(image, 700<<20); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", image).CombinedOutput(); err != nil {
		t.Skipf("cannot make a file system: %v %s", err, out)
	}
	mountImage(t, disk)
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", disk).Run() })
	return disk
}

func mountImage(t *testing.T, disk string) {
	t.Helper()
	image := filepath.Join(filepath.Dir(disk), faultyImage)
	if out, err := exec.Command("mount", "-o", "loop,errors=remount-ro", image, disk).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a file: %v %s", err, out)
	}
}

// turnReadOnly makes the file system find an error in itself.
func turnReadOnly(t *testing.T, s *served) (end func()) {
	t.Helper()
	disk := filepath.Dir(s.data)
	device, err := exec.Command("findmnt", "-n", "-o", "SOURCE", disk).Output()
	if err != nil {
		t.Skipf("cannot find the device: %v", err)
	}
	trigger := filepath.Join("/sys/fs/ext4", filepath.Base(strings.TrimSpace(string(device))), "trigger_fs_error")
	if err := os.WriteFile(trigger, []byte("a test\n"), 0o200); err != nil {
		t.Skipf("cannot make the file system fail: %v", err)
	}
	if err := os.WriteFile(filepath.Join(disk, "more"), []byte("x"), 0o600); err == nil {
		t.Skip("the file system takes writes after an error")
	}
	return nil
}

// restarted stops a reducer on a disk that takes no writes, mounts that again,
// and starts another one.
func restarted(t *testing.T, s *served) *served {
	t.Helper()
	if err := s.process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		t.Fatalf("serve does not stop: %s", s.stderr)
	}
	if s.code != exit.OK && s.code != exit.Failure {
		t.Errorf("serve ended with %d: %s", s.code, s.stderr)
	}
	disk := filepath.Dir(s.data)
	if out, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
		t.Fatalf("umount: %v %s", err, out)
	}
	mountImage(t, disk)
	return serve(t, s.data, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
}
