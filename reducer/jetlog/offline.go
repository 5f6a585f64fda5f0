package jetlog

import (
	"context"
	"log/slog"
)

// Offline is the log of a stopped data directory, read through a private server
// that nobody else can reach.
type Offline struct {
	Dir  *Dir
	Log  *Log
	Conn *Conn

	server  *Server
	streams Streams
}

// OpenOffline takes the lock of a data directory and opens its log. The server
// needs the directory writable.
func OpenOffline(ctx context.Context, path string, s Streams, log *slog.Logger) (*Offline, error) {
	dir, err := OpenExistingDir(path)
	if err != nil {
		return nil, err
	}
	o := &Offline{Dir: dir, streams: s}
	if err := o.open(ctx, s, log); err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

func (o *Offline) open(ctx context.Context, s Streams, log *slog.Logger) (err error) {
	if o.server, err = StartServer(ServerOptions{Dir: o.Dir, Listen: "127.0.0.1:0", Log: log}); err != nil {
		return err
	}
	if o.Conn, err = o.server.Connect(ctx, ConnectOptions{Name: "aiws-reducer offline"}); err != nil {
		return err
	}
	o.Log, err = OpenLog(ctx, o.Conn, s)
	return err
}

// Inspect looks at the streams of the shard.
func (o *Offline) Inspect(ctx context.Context) ([]Found, error) {
	return o.streams.Inspect(ctx, o.Conn)
}

// Close stops the private server and gives the directory back.
func (o *Offline) Close() {
	if o.Conn != nil {
		o.Conn.Close()
	}
	if o.server != nil {
		o.server.Stop()
	}
	_ = o.Dir.Close() // the process ends its hold on it in any case
}
