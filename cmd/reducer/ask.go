package main

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/outlook"
)

// asking runs f with a client of the query service of the source: that of a
// running reducer, or one of our own on a stopped directory. f cannot tell the
// difference.
func (s *source) asking(ctx context.Context, f func(*client.Client) error) error {
	if s.stopped() {
		return coded(askStopped(ctx, s.data, f))
	}
	return s.connected(f, nats.NoReconnect())
}

// connected runs f with a client of a running reducer.
func (s *source) connected(f func(*client.Client) error, options ...nats.Option) error {
	conn, err := s.nats.Connect("reducer", options...)
	if err != nil {
		return s.explain(err)
	}
	defer conn.Close()
	c, err := client.New(conn, client.Options{Request: s.nats.Timeout})
	if err != nil {
		return err
	}
	defer c.Close()
	return coded(s.explain(f(c)))
}

// explain says what to do where nobody answers.
func (s *source) explain(err error) error {
	if s.stopped() {
		return err
	}
	return s.nats.Explain(err, s.hint)
}

// stoppedPatience is for questions to a store that nobody else waits for.
const stoppedPatience = time.Hour

// askStopped brings the store of a stopped directory up to its log, as a reducer
// would, and answers questions about it on a private server.
func askStopped(ctx context.Context, data string, f func(*client.Client) error) (err error) {
	log, err := openStopped(ctx, data)
	if err != nil {
		return err
	}
	defer log.close()
	home := projections.NewHome(projections.StoreOptions{Dir: log.dir.Store(), FlushEvery: -1})
	store, err := openStore(ctx, home, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	c, err := client.New(log.conn, client.Options{Request: stoppedPatience})
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- projections.ServeQueries(serving, stoppedQueries(log, home)) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	defer c.Close()
	if err := projections.UntilServed(ctx, log.conn); err != nil {
		return err
	}
	return f(c)
}

func stoppedQueries(log *openedLog, home *projections.Home) projections.QueryOptions {
	return projections.QueryOptions{
		Connect: func(context.Context) (*nats.Conn, error) { return log.conn, nil },
		View:    home.View,
		Outlook: outlook.Attempt,
		Status: func() wire.StatusResponse {
			return wire.StatusResponse{
				Build: "none", Generation: log.generation, LogEnd: log.end, Phase: string(loop.PhaseStopped),
				Reason: "no reducer runs on " + log.where, RulesVersion: reducer.RulesVersion, Shards: 1,
			}
		},
		Limits: projections.QueryLimits{Timeout: stoppedPatience, Digest: stoppedPatience},
	}
}

// coded gives an error of the loop or of the query service its exit code.
func coded(err error) error {
	var service *wire.Error
	switch {
	case err == nil || exit.Code(err) != exit.Failure:
		return err
	case !errors.As(err, &service):
		return exit.With(loop.ExitCode(err), err)
	case service.Code == wire.BadRequest:
		return exit.With(exit.Usage, err)
	case service.Code == wire.Integrity:
		return exit.With(exit.Integrity, err)
	}
	return err
}
