package jetlog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDir: one process at a time, and the second is told which is the first.
func TestDir(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if _, err := OpenExistingDir(path); err == nil || !strings.Contains(err.Error(), "no data directory") {
		t.Errorf("a directory that is not there: %v", err)
	}
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = OpenDir(path)
	if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "process ") {
		t.Errorf("the second one got: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	d, err = OpenExistingDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if d.Store() != filepath.Join(path, "store") || d.JetStream() != filepath.Join(path, "jetstream") {
		t.Errorf("layout: %s, %s", d.Store(), d.JetStream())
	}
}

func TestDirNotWritable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes everywhere")
	}
	path := t.TempDir()
	if err := os.Chmod(path, 0o500); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDir(path); err == nil || !strings.Contains(err.Error(), "cannot write") {
		t.Errorf("a read-only directory: %v", err)
	}
}
