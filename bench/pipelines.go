package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

var streams = jetlog.Streams{Generation: "bench"}

// host is an embedded server on a data directory of its own, fsync on.
type host struct {
	dir    *jetlog.Dir
	server *jetlog.Server
}

func newHost(path string) (*host, error) {
	dir, err := jetlog.OpenDir(path)
	if err != nil {
		return nil, err
	}
	server, err := jetlog.StartServer(jetlog.ServerOptions{
		Dir: dir, Listen: "127.0.0.1:0", Sync: jetlog.SyncAlways,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return &host{dir, server}, nil
}

func (h *host) close() error {
	h.server.Stop()
	return h.dir.Close()
}

func (h *host) session(ctx context.Context, ready chan<- string) (*jetlog.Session, error) {
	conn, err := h.server.Connect(ctx, jetlog.ConnectOptions{})
	if err != nil {
		return nil, err
	}
	return jetlog.NewSession(ctx, conn, streams, func() error {
		err := h.server.OpenDoors()
		if err == nil {
			ready <- h.server.URL()
		}
		return err
	})
}

type stores struct{ *projections.Home }

func (s stores) Open() (loop.Store, error) { return s.Home.Open() }

// startReducer begins the real thing.
func startReducer(ctx context.Context, path string) (string, func() error, error) {
	h, err := newHost(path)
	if err != nil {
		return "", nil, err
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- loop.Run(ctx, loop.Options{
			Connect: func(ctx context.Context) (loop.Session, error) {
				s, err := h.session(ctx, ready)
				if err != nil {
					return nil, err
				}
				return s, nil
			},
			Stores:       stores{projections.NewHome(projections.StoreOptions{Dir: h.dir.Store()})},
			NewDecider:   func() loop.Decider { return reducer.New() },
			RulesVersion: reducer.RulesVersion,
		})
	}()
	return awaitReady(h, ready, ended)
}

func awaitReady(h *host, ready <-chan string, ended <-chan error) (string, func() error, error) {
	select {
	case url := <-ready:
		return url, func() error { return errors.Join(<-ended, h.close()) }, nil
	case err := <-ended:
		return "", nil, errors.Join(fmt.Errorf("it did not start: %w", err), h.close())
	}
}

// startEmpty begins a pipeline with the same I/O and nothing else: it takes what
// waits in the inbox, appends it as one block of the same size with the same
// fence, answers, and purges the inbox each second. No rules, no rows.
func startEmpty(ctx context.Context, path string) (string, func() error, error) {
	h, err := newHost(path)
	if err != nil {
		return "", nil, err
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- runEmpty(ctx, h, ready) }()
	return awaitReady(h, ready, ended)
}

// emptyRecord has the size of a usual decision record.
var emptyRecord = make([]byte, 700)

func runEmpty(ctx context.Context, h *host, ready chan<- string) error {
	s, err := h.session(ctx, ready)
	if err != nil {
		return err
	}
	defer s.Close()
	feed, err := s.Inbox().Read(ctx, 0)
	if err != nil {
		return err
	}
	defer feed.Close()
	if err := s.OpenDoors(ctx); err != nil {
		return err
	}
	e := &empty{session: s, feed: feed, purged: time.Now()}
	for ctx.Err() == nil {
		if err := e.step(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

type empty struct {
	session *jetlog.Session
	feed    loop.Feed
	last    uint64 // of the log
	waiting []loop.Command
	purged  time.Time
}

// step writes what waits as one block and, while that is written, answers the
// block before: as the reducer does.
func (e *empty) step(ctx context.Context) error {
	commands, err := e.feed.Take(1024)
	if err != nil {
		return err
	}
	if len(commands) == 0 && len(e.waiting) == 0 {
		select {
		case <-ctx.Done():
		case <-e.feed.Wake():
		}
		return nil
	}
	written := make(chan error, 1)
	go func() { written <- e.write(ctx, commands) }()
	for i := range e.waiting {
		e.session.Replies().Reply(e.waiting[i].Reply, emptyRecord, true)
	}
	if err := <-written; err != nil {
		return err
	}
	e.waiting = commands
	return e.purge(ctx)
}

func (e *empty) write(ctx context.Context, commands []loop.Command) error {
	if len(commands) == 0 {
		return nil
	}
	var block []byte
	for i := range commands {
		block = append(append(block, commands[i].Body...), emptyRecord...)
	}
	err := e.session.Log().Append(ctx, e.last, block)
	e.last++
	return err
}

func (e *empty) purge(ctx context.Context) error {
	if len(e.waiting) == 0 || time.Since(e.purged) < time.Second {
		return nil
	}
	e.purged = time.Now()
	upTo := e.waiting[len(e.waiting)-1].Seq
	go func() { _ = e.session.Inbox().Purge(ctx, upTo+1) }() // an error shows at the next command
	return nil
}
