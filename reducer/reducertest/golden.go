package reducertest

import (
	"bytes"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

var force = flag.Bool("force", false, "with -rewrite: change golden files that are there; never after a release")

// rewriting says whether the tests run with the flag -rewrite, which the
// scenario library declares.
func rewriting() bool {
	f := flag.Lookup("rewrite")
	return f != nil && f.Value.String() == "true"
}

// Golden compares bytes with a golden file: bytes that were written once and must
// be read for ever. With -rewrite a file that is missing is written; one that is
// there is changed only with -force as well.
func Golden(t *testing.T, path string, got []byte) {
	t.Helper()
	want, err := os.ReadFile(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		t.Fatal(err)
	}
	if !missing && bytes.Equal(got, want) {
		return
	}
	switch {
	case !rewriting():
		t.Errorf("%s:\n got %.2000s\nwant %.2000s", path, got, want)
	case !missing && !*force:
		t.Errorf("%s differs, and what was written once is read for ever: give it a new version (-force changes the file all the same)", path)
	default:
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}
