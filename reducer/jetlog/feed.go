package jetlog

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Sizes and times of the reading of the inbox. What waits in memory is bounded
// by them, however fast publishers are.
const (
	feedCommands  = 4_096
	feedBytes     = 8 << 20
	feedExpires   = 30 * time.Second
	feedHeartbeat = 5 * time.Second
	feedPatience  = 3 * feedHeartbeat // silence after which the consumer is taken for lost
)

// feed reads the inbox in order. One pull is open at a time, for as much as
// there is room; it stays open while nothing comes.
type feed struct {
	conn     *Conn
	streams  Streams
	consumer string
	inbox    string
	sub      *nats.Subscription
	wake     chan struct{}
	stop     chan struct{}

	mu        sync.Mutex
	waiting   []loop.Command
	bytes     int    // of the bodies that wait
	pulls     int    // pulls made
	open      int    // commands that the open pull may still deliver; 0: none is open
	delivered uint64 // the consumer's own count
	heard     time.Time
	err       error
}

func newFeed(ctx context.Context, c *Conn, s Streams, after uint64) (*feed, error) {
	f := &feed{conn: c, streams: s, inbox: c.nc.NewInbox(), wake: make(chan struct{}, 1), stop: make(chan struct{}), heard: time.Now()}
	var err error
	if f.sub, err = c.nc.Subscribe(f.inbox+".*", f.receive); err != nil {
		return nil, fmt.Errorf("read the inbox: %w", wireError(err))
	}
	if err = f.sub.SetPendingLimits(-1, -1); err == nil { // a pull is the limit
		f.consumer, err = newConsumer(ctx, c, s.InboxName(), after+1)
	}
	if err != nil {
		_ = f.sub.Unsubscribe()
		return nil, err
	}
	go f.watch()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pull() // an error of it comes with the first Take
	return f, nil
}

// watch ends the feed with its connection.
func (f *feed) watch() {
	select {
	case <-f.stop:
	case <-f.conn.Lost():
		f.mu.Lock()
		defer f.mu.Unlock()
		f.fail(fmt.Errorf("%w: the server closed the connection", loop.ErrLost))
	}
}

// Wake implements [loop.Feed].
func (f *feed) Wake() <-chan struct{} { return f.wake }

// Close implements [loop.Feed].
func (f *feed) Close() {
	close(f.stop)
	_ = f.sub.Unsubscribe() // the connection may be gone
	deleteConsumer(f.conn, f.streams.InboxName(), f.consumer)
}

// Take implements [loop.Feed]. After an error nothing is handed out any more:
// the term is over.
func (f *feed) Take(limit int) ([]loop.Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil && f.open > 0 && time.Since(f.heard) > feedPatience {
		f.fail(fmt.Errorf("%w: the inbox's consumer is silent for %s", loop.ErrLost, feedPatience))
	}
	if f.err != nil {
		return nil, f.err
	}
	taken := f.waiting
	if len(taken) > limit {
		taken = taken[:limit:limit]
	}
	f.waiting = f.waiting[len(taken):]
	for i := range taken {
		f.bytes -= len(taken[i].Body)
	}
	f.pull()
	return taken, nil
}

// pull asks for more when no pull is open and half of the room is free. The
// caller holds mu.
func (f *feed) pull() {
	if f.open > 0 || f.err != nil || len(f.waiting) > feedCommands/2 || f.bytes > feedBytes/2 {
		return
	}
	f.pulls++
	f.open = feedCommands - len(f.waiting)
	f.heard = time.Now()
	request := fmt.Appendf(nil, `{"batch":%d,"max_bytes":%d,"expires":%d,"idle_heartbeat":%d}`,
		f.open, feedBytes-f.bytes, feedExpires.Nanoseconds(), feedHeartbeat.Nanoseconds())
	err := f.conn.nc.PublishRequest(pullSubject(f.streams.InboxName(), f.consumer), f.reply(), request)
	if err != nil {
		f.fail(wireError(err))
	}
}

// reply is the subject of the last pull's answers.
func (f *feed) reply() string { return f.inbox + "." + strconv.Itoa(f.pulls) }

// receive takes one message from the server, on the connection's goroutine.
func (f *feed) receive(m *nats.Msg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = time.Now()
	if m.Reply == "" && len(m.Data) == 0 {
		f.status(m)
		return
	}
	at, err := parsePlace(m.Reply)
	switch {
	case err != nil:
		f.fail(fmt.Errorf("%w: %w", loop.ErrLost, err))
		return
	case at.delivered != f.delivered+1:
		f.fail(fmt.Errorf("%w: %w", loop.ErrLost, errGap))
		return
	}
	f.delivered = at.delivered
	f.waiting = append(f.waiting, f.streams.command(m, at))
	f.bytes += len(m.Data)
	f.open--
	f.pull()
	f.signal()
}

// status takes a message that is the server's own: a heartbeat, or the end of
// a pull. Ends of earlier pulls arrive late and say nothing.
func (f *feed) status(m *nats.Msg) {
	if f.open == 0 || m.Subject != f.reply() || m.Header.Get("Status") == "100" {
		return
	}
	if _, err := pullEnded(m); err != nil {
		f.fail(fmt.Errorf("read the inbox: %w", err))
		return
	}
	f.open = 0
	f.pull()
}

func (f *feed) fail(err error) {
	if f.err == nil {
		f.err = err
	}
	f.signal()
}

func (f *feed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}
