package daemon

import (
	"context"
	"log/slog"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Pauses of the watcher: between looks, and between lines about the same
// trouble, whose words may change with every look.
const (
	watchEvery  = 500 * time.Millisecond
	repeatEvery = 15 * time.Second
)

// watch logs what the loop waits for, until ctx ends.
func watch(ctx context.Context, status *loop.Status, log *slog.Logger) {
	w := watcher{log: log, said: status.Info(), at: time.Now()}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			w.look(status.Info(), now)
		}
	}
}

// watcher remembers what it said last.
type watcher struct {
	log  *slog.Logger
	said loop.Info
	at   time.Time
}

func (w *watcher) look(info loop.Info, now time.Time) {
	changed := info.Phase != w.said.Phase || info.Ready() != w.said.Ready()
	if !changed && (info.Ready() || now.Sub(w.at) < repeatEvery) {
		return
	}
	before := w.said
	w.said, w.at = info, now
	switch info.Phase {
	case loop.PhaseStarting, loop.PhaseStopped: // whoever starts and stops says so
	case loop.PhaseRecovering:
		w.log.Info("reading the log", "logSeq", info.LogSeq, "of", info.LogEnd)
	case loop.PhaseReady, loop.PhaseHolding, loop.PhaseStalled:
		if !info.Ready() {
			w.log.Warn("nothing is decided now", "phase", info.Phase, "reason", info.Reason)
		} else if before.Phase == loop.PhaseHolding || before.Phase == loop.PhaseStalled {
			w.log.Info("deciding again", "after", now.Sub(before.Since).Round(time.Second))
		}
	}
}
