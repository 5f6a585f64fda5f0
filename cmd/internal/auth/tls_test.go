package auth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/internal/certtest"
)

// TestNewTLS: what a server could not use, or others could read, is refused with
// the name of the file.
func TestNewTLS(t *testing.T) {
	now := time.Now()
	dir := t.TempDir()
	ca := certtest.NewAuthority(t, filepath.Join(dir, "ca.pem"))
	cert, key := ca.Issue(t, filepath.Join(dir, "server"), now.Add(time.Hour))
	oldCert, oldKey := ca.Issue(t, filepath.Join(dir, "old"), now.Add(-time.Second))
	empty := filepath.Join(dir, "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := NewTLS(cert, key, ca.File, now)
	if err != nil || *got != (TLS{cert, key, ca.File}) {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, c := range []struct{ cert, key, ca, want string }{
		{cert, "", "", "go together"},
		{"", "", ca.File, "go together"},
		{filepath.Join(dir, "none"), key, "", "none"},
		{cert, filepath.Join(dir, "none"), "", "none"},
		{cert, oldKey, "", "does not match"},
		{oldCert, oldKey, "", "it is not valid since"},
		{empty, key, "", "empty"},
		{cert, key, filepath.Join(dir, "none"), "none"},
		{cert, key, empty, "no certificate"},
	} {
		if _, err := NewTLS(c.cert, c.key, c.ca, now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := NewTLS(cert, key, "", now.Add(-100*24*time.Hour)); err == nil || !strings.Contains(err.Error(), "not valid before") {
		t.Errorf("too early: %v", err)
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o602} {
		if err := os.Chmod(key, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := NewTLS(cert, key, "", now); err == nil || !strings.Contains(err.Error(), "chmod 600 "+key) {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
}

// TestAbsolute: the server may start in another directory than init did.
func TestAbsolute(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	cert, key := certtest.NewAuthority(t, "ca.pem").Issue(t, "server", time.Now().Add(time.Hour))
	got, err := NewTLS(cert, key, "ca.pem", time.Now())
	if err != nil || !filepath.IsAbs(got.Cert) || !filepath.IsAbs(got.Key) || !filepath.IsAbs(got.CA) {
		t.Errorf("%+v, %v", got, err)
	}
}
