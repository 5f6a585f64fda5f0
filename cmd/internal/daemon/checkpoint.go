package daemon

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
)

// checkpointPause is at least between two checkpoints that nobody asked for.
const checkpointPause = time.Minute

// checkpointer makes checkpoints beside the loop: every so many blocks, and when
// told to.
type checkpointer struct {
	every uint64 // blocks; 0 is never
	home  *projections.Home
	log   *slog.Logger
	due   chan struct{}

	mu     sync.Mutex
	newest *projections.Checkpoint // nil: there is none
	tried  uint64                  // block at which the last one was due
	failed error                   // why the last one was not made
}

func newCheckpointer(every uint64, home *projections.Home, log *slog.Logger) *checkpointer {
	c := &checkpointer{every: every, home: home, log: log, due: make(chan struct{}, 1)}
	if c.newest = home.NewestCheckpoint(); c.newest != nil {
		c.tried = c.newest.Block
	}
	return c
}

// folded is told of each block, by the loop, so it does not wait.
func (c *checkpointer) folded(block uint64) {
	c.mu.Lock()
	due := c.every > 0 && block >= c.tried+c.every
	if due {
		c.tried = block
	}
	c.mu.Unlock()
	if !due {
		return
	}
	select {
	case c.due <- struct{}{}:
	default:
	}
}

// run makes the checkpoints that are due until ctx ends.
func (c *checkpointer) run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.due:
		}
		_, _ = c.make() // its error is logged and shown in the status
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(checkpointPause):
		}
	}
}

// make makes a checkpoint now.
func (c *checkpointer) make() (*projections.Checkpoint, error) {
	began := time.Now()
	made, err := c.home.Checkpoint()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed = err; err != nil {
		c.log.Error("no checkpoint was made", "error", err)
		return nil, err
	}
	c.newest, c.tried = made, max(c.tried, made.Block)
	c.log.Info("a checkpoint was made", "block", made.Block, "commandSeq", made.CommandSeq, "stateHash", made.StateHash,
		"took", time.Since(began).Round(time.Millisecond))
	return made, nil
}

func (c *checkpointer) status() *wire.CheckpointStatus {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &wire.CheckpointStatus{}
	if c.newest != nil {
		s.AsOf, s.Made = wire.AsOf{Block: c.newest.Block, Seq: c.newest.CommandSeq}, c.newest.Made.Format(time.RFC3339)
	}
	if c.failed != nil {
		s.Error = c.failed.Error()
	}
	return s
}
