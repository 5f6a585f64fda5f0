package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// healthEvery is the pause between two looks at what is beside the loop.
const healthEvery = time.Second

// health is what monitors are told: what the loop says about itself, and what
// it may not have met yet. A disk that turned read-only and a process without
// file handles keep clients away before a command meets them, and a clock that
// jumped shows in decisions only. It changes nothing that the loop does.
type health struct {
	status *loop.Status
	writes func() error // why the data directory takes no writes, or nil
	log    *slog.Logger
	clock  *jumps

	mu      sync.Mutex
	trouble error
}

func newHealth(status *loop.Status, dir string, clock func() time.Time, log *slog.Logger) *health {
	return &health{
		status: status, log: log, clock: newJumps(clock, time.Now()),
		writes: func() error { return takesWrites(dir) },
	}
}

// run looks now and then until ctx ends.
func (h *health) run(ctx context.Context) error {
	for wait(ctx, healthEvery); ctx.Err() == nil; wait(ctx, healthEvery) {
		h.look(time.Now())
	}
	return nil
}

// look looks once. now is the time of a clock that never jumps.
func (h *health) look(now time.Time) {
	if jump := h.clock.look(now); jump != "" {
		h.log.Warn(jump)
	}
	trouble := h.writes()
	h.mu.Lock()
	before := h.trouble
	h.trouble = trouble
	h.mu.Unlock()
	switch {
	case trouble != nil && before == nil:
		h.log.Warn("the data directory is in trouble", "reason", trouble)
	case trouble == nil && before != nil:
		h.log.Info("the data directory is in order again")
	}
}

// ready says whether commands are decided now, and clients can come.
func (h *health) ready() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.trouble == nil && h.status.Info().Ready()
}

// alive says whether the loop runs.
func (h *health) alive() bool { return h.status.Info().Phase != loop.PhaseStopped }

// String is the phase and all that is wrong, on one line.
func (h *health) String() string {
	info := h.status.Info()
	text := string(info.Phase)
	if info.Reason != "" {
		text += ": " + info.Reason
	}
	h.mu.Lock()
	trouble := h.trouble
	h.mu.Unlock()
	if trouble != nil {
		text += "; " + trouble.Error()
	}
	if jump := h.clock.lately(time.Now()); jump != "" {
		text += "; " + jump
	}
	return strings.ReplaceAll(text, "\n", "; ")
}

// takesWrites says why nobody can write below a data directory. It opens the
// lock for writing and writes nothing: opening needs a disk that takes writes
// and a free file handle.
func takesWrites(dir string) error {
	file, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_WRONLY, 0)
	switch {
	case err == nil:
		return file.Close()
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("%w: no file handle is left, so that nobody can connect: raise the limit (ulimit -n, LimitNOFILE)", err)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: the disk of the data directory takes no writes: make it writable, and start the reducer again if it was mounted anew", err)
	}
	return fmt.Errorf("the data directory cannot be written: %w", err)
}
