package natslogin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

func TestCheck(t *testing.T) {
	for _, fine := range []Login{{}, {Creds: "x"}, {NKey: "x", CA: "y"}, {User: "u", Password: "f", Cert: "c", Key: "k"}} {
		if err := fine.Check(); err != nil {
			t.Errorf("%+v: %v", fine, err)
		}
	}
	for _, bad := range []Login{{Creds: "x", NKey: "y"}, {NKey: "x", User: "u", Password: "f"}, {User: "u"}, {Password: "f"}, {Cert: "c"}, {Key: "k"}} {
		if bad.Check() == nil {
			t.Errorf("%+v was taken", bad)
		}
		if _, err := bad.Options(); err == nil {
			t.Errorf("%+v has options", bad)
		}
	}
}

// The password is what its file says, without the end of the line that editors
// leave.
func TestPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p")
	l := Login{User: "u", Password: file}
	if _, err := l.Options(); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("without the file: %v", err)
	}
	if err := os.WriteFile(file, []byte("a b \r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	options, err := l.Options()
	if err != nil || !l.Given() {
		t.Fatal(err)
	}
	var o nats.Options
	for _, option := range options {
		if err := option(&o); err != nil {
			t.Fatal(err)
		}
	}
	if o.User != "u" || o.Password != "a b " {
		t.Errorf("%q %q", o.User, o.Password)
	}
}
