// Package clienttest runs a whole reducer in this process, in a directory of
// the caller's, for the tests of hosts and of this module: the embedded server,
// the loop, the store, the query service and the KV mirror, as in reducer
// serve. It links all of them, so nothing but tests should import it.
package clienttest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/outlook"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Options of a reducer under test.
type Options struct {
	Listen  string                   // host:port; a free port when empty
	Config  string                   // NATS configuration file; optional
	Queries projections.QueryLimits  // zero fields get their defaults
	Mirror  projections.MirrorLimits // zero fields get their defaults
	Log     *slog.Logger             // optional
}

// Reducer is a reducer that runs in this process.
type Reducer struct {
	URL    string // where clients connect
	Home   *projections.Home
	Mirror *projections.Mirror
	Server *jetlog.Server

	dir     *jetlog.Dir
	status  *loop.Status
	stops   []func() error // last one first
	stopped chan error     // of the loop
}

// Start runs a reducer on a directory and waits until it is ready and its service
// answers.
func Start(ctx context.Context, path string, o Options) (*Reducer, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Reducer{status: loop.NewStatus(), stopped: make(chan error, 1)}
	if err := r.start(path, o); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	for !r.status.Info().Ready() {
		select {
		case err := <-r.stopped:
			r.stopped <- err
			return nil, errors.Join(fmt.Errorf("the reducer ended: %w", err), r.Stop())
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("the reducer is not ready: %s: %w", r.status.Info().Reason, ctx.Err()), r.Stop())
		case <-time.After(time.Millisecond):
		}
	}
	if err := r.served(ctx); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	r.URL = r.Server.URL()
	return r, nil
}

func (r *Reducer) served(ctx context.Context) error {
	nc, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer nc.Close()
	return projections.UntilServed(ctx, nc)
}

func (r *Reducer) start(path string, o Options) (err error) {
	if r.dir, err = jetlog.OpenDir(path); err != nil {
		return err
	}
	r.stops = append(r.stops, r.dir.Close)
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	r.Server, err = jetlog.StartServer(jetlog.ServerOptions{Dir: r.dir, Listen: o.Listen, ConfigFile: o.Config, Log: o.Log})
	if err != nil {
		return err
	}
	r.stops = append(r.stops, func() error { r.Server.Stop(); return nil })
	r.Home = projections.NewHome(projections.StoreOptions{Dir: r.dir.Store()})
	r.Mirror, err = projections.NewMirror(projections.MirrorOptions{
		Connect: r.connect, View: r.Home.View, Log: o.Log, Limits: o.Mirror,
		Generation: func() string { return r.status.Info().Generation },
	})
	if err != nil {
		return err
	}
	r.beside(r.Mirror.Run)
	r.beside(func(ctx context.Context) error {
		return projections.ServeQueries(ctx, projections.QueryOptions{
			Connect: r.connect, View: r.Home.View, Status: r.Status, Outlook: outlook.Attempt, Log: o.Log, Limits: o.Queries,
		})
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { r.stopped <- loop.Run(ctx, r.loop(o)) }()
	r.stops = append(r.stops, func() error { cancel(); return <-r.stopped })
	return nil
}

// beside runs f until the reducer stops.
func (r *Reducer) beside(f func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	r.stops = append(r.stops, func() error { cancel(); return <-done })
}

func (r *Reducer) loop(o Options) loop.Options {
	return loop.Options{
		Connect: func(ctx context.Context) (loop.Session, error) {
			conn, err := r.Server.Connect(ctx, jetlog.ConnectOptions{})
			if err != nil {
				return nil, err
			}
			return jetlog.NewSession(ctx, conn, jetlog.Streams{Generation: "g1"}, func() error {
				if err := r.Mirror.Open(ctx); err != nil {
					return err
				}
				return r.Server.OpenDoors()
			})
		},
		Stores:       stores{r.Home},
		NewDecider:   func() loop.Decider { return reducer.New() },
		RulesVersion: reducer.RulesVersion,
		Followers:    []loop.Follower{r.Mirror},
		Status:       r.status,
		Log:          o.Log,
		Hooks:        loop.Hooks{Folded: func(f *loop.Folded) { r.Mirror.Folded(f.Cursor, f.Changes) }},
		Limits:       loop.Limits{Retry: 10 * time.Millisecond, Purge: 100 * time.Millisecond},
	}
}

// stores adapts Home to the loop.
type stores struct{ home *projections.Home }

// Open implements loop.Stores.
func (s stores) Open() (loop.Store, error) { return s.home.Open() }

// SetAside implements loop.Stores.
func (s stores) SetAside(reason error) (string, error) { return s.home.SetAside(reason) }

func (r *Reducer) connect(ctx context.Context) (*nats.Conn, error) {
	conn, err := r.Server.Connect(ctx, jetlog.ConnectOptions{})
	if err != nil {
		return nil, err
	}
	return conn.NATS(), nil
}

// Status is what the query service tells.
func (r *Reducer) Status() wire.StatusResponse {
	i := r.status.Info()
	return wire.StatusResponse{
		Build: "test", Generation: i.Generation, LogEnd: i.LogEnd, Mirror: r.Mirror.Info().Status(), Phase: string(i.Phase),
		Ready: i.Ready(), Reason: i.Reason, RulesVersion: reducer.RulesVersion, Shards: 1,
		Since: i.Since.UTC().Format(time.RFC3339), Terms: i.Terms, Writer: i.Writer,
	}
}

// Cursor is that of the last block in the store.
func (r *Reducer) Cursor() (state.Cursor, error) {
	v, err := r.Home.View()
	if err != nil {
		return state.Cursor{}, err
	}
	return v.Cursor(), v.Close()
}

// Mirrored waits until the KV bucket is as the store is now.
func (r *Reducer) Mirrored(ctx context.Context) error {
	want, err := r.Cursor()
	if err != nil {
		return err
	}
	for r.Mirror.Info().Phase != "live" || r.Mirror.Info().Block < want.LogSeq {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the mirror is at %+v, the store at block %d: %w", r.Mirror.Info(), want.LogSeq, ctx.Err())
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// Stop ends the reducer in good order.
func (r *Reducer) Stop() error {
	var errs []error
	for len(r.stops) > 0 {
		last := len(r.stops) - 1
		errs = append(errs, r.stops[last]())
		r.stops = r.stops[:last]
	}
	return errors.Join(errs...)
}
