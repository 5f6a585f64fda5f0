package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// listing is what stands in a directory, hidden files too.
func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestWriteDirectory(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "a", "b")
	files := []File{{"x.nk", []byte("seed")}, {"y", nil}}
	if err := WriteDirectory(dir+"/", files); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, dir); got != "x.nk y" {
		t.Errorf("it has %s", got)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "x.nk"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := WriteDirectory(dir, []File{{"z", nil}}); err == nil || !strings.Contains(err.Error(), "nothing is overwritten") {
		t.Errorf("over another: %v", err)
	}
	if got := listing(t, filepath.Dir(dir)) + "|" + listing(t, dir); got != "b|x.nk y" {
		t.Errorf("a refusal left %s", got)
	}
	empty := t.TempDir()
	if err := WriteDirectory(empty, files); err != nil || listing(t, empty) != "x.nk y" {
		t.Errorf("an empty directory: %v", err)
	}
}

// Where one file cannot be written, none of the others stays: half of the keys
// is worse than none.
func TestWriteDirectoryFails(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "s")
	for _, bad := range []string{"no/such", strings.Repeat("x", 300), "x.nk"} {
		if err := WriteDirectory(dir, []File{{"x.nk", []byte("seed")}, {bad, []byte("seed")}, {"z", nil}}); err == nil {
			t.Fatalf("%s was written", bad)
		}
		if got := listing(t, parent); got != "" {
			t.Errorf("a failure at %s left %s", bad, got)
		}
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Skip(err)
	}
	if err := WriteDirectory(dir, []File{{"x.nk", nil}}); err == nil {
		t.Error("it wrote where a link points")
	}
	if got := listing(t, parent); got != "s" {
		t.Errorf("it left %s", got)
	}
}
