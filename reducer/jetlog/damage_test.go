package jetlog_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// logged makes a data directory with a log of so many commands and an inbox
// that is purged up to them, and nothing running on it.
func logged(ctx context.Context, t *testing.T, path string, commands int) {
	t.Helper()
	running := startChild(t, path)
	heard := &clients{answers: map[string][]byte{}}
	for len(heard.answers) < commands && ctx.Err() == nil {
		heard.sendAll(ctx, running.url, 0, commands)
	}
	time.Sleep(1200 * time.Millisecond) // the inbox is purged about every second
	running.kill(t)
}

// recovers starts a reducer on a data directory and says how that went.
func recovers(ctx context.Context, path string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return serve(ctx, path, func(string) { cancel() })
}

// TestDamagedLog: a flipped bit or a cut anywhere in the files of the log, with
// the store gone, is an integrity error or does no harm. It never begins a
// shorter log, and never an empty one.
func TestDamagedLog(t *testing.T) {
	if testing.Short() {
		t.Skip("runs many servers")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	origin := t.TempDir()
	logged(ctx, t, origin, 120)
	if err := os.RemoveAll(filepath.Join(origin, "store")); err != nil {
		t.Fatal(err)
	}
	whole := lastBlock(ctx, t, origin)
	rng := rand.New(rand.NewPCG(5, 5))
	outcomes := map[string]int{}
	for i := range 40 {
		path := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(path, os.DirFS(origin)); err != nil {
			t.Fatal(err)
		}
		what := damage(t, path, rng, i)
		err := recovers(ctx, path)
		switch {
		case errors.Is(err, loop.ErrIntegrity), errors.Is(err, loop.ErrConfig):
			outcomes["refused"]++
		case err != nil:
			t.Errorf("%s: %v", what, err)
		default:
			outcomes["unharmed"]++
			if last := lastBlock(ctx, t, path); last != whole {
				t.Errorf("%s: the log ends at block %d, it had %d", what, last, whole)
			}
		}
	}
	t.Log(outcomes)
	if outcomes["refused"] == 0 {
		t.Error("no damage was noticed: the test does not test")
	}
}

// damage flips a bit of one file of the log, or cuts it, or removes it.
func damage(t *testing.T, path string, rng *rand.Rand, round int) string {
	t.Helper()
	var files []string
	root := filepath.Join(path, "jetstream")
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(name, "AIWS_LOG_0") {
			files = append(files, name)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatal("no files of the log", err)
	}
	name := files[rng.IntN(len(files))]
	what := strings.TrimPrefix(name, root)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case round%4 == 3:
		data, what = data[:rng.IntN(len(data)+1)], "cut "+what
	case round%13 == 12:
		data, what = nil, "emptied "+what
	case len(data) > 0:
		at := rng.IntN(len(data))
		data[at] ^= 1 << rng.IntN(8)
		what = fmt.Sprintf("byte %d of %d of %s", at, len(data), what)
	}
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return what
}

func lastBlock(ctx context.Context, t *testing.T, path string) uint64 {
	t.Helper()
	off, err := jetlog.OpenOffline(ctx, path, streams, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer off.Close()
	info, err := off.Log.Info(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return info.LastSeq
}

// TestLogGone: a log that is not there any more is not begun anew beside an
// inbox that was used.
func TestLogGone(t *testing.T) {
	if testing.Short() {
		t.Skip("runs servers")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	path := t.TempDir()
	logged(ctx, t, path, 10)
	for _, gone := range []string{"store", "jetstream/$G/streams/AIWS_LOG_0"} {
		if err := os.RemoveAll(filepath.Join(path, gone)); err != nil {
			t.Fatal(err)
		}
	}
	if err := recovers(ctx, path); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("got %v, want an integrity error", err)
	}
	if err := os.RemoveAll(filepath.Join(path, "jetstream/$G/streams/AIWS_INBOX_0")); err != nil {
		t.Fatal(err)
	}
	if err := recovers(ctx, path); err != nil {
		t.Errorf("with nothing left: %v, want a new log", err)
	}
}
