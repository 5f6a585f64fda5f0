package jetlog

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

type inbox struct {
	conn    *Conn
	streams Streams
}

// Info implements [loop.Inbox].
func (i *inbox) Info(ctx context.Context) (loop.InboxInfo, error) {
	stream, err := i.conn.js.Stream(ctx, i.streams.InboxName())
	if err != nil {
		return loop.InboxInfo{}, fmt.Errorf("stream %s: %w", i.streams.InboxName(), wireError(err))
	}
	state, config := stream.CachedInfo().State, stream.CachedInfo().Config
	info := loop.InboxInfo{
		FirstSeq: state.FirstSeq, LastSeq: state.LastSeq, Commands: state.Msgs, Bytes: state.Bytes,
		Limits: loop.InboxLimits{Bytes: uint64(max(config.MaxBytes, 0)), PerSubject: uint64(max(config.MaxMsgsPerSubject, 0))},
	}
	if state.Msgs == 0 {
		info.FirstSeq = state.LastSeq + 1
	}
	return info, nil
}

// Purge implements [loop.Inbox]. A purge up to a sequence beyond the last one
// also makes it the next one.
func (i *inbox) Purge(ctx context.Context, seq uint64) error {
	var done struct {
		Success bool `json:"success"`
	}
	if err := i.conn.api(ctx, "STREAM.PURGE."+i.streams.InboxName(), fmt.Sprintf(`{"seq":%d}`, seq), &done); err != nil {
		return fmt.Errorf("purge stream %s: %w", i.streams.InboxName(), err)
	}
	if !done.Success {
		return fmt.Errorf("purge stream %s: not done", i.streams.InboxName())
	}
	return nil
}

// Read implements [loop.Inbox].
func (i *inbox) Read(ctx context.Context, after uint64) (loop.Feed, error) {
	f, err := newFeed(ctx, i.conn, i.streams, after)
	if err != nil {
		return nil, err // not a nil *feed in an interface
	}
	return f, nil
}

// command is the command that a delivered message carries.
func (s Streams) command(m *nats.Msg, at place) loop.Command {
	subject := m.Subject
	if s.Shards > 1 {
		if rest, ok := strings.CutPrefix(subject, s.prefix()); ok {
			subject = commandPrefix + rest
		}
	}
	c := loop.Command{Message: events.Message{Seq: at.seq, Time: at.time, Subject: subject, Body: m.Data}}
	if m.Header != nil {
		c.IDs = m.Header[HeaderCommandID]
		c.Reply = replyTo(m.Header)
	}
	return c
}
