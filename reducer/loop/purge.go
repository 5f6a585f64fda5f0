package loop

import (
	"context"
	"sync/atomic"
	"time"
)

// messageOverhead is what a stream keeps beside subject and body, about.
const messageOverhead = 64

// purger drops decided commands from the inbox, behind the cursor of the log,
// about every second or when half of the inbox could be decided ones.
type purger struct {
	limits  InboxLimits
	upTo    uint64 // last command folded
	purged  uint64 // last command dropped
	count   uint64 // commands folded since
	bytes   uint64
	last    time.Time
	running atomic.Bool
}

func (p *purger) decided(b *block) {
	p.upTo = b.cursor.CommandSeq
	p.count += uint64(len(b.commands))
	for i := range b.commands {
		p.bytes += uint64(len(b.commands[i].Body) + len(b.commands[i].Subject) + messageOverhead)
	}
}

func (p *purger) due(now time.Time, every time.Duration) bool {
	switch {
	case p.upTo <= p.purged || p.running.Load():
		return false
	case p.limits.Bytes > 0 && p.bytes >= p.limits.Bytes/2:
		return true
	case p.limits.PerSubject > 0 && p.count >= p.limits.PerSubject/2:
		return true
	}
	return now.Sub(p.last) >= every
}

// purge drops what is folded from the inbox, beside the loop. An error is no
// harm: the next one drops more, and a lost connection shows elsewhere.
func (t *Term) purge() {
	now := t.o.Clock.Now()
	if !t.inbox.due(now, t.o.Limits.Purge) {
		return
	}
	upTo := t.inbox.upTo
	t.inbox.purged, t.inbox.count, t.inbox.bytes, t.inbox.last = upTo, 0, 0, now
	t.inbox.running.Store(true)
	t.o.Go(func() {
		defer t.inbox.running.Store(false)
		ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
		defer cancel()
		if err := t.session.Inbox().Purge(ctx, upTo+1); err != nil && t.grace.Err() == nil {
			t.o.Log.Warn("the inbox was not purged", "upTo", upTo, "error", err)
		}
	})
}
