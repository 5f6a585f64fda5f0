package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Each trouble of the world comes with what to do about it.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("listen: %w", syscall.EADDRINUSE), "choose another address with --listen"},
		{fmt.Errorf("write: %w", syscall.ENOSPC), "the disk is full"},
		{fmt.Errorf("open: %w", syscall.EROFS), "must be able to write there"},
		{fmt.Errorf("mkdir: %w", syscall.EACCES), "must be able to write there"},
		{fmt.Errorf("%w: block 3 of the log", loop.ErrIntegrity), "`reducer import` restores the log from the archive"},
		{errors.New("something else"), "something else"},
	} {
		if got := explain(c.err); !errors.Is(got, errors.Unwrap(c.err)) && errors.Unwrap(c.err) != nil || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	if err := explain(nil); err != nil {
		t.Errorf("nothing: %v", err)
	}
}

// The watcher says what changed, once, and what goes on, now and then.
func TestWatcher(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	began := time.Unix(1000, 0)
	w := watcher{log: log, said: loop.Info{Phase: loop.PhaseStarting}, at: began}
	at := func(seconds int, phase loop.Phase, reason string) loop.Info {
		info := loop.Info{Phase: phase, Reason: reason, LogSeq: 5, LogEnd: 9, Since: began.Add(time.Duration(seconds) * time.Second)}
		w.look(info, info.Since)
		return info
	}
	at(1, loop.PhaseStarting, "")
	at(2, loop.PhaseRecovering, "reading the log")
	at(3, loop.PhaseRecovering, "reading the log")
	at(4, loop.PhaseReady, "")
	at(5, loop.PhaseReady, "")
	at(6, loop.PhaseHolding, "the disk is nearly full: 9 MiB")
	at(7, loop.PhaseHolding, "the disk is nearly full: 8 MiB")
	at(22, loop.PhaseHolding, "the disk is nearly full: 7 MiB")
	at(30, loop.PhaseReady, "")
	at(31, loop.PhaseStopped, "stopped")
	want := `level=INFO msg="reading the log" logSeq=5 of=9
level=WARN msg="nothing is decided now" phase=holding reason="the disk is nearly full: 9 MiB"
level=WARN msg="nothing is decided now" phase=holding reason="the disk is nearly full: 7 MiB"
level=INFO msg="deciding again" after=8s
`
	if got := out.String(); got != want {
		t.Errorf("said:\n%swant:\n%s", got, want)
	}
}
