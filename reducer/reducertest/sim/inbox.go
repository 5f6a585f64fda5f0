package sim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// message is a command in the inbox.
type message struct {
	loop.Command
	// reused: the log had a decision under this sequence when the command got
	// it. Only an external inbox may do that, between its crash and the purge.
	reused bool
}

// stream is the inbox. It keeps nothing safe: a crash may take any of its end.
type stream struct {
	messages []message
	last     uint64    // last sequence given out
	purged   []message // a few that were dropped lately, which a crash may bring back
	fresh    bool      // purged up to the log since the server started
}

func (i *stream) first() uint64 {
	if len(i.messages) == 0 {
		return i.last + 1
	}
	return i.messages[0].Seq
}

// publish puts a command into the inbox. taken is false when nobody is there to
// say no.
func (s *server) publish(subject string, ids []string, body []byte, reply string) (taken bool, err error) {
	if !s.up || !s.doors {
		return false, nil
	}
	if limit := s.w.setup.Cap; limit > 0 {
		same := 0
		for k := range s.inbox.messages {
			if s.inbox.messages[k].Subject == subject {
				same++
			}
		}
		if same >= limit {
			return true, errors.New("maximum messages per subject exceeded")
		}
	}
	s.inbox.last++
	m := message{Command: loop.Command{Reply: reply, Message: events.Message{
		Seq: s.inbox.last, Time: s.w.now + s.offset, Subject: subject, IDs: ids, Body: body,
	}}}
	m.reused = m.Seq <= s.w.check.lastSeq
	if m.reused && (s.inbox.fresh || !s.w.setup.External) {
		s.w.violated("sequence reused", "a publisher was given sequence %d, the log has decided up to %d", m.Seq, s.w.check.lastSeq)
	}
	s.inbox.messages = append(s.inbox.messages, m)
	s.w.check.issued(&m)
	return true, nil
}

// purge drops all below seq, and the next sequence is at least seq.
func (s *server) purge(seq uint64) {
	if seq > s.w.check.lastSeq {
		s.inbox.fresh = true
	}
	keep := slices.IndexFunc(s.inbox.messages, func(m message) bool { return m.Seq >= seq })
	if keep < 0 {
		keep = len(s.inbox.messages)
	}
	for k := range s.inbox.messages[:keep] {
		s.w.check.dropped(&s.inbox.messages[k])
	}
	s.inbox.purged = append(s.inbox.purged, s.inbox.messages[:keep]...)
	s.inbox.purged = slices.Clone(s.inbox.purged[max(0, len(s.inbox.purged)-4):])
	s.inbox.messages = slices.Clone(s.inbox.messages[keep:])
	s.inbox.last = max(s.inbox.last, seq-1)
}

// crash forgets the last n commands, or everything with how zero. With how undo
// the last purge is forgotten too.
func (i *stream) crash(w *world, how string, n int) {
	i.fresh = false
	if how == "zero" {
		i.messages, i.purged, i.last = nil, nil, 0
		return
	}
	if len(i.messages) == 0 {
		i.last -= min(i.last, uint64(n))
		return
	}
	floor := i.messages[0].Seq - 1
	i.messages = slices.Clone(i.messages[:len(i.messages)-min(n, len(i.messages))])
	i.last = floor
	if len(i.messages) > 0 {
		i.last = i.messages[len(i.messages)-1].Seq
	}
	if how == "undo" && len(i.messages) > 0 {
		i.messages = append(i.purged, i.messages...)
	}
	i.purged = nil
}

// inboxPort is the inbox as a session reaches it.
type inboxPort struct{ s *session }

// Info implements [loop.Inbox].
func (i inboxPort) Info(ctx context.Context) (loop.InboxInfo, error) {
	w := i.s.p.m.w
	return call(i.s.p, i.s, ctx, "inbox info", "", func() (loop.InboxInfo, error) {
		in := &w.server.inbox
		return loop.InboxInfo{
			FirstSeq: in.first(), LastSeq: in.last, Commands: uint64(len(in.messages)),
			Limits: loop.InboxLimits{PerSubject: uint64(w.setup.Cap)},
		}, nil
	})
}

// Purge implements [loop.Inbox].
func (i inboxPort) Purge(ctx context.Context, seq uint64) error {
	w := i.s.p.m.w
	return do(i.s.p, i.s, ctx, "inbox purge", fmt.Sprint(seq), func() error {
		i.s.opened()
		switch f := w.spoiled("inbox purge"); {
		case f == nil:
		case f.How == "late":
			w.server.later(f.Steps, "a late purge of "+i.s.p.name, func() { w.server.purge(seq) })
			return errTimeout
		default:
			return errNotNow
		}
		w.server.purge(seq)
		return nil
	})
}

// Read implements [loop.Inbox].
func (i inboxPort) Read(ctx context.Context, after uint64) (loop.Feed, error) {
	f, err := call(i.s.p, i.s, ctx, "inbox read", fmt.Sprint(after), func() (*feed, error) {
		i.s.opened()
		f := &feed{s: i.s, at: after, wake: make(chan struct{}, 1)}
		i.s.feeds = append(i.s.feeds, f)
		return f, nil
	})
	if err != nil {
		return nil, err // not a nil *feed in an interface
	}
	return f, nil
}

// feed is the reading end of the inbox in a process.
type feed struct {
	s       *session
	at      uint64         // last sequence that was delivered
	waiting []loop.Command // delivered, not taken
	wake    chan struct{}
}

// Wake implements [loop.Feed]. A process that is told to stop is not woken any
// more: a select must not have two things to choose from.
func (f *feed) Wake() <-chan struct{} {
	if f.s.p.ctx.Err() != nil {
		return nil
	}
	return f.wake
}

// Take implements [loop.Feed].
func (f *feed) Take(limit int) ([]loop.Command, error) {
	w := f.s.p.m.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.s.lost || f.s.p.dead {
		return nil, errLost
	}
	n := min(limit, len(f.waiting))
	taken := f.waiting[:n:n]
	f.waiting = f.waiting[n:]
	return taken, nil
}

// Close implements [loop.Feed].
func (f *feed) Close() {}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// undelivered is how many commands the inbox has for the feed.
func (f *feed) undelivered() int {
	in := &f.s.p.m.w.server.inbox
	from := slices.IndexFunc(in.messages, func(m message) bool { return m.Seq > f.at })
	if from < 0 {
		return 0
	}
	return len(in.messages) - from
}

// deliver brings some of them.
func (f *feed) deliver() {
	w := f.s.p.m.w
	n := 1 + w.rng.IntN(f.undelivered())
	in := &w.server.inbox
	from := slices.IndexFunc(in.messages, func(m message) bool { return m.Seq > f.at })
	for k := range n {
		m := &in.messages[from+k]
		f.waiting = append(f.waiting, m.Command)
		f.at = m.Seq
	}
	w.trace.add(w, "%s: commands up to %d come in", f.s.p.name, f.at)
	f.signal()
}
