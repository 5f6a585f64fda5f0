package daemon

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/scheduler"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// session is a term's session with what else runs on its connection.
type session struct {
	*jetlog.Session
	daemon *daemon
	stops  []func() // in the order of starting
}

// OpenDoors implements [loop.Session]: when publishers may come, those who ask
// are answered.
func (s *session) OpenDoors(ctx context.Context) error {
	// What the mirror cannot vouch for must be gone before anyone reads it.
	if err := s.daemon.mirror.Open(ctx); err != nil {
		return err
	}
	s.daemon.startQueries(ctx)
	s.awaitQueries(ctx)
	if err := s.Session.OpenDoors(ctx); err != nil {
		return err
	}
	if err := s.startScheduler(); err != nil {
		return err
	}
	if ready := s.daemon.o.Ready; ready != nil {
		ready(s.url())
	}
	return nil
}

// Err implements [loop.Ailing]: a log that was found damaged is not extended.
func (s *session) Err() error {
	if err := s.daemon.scrub.Err(); err != nil {
		return err
	}
	return s.Session.Err()
}

// queryPatience is how long the doors stay closed for the query service.
const queryPatience = 5 * time.Second

// awaitQueries waits for the query service, but not for ever: deciding does not
// depend on it.
func (s *session) awaitQueries(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, queryPatience)
	defer cancel()
	if err := projections.UntilServed(ctx, s.Conn().NATS()); err != nil {
		s.daemon.o.Log.Warn("questions are not answered yet", "error", err)
	}
}

// Close implements [loop.Session].
func (s *session) Close() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
	s.Session.Close()
}

// url is where clients find the streams.
func (s *session) url() string {
	if s.daemon.server != nil {
		return s.daemon.server.URL()
	}
	return s.Conn().NATS().ConnectedUrlRedacted()
}

// startScheduler runs the scheduler on this connection, if it was asked for.
func (s *session) startScheduler() error {
	if !s.daemon.o.Scheduler {
		return nil
	}
	streams, err := jetstream.New(s.Conn().NATS())
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	due := &scheduler.Scheduler{
		View:    s.daemon.view,
		Publish: publisher{streams}.publish,
		Log:     s.daemon.o.Log,
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		due.Run(ctx)
	}()
	s.stops = append(s.stops, func() {
		cancel()
		<-ended
	})
	return nil
}

// view runs f with a reader of the store as it is now.
func (d *daemon) view(f func(*state.Reader) error) error {
	view, err := d.home.View()
	if err != nil {
		return err
	}
	defer view.Close() //nolint:errcheck // it was only read
	return f(state.NewReader(view))
}

// publisher puts commands into the inbox.
type publisher struct{ streams jetstream.JetStream }

func (p publisher) publish(ctx context.Context, subject, commandID string, body []byte) error {
	m := &nats.Msg{Subject: subject, Data: body, Header: nats.Header{jetlog.HeaderCommandID: {commandID}}}
	_, err := p.streams.PublishMsg(ctx, m)
	return err
}
