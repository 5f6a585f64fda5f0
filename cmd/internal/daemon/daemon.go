package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/oklog/ulid/v2"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/archive"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Options say what to run and where.
type Options struct {
	Data string // the data directory, made when missing

	// External is the server to use; nil is the embedded one, which the
	// next fields are for.
	External      *jetlog.ConnectOptions
	Login         jetlog.ConnectOptions // who we are on an embedded server whose configuration has its own users
	Listen        string                // host:port; 127.0.0.1:4222, or the configuration's, when empty
	ConfigFile    string                // of a NATS server
	Account       string                // of the streams, where the configuration has several
	AllowInsecure bool                  // listen to strangers without authentication and TLS
	Sync          jetlog.Sync

	// CheckpointBlocks is how many blocks there are between two checkpoints
	// of the store; 0 makes none but those asked for.
	CheckpointBlocks uint64

	// ScrubRate is how many bytes of the log, and then of the archive, the
	// store and the mirror, are read through in a second beside everything
	// else; 0 reads none.
	ScrubRate int64

	Archive string // directory of a second copy of the log; "" is none

	Streams   jetlog.Streams
	Scheduler bool
	HTTP      string // host:port of metrics and health; "" is none
	Build     string
	Log       *slog.Logger

	clock loop.Clock // of tests; nil is the wall clock

	// Ready is called when a term begins to take commands, with the address
	// for clients. Optional.
	Ready func(url string)
}

// now is the clock of the machine.
func (o *Options) now() func() time.Time {
	if o.clock == nil {
		return time.Now
	}
	return o.clock.Now
}

// grace is for the block that is being written when the daemon stops.
const grace = 2 * time.Second

// Run works until ctx ends, which is no error, or until going on cannot help.
// The error is one of package loop, or says in a sentence what keeps the
// daemon from starting.
func Run(ctx context.Context, o Options) error {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := jetlog.OpenDir(o.Data)
	if err != nil {
		return explain(err)
	}
	defer dir.Close() //nolint:errcheck // the lock ends with the process in any case
	if err := checkSpace(dir.Path()); err != nil {
		return err
	}
	d := &daemon{
		o: o, dir: dir, status: loop.NewStatus(),
		space: func() error { return checkSpace(dir.Path()) },
		home:  projections.NewHome(projections.StoreOptions{Dir: dir.Store(), Checkpoints: dir.Checkpoints(), Log: o.Log}),
	}
	d.metrics, d.health = newMetrics(), newHealth(d.status, dir.Path(), o.now(), o.Log)
	d.checkpoints = newCheckpointer(o.CheckpointBlocks, d.home, o.Log)
	if d.o.Streams.Generation == "" {
		d.o.Streams.Generation = ulid.Make().String()
	}
	if d.mirror, err = projections.NewMirror(d.mirrorOptions()); err != nil {
		return err
	}
	defer d.stop()
	if err := d.startArchive(); err != nil {
		return explain(err)
	}
	d.startScrub(ctx)
	if err := d.startHTTP(ctx); err != nil {
		return err
	}
	d.beside(ctx, "looking after health", d.health.run)
	d.beside(ctx, "making checkpoints", d.checkpoints.run)
	// It takes the last blocks along, so it ends after the loop.
	d.beside(context.WithoutCancel(ctx), "the KV mirror", d.mirror.Run)
	watching, done := context.WithCancel(ctx)
	defer done()
	go watch(watching, d.status, o.Log)
	err = loop.Run(ctx, d.loopOptions())
	d.metrics.ended(err)
	return explain(err)
}

// daemon is one run.
type daemon struct {
	o      Options
	dir    *jetlog.Dir
	home   *projections.Home
	mirror *projections.Mirror
	status *loop.Status
	server *jetlog.Server // nil until the first term, and with an external server
	space  func() error   // says why the disk has no room for a server to start

	archive     *archive.Writer // nil where none was asked for
	checkpoints *checkpointer
	scrub       *scrubber
	logScrub    *logScrub
	metrics     *metrics
	health      *health

	queries sync.Once
	stops   []func() // of what runs beside the terms, in the order of starting
}

func (d *daemon) loopOptions() loop.Options {
	o := loop.Options{
		Connect:      d.connect,
		Stores:       stores{d.home},
		NewDecider:   func() loop.Decider { return reducer.New() },
		RulesVersion: reducer.RulesVersion,
		Build:        d.o.Build,
		Shard:        d.o.Streams.Shard,
		Shards:       d.o.Streams.Shards,
		DiscardAhead: d.o.Sync == jetlog.SyncInterval,
		Followers:    []loop.Follower{d.mirror},
		Gate:         d.home.Free,
		Status:       d.status,
		Clock:        d.o.clock,
		Hooks:        loop.Hooks{Folded: d.folded},
		Log:          d.o.Log,
		Limits:       loop.Limits{Grace: grace},
	}
	if d.archive != nil { // not a nil *Writer in an interface
		o.Archive = d.archive
	}
	return o
}

