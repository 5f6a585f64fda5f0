package projections

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Times of questions that wait.
const (
	ringEvery = 20 * time.Millisecond // at most so often those who wait are told
	lookEvery = 2 * time.Second       // they look without being told
)

// waitable is a question that may wait for something to answer with.
type waitable struct {
	name  wire.Endpoint
	begin func(contract string, request []byte) (look, time.Duration, error)
	lane  *lane
}

// look is one try to answer; empty says that there is nothing yet. A later try
// goes on where the one before was.
type look func(ctx context.Context) (answer any, empty bool, err error)

// askPatiently answers a question beside the others. What waits takes no worker:
// it costs a goroutine, and a look when its ledger has a new decision.
func (q *queries) askPatiently(w *waitable, r micro.Request) {
	reply, subject, data := r.Reply(), r.Subject(), r.Data()
	e := endpoint{name: w.name, timeout: q.o.Limits.Timeout, lane: w.lane}
	if !q.enter(&e, reply) {
		return
	}
	q.running.Go(func() {
		p := patience{queries: q, waitable: w, reply: reply}
		defer p.leave()
		e.answer = p.look
		answer, err := q.once(&e, q.work, subject, data)
		for err == nil && p.empty && p.wait(q.ctx) {
			answer, err = q.once(&e, q.again, subject, data)
		}
		if err == nil {
			err = p.refused
		}
		if err != nil {
			q.refuse(reply, err)
			return
		}
		q.respond(reply, answer)
	})
}

// once works on a question within its time.
func (q *queries) once(e *endpoint, work func(context.Context, *endpoint, string, []byte) (any, error), subject string, data []byte) (any, error) {
	ctx, cancel := context.WithTimeout(q.ctx, e.timeout)
	defer cancel()
	return work(ctx, e, subject, data)
}

// patience is one question that may wait.
type patience struct {
	*waitable
	queries *queries
	reply   string

	contract string
	next     look
	over     time.Time // when it is answered as it is
	rung     chan struct{}
	waits    bool  // it has a place among those that wait
	empty    bool  // the last look found nothing
	refused  error // why it may not wait
}

// look reads the question at first, and listens before it looks.
func (p *patience) look(ctx context.Context, contract string, request []byte) (answer any, err error) {
	if p.next == nil {
		next, wait, err := p.begin(contract, request)
		if err != nil {
			return nil, err
		}
		p.next, p.contract = next, contract
		if wait > 0 {
			p.over = time.Now().Add(min(wait, wire.MaxWait*time.Millisecond))
			p.rung = p.queries.bell.listen(contract)
		}
	}
	answer, p.empty, err = p.next(ctx)
	return answer, err
}

// wait returns true when it is time to look again.
func (p *patience) wait(ctx context.Context) bool {
	left := time.Until(p.over)
	if left <= 0 {
		return false
	}
	if !p.waits {
		if err := p.queries.waits.take(p.contract, inboxOwner(p.reply)); err != nil {
			p.refused = err
			return false
		}
		p.waits = true
	}
	later := time.NewTimer(min(left, lookEvery))
	defer later.Stop()
	select {
	case <-p.rung:
		return true
	case <-later.C:
		return left > lookEvery
	case <-ctx.Done():
		p.refused = wire.Errorf(wire.Unavailable, "the service stops; ask again")
		return false
	}
}

func (p *patience) leave() {
	if p.rung != nil {
		p.queries.bell.leave(p.contract, p.rung)
	}
	if p.waits {
		p.queries.waits.give(p.contract, inboxOwner(p.reply))
	}
}

// waitMillis reads the member wait of a question.
func waitMillis(wait int64) (time.Duration, error) {
	if wait < 0 {
		return 0, wire.Errorf(wire.BadRequest, "wait is a number of milliseconds, at most %d", wire.MaxWait)
	}
	return time.Duration(min(wait, wire.MaxWait)) * time.Millisecond, nil
}

// inboxOwner is the beginning of a reply subject that permissions are given for:
// a user's prefix, or else what the connection made up.
func inboxOwner(reply string) string {
	first, rest, _ := strings.Cut(reply, ".")
	second, _, _ := strings.Cut(rest, ".")
	return first + "." + second
}

