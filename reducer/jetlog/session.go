package jetlog

import (
	"context"
	"fmt"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Session is one connection to the streams of a shard.
type Session struct {
	conn  *Conn
	inbox *inbox
	log   *Log
	doors func() error

	asked time.Time // for the server's health
}

var _ loop.Session = (*Session)(nil)

// NewSession makes the streams where they are missing and works on them over
// conn, which it owns from here on, also when it fails. doors lets publishers
// in; nil when they can reach the server already.
func NewSession(ctx context.Context, conn *Conn, streams Streams, doors func() error) (*Session, error) {
	generation, err := streams.Ensure(ctx, conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &Session{
		conn:  conn,
		inbox: &inbox{conn: conn, streams: streams},
		log:   newLog(conn, streams, generation),
		doors: doors,
	}, nil
}

// Inbox implements [loop.Session].
func (s *Session) Inbox() loop.Inbox { return s.inbox }

// Log implements [loop.Session].
func (s *Session) Log() loop.Log { return s.log }

// Replies implements [loop.Session].
func (s *Session) Replies() loop.Replies { return replies{s.conn} }

// Conn is the session's connection.
func (s *Session) Conn() *Conn { return s.conn }

// OpenDoors implements [loop.Session].
func (s *Session) OpenDoors(context.Context) error {
	if s.doors == nil {
		return nil
	}
	if err := s.doors(); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// healthEvery is how often an embedded server is asked for its health.
const healthEvery = time.Second

// Err implements [loop.Ailing].
func (s *Session) Err() error {
	select {
	case <-s.conn.Lost():
		return fmt.Errorf("%w: the server closed the connection", loop.ErrLost)
	default:
	}
	if s.conn.server == nil || time.Since(s.asked) < healthEvery {
		return nil
	}
	s.asked = time.Now()
	if err := s.conn.server.Healthy(); err != nil {
		return fmt.Errorf("%w: %w", loop.ErrLost, err)
	}
	return nil
}

// Close implements [loop.Session].
func (s *Session) Close() { s.conn.Close() }
