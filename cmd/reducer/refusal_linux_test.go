package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// A disk that is nearly full, full, or read-only is refused in a sentence. It
// takes a file system of our own, so who may not mount skips this.
func TestSmallDisk(t *testing.T) {
	program(t, "reducer")
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("cannot mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	refused := func(what, want string) {
		t.Helper()
		r := run(t, "", "reducer", "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(disk, "data"))
		if r.code != exit.Failure || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %s", what, r)
		}
	}
	refused("nearly full", "is nearly full: ")
	if err := os.RemoveAll(filepath.Join(disk, "data")); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(disk, "fill"))
	refused("full", "the disk is full; make room or choose another directory with --data")
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	refused("read-only", "the reducer must be able to write there; choose another directory with --data")
}

// fill writes until nothing goes in any more.
func fill(t *testing.T, name string) {
	t.Helper()
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}