// waits bounds the questions that wait: in all, about one ledger and from one
// owner of inboxes, so that those of one leave room for the others.
type waits struct {
	total, ledger, owner int

	mu  sync.Mutex
	all int
	of  map[string]int // by "l" and ledger, "o" and owner
}

func (w *waits) take(ledger, owner string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.of["o"+owner] >= w.owner:
		return wire.Errorf(wire.Quota, "%d questions with inboxes %s wait already; ask without wait", w.owner, owner)
	case w.of["l"+ledger] >= w.ledger:
		return wire.Errorf(wire.Busy, "%d questions about this contract wait already; ask without wait, or later", w.ledger)
	case w.all >= w.total:
		return wire.Errorf(wire.Busy, "%d questions wait already; ask without wait, or later", w.total)
	}
	w.all++
	w.of["l"+ledger]++
	w.of["o"+owner]++
	return nil
}

func (w *waits) give(ledger, owner string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all--
	for _, name := range []string{"l" + ledger, "o" + owner} {
		if w.of[name]--; w.of[name] == 0 {
			delete(w.of, name)
		}
	}
}

// bell tells those who wait that their ledger has a new decision.
type bell struct {
	mu      sync.Mutex
	ledgers map[string]*listeners
}

// listeners are those of one ledger.
type listeners struct {
	seq   uint64 // commandSeq: they were told of what was decided up to it
	rings map[chan struct{}]bool
}

// listen returns a channel that gets a value when it is time to look. The first
// may come for nothing: it is not known what was seen before.
func (b *bell) listen(ledger string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.ledgers[ledger]
	if l == nil {
		l = &listeners{rings: map[chan struct{}]bool{}}
		b.ledgers[ledger] = l
	}
	ring := make(chan struct{}, 1)
	l.rings[ring] = true
	return ring
}

func (b *bell) leave(ledger string, ring chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.ledgers[ledger]
	if delete(l.rings, ring); len(l.rings) == 0 {
		delete(b.ledgers, ledger)
	}
}

// tell rings for the ledgers with a decision that was not told of; all up to a
// sequence can be seen.
func (b *bell) tell(seen uint64, newest func(ledger string) (uint64, error)) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ledger, l := range b.ledgers {
		last, err := newest(ledger)
		if err != nil {
			return err
		}
		if last <= l.seq {
			continue
		}
		l.seq = seen
		for ring := range l.rings {
			select {
			case ring <- struct{}{}:
			default: // it is told already
			}
		}
	}
	return nil
}

func (b *bell) idle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.ledgers) == 0
}

// ringing rings the bell until the service ends. The mirror's cursor moves when
// its rows are written, so whoever looks then finds them.
func (q *queries) ringing() {
	var seen atomic.Uint64
	moved := make(chan struct{}, 1)
	sub, err := q.nc.Subscribe(wire.BucketPrefix+wire.CursorKey(q.o.Shard), func(m *nats.Msg) {
		var cursor wire.Cursor
		if json.Unmarshal(m.Data, &cursor) != nil {
			return // the cursor was removed
		}
		seen.Store(cursor.Seq)
		select {
		case moved <- struct{}{}:
		default:
		}
	})
	if err != nil {
		q.o.Log.Warn("questions that wait look every now and then only", "error", err)
		return
	}
	defer sub.Unsubscribe() //nolint:errcheck // the connection may be gone
	for {
		select {
		case <-q.ctx.Done():
			return
		case <-moved:
		}
		if !q.bell.idle() {
			q.tell(seen.Load())
		}
		select {
		case <-q.ctx.Done():
			return
		case <-time.After(ringEvery):
		}
	}
}

func (q *queries) tell(seen uint64) {
	v, err := q.o.View()
	if err != nil {
		return // the store is opened again: they look by themselves
	}
	defer v.Close() //nolint:errcheck // it was only read
	reader := state.NewReader(v)
	err = q.bell.tell(seen, func(ledger string) (last uint64, err error) {
		err = reader.Decisions(ledger, ^uint64(0), true, func(d *state.Decided, _ state.Meta) bool {
			last = d.CommandSeq
			return false
		})
		return last, err
	})
	if err != nil {
		q.o.Log.Warn("questions that wait were not told of a decision", "error", err)
	}
}
