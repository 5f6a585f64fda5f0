package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
)

// newShard is a data directory that is being made under another name, with a
// private server on it. It gets its name when everything in it is in order and
// on disk.
type newShard struct {
	name       string
	partial    string // the name until then
	generation string
	log        *jetlog.Log

	dir    *jetlog.Dir
	server *jetlog.Server
	conn   *jetlog.Conn
}

// makeShard begins a data directory with an empty log.
func makeShard(ctx context.Context, name, generation string) (*newShard, error) {
	entries, err := os.ReadDir(name)
	switch {
	case err == nil && len(entries) > 0:
		return nil, exit.Errorf(exit.Usage, "--data %s: it is not empty; a log is imported into a new directory", name)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("data directory: %w", err)
	}
	n := &newShard{name: name, partial: strings.TrimRight(filepath.Clean(name), string(filepath.Separator)) + ".partial", generation: generation}
	if err := n.clear(); err != nil {
		return nil, err
	}
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(err, n.discard())
	}
	return n, nil
}

// clear removes what an import that was interrupted has left, and takes the
// directory.
func (n *newShard) clear() (err error) {
	for range 2 {
		if n.dir, err = jetlog.OpenDir(n.partial); err != nil {
			return err
		}
		if _, err := os.Stat(n.dir.JetStream()); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := errors.Join(n.dir.Close(), os.RemoveAll(n.partial)); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s cannot be removed", n.partial)
}

// open starts the server. What is written is synced at the end, all at once.
func (n *newShard) open(ctx context.Context) (err error) {
	n.server, err = jetlog.StartServer(jetlog.ServerOptions{
		Dir: n.dir, Listen: "127.0.0.1:0", Sync: jetlog.SyncInterval, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return err
	}
	if n.conn, err = n.server.Connect(ctx, jetlog.ConnectOptions{Name: "aiws-reducer import"}); err != nil {
		return err
	}
	streams := jetlog.Streams{Generation: n.generation}
	if _, err = streams.Ensure(ctx, n.conn); err != nil {
		return err
	}
	n.log, err = jetlog.OpenLog(ctx, n.conn, streams)
	return err
}

// stop ends the server; what it has not written yet it writes now.
func (n *newShard) stop() {
	if n.conn != nil {
		n.conn.Close()
	}
	if n.server != nil {
		n.server.Stop()
	}
}

// finish puts everything on disk and gives the directory its name.
func (n *newShard) finish() error {
	n.stop()
	if err := errors.Join(syncTree(n.partial), n.dir.Close()); err != nil {
		return err
	}
	if err := os.Remove(n.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // it was empty a while ago
	}
	if err := os.Rename(n.partial, n.name); err != nil {
		return err
	}
	return syncPath(filepath.Dir(filepath.Clean(n.name)))
}

// discard removes what was made.
func (n *newShard) discard() error {
	n.stop()
	return errors.Join(n.dir.Close(), os.RemoveAll(n.partial))
}

// syncTree puts a directory and all that is in it on disk.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return syncPath(path)
	})
}

func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	err = file.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		err = nil // not every system syncs directories, or what was opened for reading
	}
	return errors.Join(err, file.Close())
}
