package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// emptyPipeline starts a process with the same I/O as the reducer and nothing
// else.
func emptyPipeline(_ plan, dir string) (*server, error) {
	c, err := self("-task", emptyTask, "-path", dir)
	if err != nil {
		return nil, err
	}
	return startServer(c)
}

// runEmpty is the empty pipeline, until a signal ends it: the same server with
// the same streams and fsync, the same reading of the inbox, the same blocks and
// answers, the same depth of pipelining. No rules, no rows, no hashes.
func runEmpty(path string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e, err := newEmpty()
	if err != nil {
		return err
	}
	dir, err := jetlog.OpenDir(path)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the lock ends with the process
	server, err := jetlog.StartServer(jetlog.ServerOptions{
		Dir: dir, Listen: "127.0.0.1:0", Sync: jetlog.SyncAlways,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer server.Stop()
	conn, err := server.Connect(ctx, jetlog.ConnectOptions{})
	if err != nil {
		return err
	}
	if e.session, err = jetlog.NewSession(ctx, conn, jetlog.Streams{Generation: "bench"}, server.OpenDoors); err != nil {
		return err
	}
	defer e.session.Close()
	if e.feed, err = e.session.Inbox().Read(ctx, 0); err != nil {
		return err
	}
	defer e.feed.Close()
	if err := e.session.OpenDoors(ctx); err != nil {
		return err
	}
	fmt.Println("ready", server.URL())
	return e.run(ctx)
}

// empty takes what waits, appends it as one block with the same fence, answers,
// and purges the inbox each second.
type empty struct {
	header  []byte   // of a block of the real log, with its line feed
	entries [][]byte // what a command and its decision are in a block
	records [][]byte // decisions

	session *jetlog.Session
	feed    loop.Feed
	last    uint64         // block of the log
	queue   []loop.Command // taken and not in a block yet
	stored  []loop.Command // on the log and not answered yet
	purged  time.Time
}

// samples is how many commands are decided beforehand, so that blocks and
// answers have the bytes of real ones.
const samples = 16_384

func newEmpty() (*empty, error) {
	e := &empty{purged: time.Now()}
	err := writeBlocks(newSource(mixedWork), samples, func(block []byte) error {
		header, rest, _ := bytes.Cut(block, []byte{'\n'})
		e.header = append(header, '\n')
		for len(rest) > 0 {
			message, _, _ := bytes.Cut(rest, []byte{'\n'})
			record, after, _ := bytes.Cut(rest[len(message)+1:], []byte{'\n'})
			e.entries = append(e.entries, rest[:len(rest)-len(after)])
			e.records = append(e.records, record)
			rest = after
		}
		return nil
	})
	return e, err
}

func (e *empty) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if err := e.step(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// step writes what waits and, while that is being written, answers the block
// before: as the reducer does.
func (e *empty) step(ctx context.Context) error {
	commands, block, err := e.collect()
	if err != nil {
		return err
	}
	if len(commands) == 0 && len(e.stored) == 0 {
		select {
		case <-ctx.Done():
		case <-e.feed.Wake():
		}
		return nil
	}
	written := make(chan error, 1)
	go func() { written <- e.write(ctx, block) }()
	for i := range e.stored {
		e.session.Replies().Reply(e.stored[i].Reply, e.records[int(e.stored[i].Seq)%len(e.records)], true)
	}
	if err := <-written; err != nil {
		return err
	}
	e.stored = commands
	e.purge(ctx)
	return nil
}

// collect makes the next block, within the limits of a real one.
func (e *empty) collect() (commands []loop.Command, block []byte, err error) {
	if len(e.queue) == 0 {
		if e.queue, err = e.feed.Take(events.MaxBlockCommands); err != nil {
			return nil, nil, err
		}
	}
	if len(e.queue) == 0 {
		return nil, nil, nil
	}
	block = append(make([]byte, 0, events.MaxBlockBytes), e.header...)
	n := 0
	for ; n < len(e.queue) && len(block) < events.MaxBlockBytes; n++ {
		block = append(block, e.entries[int(e.queue[n].Seq)%len(e.entries)]...)
	}
	commands, e.queue = e.queue[:n:n], e.queue[n:]
	return commands, block, nil
}

func (e *empty) write(ctx context.Context, block []byte) error {
	if block == nil {
		return nil
	}
	err := e.session.Log().Append(ctx, e.last, block)
	e.last++
	return err
}

func (e *empty) purge(ctx context.Context) {
	if len(e.stored) == 0 || time.Since(e.purged) < time.Second {
		return
	}
	e.purged = time.Now()
	upTo := e.stored[len(e.stored)-1].Seq
	go func() {
		if err := e.session.Inbox().Purge(ctx, upTo+1); err != nil && !errors.Is(err, context.Canceled) {
			fmt.Fprintln(os.Stderr, "purge:", err) // the next one drops more
		}
	}()
}
