package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTake(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	first, err := Take(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Take(name)
	if !errors.Is(err, ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("a second one: %v, want the name of this process", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(name)
	if err != nil {
		t.Fatalf("it was given back: %v", err)
	}
	again.Close()
	if _, err := Take(filepath.Join(name, "below a file")); err == nil || errors.Is(err, ErrHeld) {
		t.Errorf("a place that cannot be: %v", err)
	}
}
