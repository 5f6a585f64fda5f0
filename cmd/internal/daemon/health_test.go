package daemon

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// A jump is what the clock moved more or less than time passed; it is news for
// some minutes.
func TestJumps(t *testing.T) {
	began := time.Now()
	shown := began
	j := newJumps(func() time.Time { return shown }, began)
	passed := time.Duration(0)
	for _, c := range []struct {
		name        string
		pass, moved time.Duration
		said        string // "": nothing new
		sum         time.Duration
	}{
		{"nothing", time.Second, 0, "", 0},
		{"a machine that was busy", time.Hour, 0, "", 0},
		{"corrected by a second", time.Second, time.Second, "", 0},
		{"an hour", time.Second, time.Hour, "the clock jumped 1h0m0s forward at ", time.Hour},
		{"going on", time.Minute, 0, "", time.Hour},
		{"back again", time.Second, -time.Hour, "the clock jumped 1h0m0s back at ", 0},
		{"a day back", time.Minute, -24 * time.Hour, "the clock jumped 24h0m0s back at ", -24 * time.Hour},
	} {
		passed += c.pass
		shown = shown.Add(c.pass + c.moved)
		said := j.look(began.Add(passed))
		if (said == "") != (c.said == "") || !strings.HasPrefix(said, c.said) || j.sum() != c.sum.Seconds() {
			t.Errorf("%s: said %q, %v s in all", c.name, said, j.sum())
		}
		if said != "" && j.lately(began.Add(passed)) != said {
			t.Errorf("%s: afterwards %q", c.name, j.lately(began.Add(passed)))
		}
	}
	for after, want := range map[time.Duration]bool{jumpTold: true, jumpTold + time.Second: false} {
		if said := j.lately(began.Add(passed + after)); (said != "") != want {
			t.Errorf("after %s: %q", after, said)
		}
	}
}

// What is wrong beside the loop keeps a reducer from being ready, and is said
// until it is gone.
func TestHealthOfDirectory(t *testing.T) {
	status := loop.NewStatus()
	var trouble error
	h := newHealth(status, t.TempDir(), time.Now, slog.New(slog.DiscardHandler))
	h.writes = func() error { return trouble }
	look := func(want string) {
		t.Helper()
		h.look(time.Now())
		if got := h.String(); got != want || !h.alive() || h.ready() {
			t.Errorf("%q, alive %v, ready %v; want %q, not ready", got, h.alive(), h.ready(), want)
		}
	}
	look("starting")
	trouble = errors.New("two\nlines")
	look("starting; two; lines")
	trouble = nil
	look("starting")
}

// A directory that takes writes is one whose lock can be opened.
func TestTakesWrites(t *testing.T) {
	path := t.TempDir()
	dir, err := jetlog.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := takesWrites(path); err != nil {
		t.Error(err)
	}
	if other, err := jetlog.OpenDir(path); err == nil {
		other.Close()
		t.Error("looking gave the lock away")
	}
	if err := takesWrites(filepath.Join(path, "gone")); err == nil || !strings.Contains(err.Error(), "the data directory cannot be written") {
		t.Errorf("no directory: %v", err)
	}
}
