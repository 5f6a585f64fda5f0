package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// source says where a command reads: a running reducer over NATS, or a stopped
// data directory.
type source struct {
	nats natsflags.Flags
	data string
	hint string // what else to do where nobody answers
}

func (s *source) add(c *cobra.Command) {
	s.nats.Add(c)
	s.hint = "; of a stopped one, read the directory with --data"
	c.Flags().StringVar(&s.data, "data", "", "read this `DIR`ectory of a stopped reducer, and ask no server")
}

// stopped says whether a directory was named.
func (s *source) stopped() bool { return s.data != "" }

// connectOptions are the flags as jetlog wants them.
func connectOptions(f *natsflags.Flags) jetlog.ConnectOptions {
	return jetlog.ConnectOptions{URL: f.URL, Login: f.Login}
}

// openedLog is a decision log that can be read, and what it takes to do so.
type openedLog struct {
	loop.Log
	conn       *nats.Conn
	dir        *jetlog.Dir     // nil over NATS
	offline    *jetlog.Offline // nil over NATS
	where      string          // for people
	generation string
	end        uint64 // its last block, when it was opened
	close      func()
}

// openLog opens the decision log of the source.
func (s *source) openLog(ctx context.Context) (*openedLog, error) {
	if s.stopped() {
		return openStopped(ctx, s.data)
	}
	log, err := openRunning(ctx, &s.nats)
	return log, s.explain(err)
}

func openRunning(ctx context.Context, f *natsflags.Flags) (*openedLog, error) {
	conn, err := jetlog.Connect(ctx, connectOptions(f))
	if err != nil {
		return nil, err
	}
	log, err := jetlog.OpenLog(ctx, conn, jetlog.Streams{})
	if err != nil {
		conn.Close()
		return nil, err
	}
	return opened(ctx, &openedLog{Log: log, conn: conn.NATS(), where: f.Server(), close: conn.Close})
}

// opened looks where the log ends.
func opened(ctx context.Context, l *openedLog) (*openedLog, error) {
	info, err := l.Info(ctx)
	if err != nil {
		l.close()
		return nil, err
	}
	l.generation, l.end = info.Generation, info.LastSeq
	return l, nil
}

// openStopped runs a private server on a data directory, under its lock.
func openStopped(ctx context.Context, data string) (*openedLog, error) {
	if _, err := os.Stat(data); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	offline, err := jetlog.OpenOffline(ctx, data, jetlog.Streams{}, slog.New(slog.DiscardHandler))
	switch {
	case errors.Is(err, jetlog.ErrLocked):
		return nil, fmt.Errorf("%w (leave --data out to ask a running reducer)", err)
	case err != nil:
		return nil, err
	}
	return opened(ctx, &openedLog{
		Log: offline.Log, conn: offline.Conn.NATS(), dir: offline.Dir, offline: offline, where: data, close: offline.Close,
	})
}

// openStore opens the store of a stopped directory and folds into it what the
// log has beyond it, as a reducer would when it starts.
func openStore(ctx context.Context, home *projections.Home, log *openedLog) (*projections.Store, error) {
	store, err := home.Open()
	if err != nil {
		return nil, storeError(err)
	}
	if err := catchUp(ctx, store, log); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func catchUp(ctx context.Context, store *projections.Store, log *openedLog) error {
	if at := store.Cursor().LogSeq; at > log.end {
		return fmt.Errorf("%w: the store holds block %d, the log ends at block %d: the log was replaced by an older one, or has lost its end",
			loop.ErrIntegrity, at, log.end)
	}
	folder := loop.NewFolder(store, 0)
	err := loop.ReadBlocks(ctx, log, store.Cursor().LogSeq+1, func(b *loop.ReadBlock) error {
		return folder.FoldRead(ctx, log, b)
	})
	if err != nil {
		return err
	}
	return folder.Commit()
}

// storeError says what to do about a store that does not open.
func storeError(err error) error {
	var damaged loop.Damaged
	if errors.As(err, &damaged) && damaged.Damaged() {
		return fmt.Errorf("%w: %w; the log is not touched by that: rebuild the store with `reducer replay`", loop.ErrIntegrity, err)
	}
	return err
}
