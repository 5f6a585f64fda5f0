package main

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// TestDiskTurnsReadOnly: a reducer is killed at work and its disk comes back
// read-only, as after an error of the file system. Serve refuses it in a sentence;
// when the disk takes writes again, everything that was answered is there. It
// takes a file system of our own, so who may not mount skips this.
func TestDiskTurnsReadOnly(t *testing.T) {
	program(t, "reducer")
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=600m"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := serve(t, disk, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	before := must(t, 0, "reducer", "export", "--decisions", "--nats", s.url)
	if status, body := get(t, monitored(t, s), "/readyz"); status != http.StatusOK {
		t.Errorf("before: %d %s", status, body)
	}
	s.kill()
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	refused := run(t, "", "reducer", "serve", "--listen", "127.0.0.1:0", "--data", disk)
	if refused.code != exit.Failure || !strings.Contains(refused.stderr, "must be able to write there") {
		t.Errorf("read-only: %s", refused)
	}
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	s = serve(t, disk, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	if after := must(t, 0, "reducer", "export", "--decisions", "--nats", s.url); after != before {
		t.Errorf("the log was\n%s\nand is\n%s", before, after)
	}
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	must(t, 0, "reducer", "verify", "--nats", s.url)
	s.stop()
}