// folded tells what follows the loop of a block.
func (d *daemon) folded(f *loop.Folded) {
	d.mirror.Folded(f.Cursor, f.Changes)
	d.checkpoints.folded(f.Cursor.LogSeq)
	d.metrics.folded(f)
}

// cursor is that of the store.
func (d *daemon) cursor() (state.Cursor, error) {
	v, err := d.home.View()
	if err != nil {
		return state.Cursor{}, err
	}
	return v.Cursor(), v.Close()
}

// connect makes the session of the next term.
func (d *daemon) connect(ctx context.Context) (loop.Session, error) {
	conn, doors, err := d.reach(ctx)
	if err != nil {
		return nil, err
	}
	made, err := jetlog.NewSession(ctx, conn, d.o.Streams, doors)
	if err != nil {
		return nil, err
	}
	return &session{Session: made, daemon: d}, nil
}

// reach connects to the server. doors lets publishers in, where that is ours
// to do.
func (d *daemon) reach(ctx context.Context) (conn *jetlog.Conn, doors func() error, err error) {
	if d.o.External != nil {
		conn, err = jetlog.Connect(ctx, *d.o.External)
		return conn, nil, err
	}
	if err := d.startServer(); err != nil {
		return nil, nil, err
	}
	conn, err = d.server.Connect(ctx, d.o.Login)
	return conn, d.server.OpenDoors, err
}

// startServer starts the embedded server, or starts it again where it is in no
// state to go on: after one failed write a stream refuses everything. On a disk
// that is still full it would be no better off, so room is waited for first.
func (d *daemon) startServer() error {
	if d.server != nil {
		sick := d.server.Healthy()
		if sick == nil {
			return nil
		}
		if err := d.space(); err != nil {
			return fmt.Errorf("the embedded server is not started again yet (%w): %w", sick, err)
		}
		d.o.Log.Warn("the embedded server is started again", "reason", sick)
		return d.server.Restart()
	}
	server, err := jetlog.StartServer(jetlog.ServerOptions{
		Dir: d.dir, Listen: d.o.Listen, ConfigFile: d.o.ConfigFile, Account: d.o.Account,
		Sync: d.o.Sync, Insecure: d.o.AllowInsecure, Beside: []string{wire.BucketStream}, Log: d.o.Log,
	})
	if err != nil {
		return err
	}
	d.server = server
	return nil
}

// stop ends what runs beside the terms, the last one first, and the server.
func (d *daemon) stop() {
	for _, stop := range slices.Backward(d.stops) {
		stop()
	}
	if d.server != nil {
		d.server.Stop()
	}
}

// beside runs f beside the terms until ctx ends or the daemon stops.
func (d *daemon) beside(ctx context.Context, name string, f func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := f(ctx); err != nil {
			d.o.Log.Error("it ended early", "what", name, "error", err)
		}
	}()
	d.stops = append(d.stops, func() {
		cancel()
		<-ended
	})
}

// checkSpace says at the start what the loop would wait for: a disk that is
// nearly full.
func checkSpace(path string) error {
	usage, err := vfs.Default.GetDiskUsage(path)
	if errors.Is(err, vfs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("free space of %s: %w", path, err)
	}
	if usage.AvailBytes < projections.DefaultMinFree {
		return fmt.Errorf("the disk of %s is nearly full: %d MiB are free, %d MiB are needed; make room or choose another directory with --data",
			path, usage.AvailBytes>>20, projections.DefaultMinFree>>20)
	}
	return nil
}

// FreeBytes is what is free on the disk of a path, 0 where that is not known.
func FreeBytes(path string) uint64 {
	usage, err := vfs.Default.GetDiskUsage(path)
	if err != nil {
		return 0
	}
	return usage.AvailBytes
}

// stores lets the loop open the store of a home.
type stores struct{ home *projections.Home }

// Open implements [loop.Stores].
func (s stores) Open() (loop.Store, error) {
	store, err := s.home.Open()
	if err != nil {
		return nil, err // not a nil *Store in an interface
	}
	return store, nil
}

// SetAside implements [loop.Stores].
func (s stores) SetAside(reason error) (string, error) { return s.home.SetAside(reason) }

// explain adds what to do where the error alone leaves one alone.
func explain(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: another server listens there; stop it, or choose another address with --listen (port 0 takes a free one)", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: the disk is full; make room or choose another directory with --data", err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: the reducer must be able to write there; choose another directory with --data", err)
	case errors.Is(err, loop.ErrIntegrity):
		return fmt.Errorf("%w (a damaged log is never extended: `reducer verify --scrub` says what is in order, `reducer import` restores the log from the archive; docs/operations.md)", err)
	}
	return err
}
