package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// asking runs f with the query service of the source.
func (s *source) asking(ctx context.Context, f func(*asker) error) error {
	a, err := s.ask(ctx)
	if err != nil {
		return coded(err)
	}
	return coded(errors.Join(f(a), a.close()))
}

// asker asks a query service: that of a running reducer, or one of its own on a
// stopped directory. Whoever asks cannot tell the difference.
type asker struct {
	conn    *nats.Conn
	where   string
	timeout time.Duration
	own     bool // the service is ours and may be about to begin
	close   func() error
}

// ask connects to the query service of the source.
func (s *source) ask(ctx context.Context) (*asker, error) {
	if s.stopped() {
		return askStopped(ctx, s.data)
	}
	conn, err := s.nats.Connect("reducer", nats.NoReconnect())
	if err != nil {
		return nil, fmt.Errorf("%w; is a reducer running there? For a stopped one use --data", err)
	}
	return &asker{conn: conn, where: s.nats.URL, timeout: s.nats.Timeout, close: func() error { conn.Close(); return nil }}, nil
}

// patience for questions to a store that nobody else waits for.
const stoppedPatience = time.Hour

// askStopped brings the store of a stopped directory up to its log, as a reducer
// would, and answers questions about it on a private server.
func askStopped(ctx context.Context, data string) (*asker, error) {
	log, err := openStopped(ctx, data)
	if err != nil {
		return nil, err
	}
	home := projections.NewHome(projections.StoreOptions{Dir: log.dir.Store(), FlushEvery: -1})
	store, err := openStore(ctx, home, log)
	if err != nil {
		log.close()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- projections.ServeQueries(ctx, stoppedQueries(log, home)) }()
	return &asker{conn: log.conn, where: data, timeout: stoppedPatience, own: true, close: func() error {
		cancel()
		err := errors.Join(<-ended, store.Close())
		log.close()
		return err
	}}, nil
}

func stoppedQueries(log *openedLog, home *projections.Home) projections.QueryOptions {
	return projections.QueryOptions{
		Connect: func(context.Context) (*nats.Conn, error) { return log.conn, nil },
		View:    home.View,
		Status: func() wire.StatusResponse {
			return wire.StatusResponse{
				Build: "none", Generation: log.generation, LogEnd: log.end, Phase: string(loop.PhaseStopped),
				Reason: "no reducer runs on " + log.where, RulesVersion: reducer.RulesVersion, Shards: 1,
			}
		},
		Limits: projections.QueryLimits{Timeout: stoppedPatience, Digest: stoppedPatience},
	}
}

// firstAnswer is how long a service of our own may take to begin.
const firstAnswer = 10 * time.Second

// request asks one question. An error of the service is a *wire.Error with the
// exit code that fits it.
func (a *asker) request(ctx context.Context, endpoint wire.Endpoint, contract string, question, answer any) error {
	data, err := json.Marshal(question)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	m, err := a.send(ctx, endpoint.Subject(contract), data)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("no reducer answers at %s: is one running there? For a stopped one use --data", a.where)
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no answer from %s within %s; a large question may need a longer --timeout", a.where, a.timeout)
	case err != nil:
		return fmt.Errorf("ask %s: %w", a.where, err)
	case m.Header.Get(micro.ErrorCodeHeader) != "":
		return serviceError(m)
	}
	if err := json.Unmarshal(m.Data, answer); err != nil {
		return fmt.Errorf("not an answer to %s: %w", endpoint, err)
	}
	return nil
}

// send waits for a service of our own to begin; nobody else's is waited for.
func (a *asker) send(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	for began := time.Now(); ; {
		m, err := a.conn.RequestWithContext(ctx, subject, data)
		if !errors.Is(err, nats.ErrNoResponders) || !a.own || time.Since(began) > firstAnswer {
			return m, err
		}
		time.Sleep(time.Millisecond)
	}
}

func serviceError(m *nats.Msg) error {
	var e wire.Error
	if err := json.Unmarshal(m.Data, &e); err != nil || e.Code == "" {
		return errors.New(m.Header.Get(micro.ErrorHeader))
	}
	switch e.Code {
	case wire.BadRequest:
		return exit.With(exit.Usage, &e)
	case wire.Integrity:
		return exit.With(exit.Integrity, &e)
	}
	return &e
}

// wholeStore is how long a question may take that reads all of a store.
const wholeStore = 35 * time.Second

// patient waits longer for an answer, unless --timeout says how long.
func (a *asker) patient(c *cobra.Command, patience time.Duration) {
	if !c.Flags().Changed("timeout") {
		a.timeout = max(a.timeout, patience)
	}
}
