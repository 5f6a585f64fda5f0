// Package proctest is for tests that run the real programs in processes of
// their own.
package proctest

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Build builds reducer and ingest into a directory, as they are. They look for
// races where the test does.
func Build(dir string) error {
	args := []string{"build", "-o", dir + string(filepath.Separator)}
	if Race {
		args = append(args, "-race")
	}
	const module = "github.com/aiws-reducer/aiws-reducer"
	if out, err := exec.Command("go", append(args, module+"/cmd/reducer", module+"/cmd/ingest")...).CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs: %w\n%s", err, out)
	}
	return nil
}

// Output collects what a process writes, for looking at while it runs. Its zero
// value is empty.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String is all that was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// FreeAddress is a host:port of this machine that nobody listens at now.
func FreeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the address is known
	return l.Addr().String()
}
