package projections

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// MirrorOptions are those of the KV mirror. Fields that say so may be left out.
type MirrorOptions struct {
	// Connect makes a connection for the mirror alone, which closes it.
	Connect func(ctx context.Context) (*nats.Conn, error)
	// View shows the store as of the last block; [Home.View].
	View func() (*View, error)
	// Generation of the log; "" while it is not known. Optional. A cursor of
	// another generation says nothing about this log.
	Generation func() string

	Shard    int64
	Shards   int64        // that write the same bucket; 1 when 0
	Replicas int          // of a bucket that is made; 1 when 0
	Log      *slog.Logger // optional
	Limits   MirrorLimits // zero fields get their defaults
}

// MirrorLimits bound the memory and the patience of the mirror.
type MirrorLimits struct {
	Queue  int           // bytes of rows that wait, 32 MiB; more are read from the store again
	Sort   int           // rows sorted at a time when many are written, 100,000
	Answer time.Duration // of the server to a batch, 10 s
	Retry  time.Duration // pause after an error, 1 s
	Grace  time.Duration // for what waits when the mirror stops, 2 s
	Gather time.Duration // least pause after many rows, 100 ms
	Oldest time.Duration // longest, 500 ms: about how old a row may be under load
}

func (l MirrorLimits) withDefaults() MirrorLimits {
	set := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	if l.Queue == 0 {
		l.Queue = 32 << 20
	}
	if l.Sort == 0 {
		l.Sort = 100_000
	}
	set(&l.Answer, 10*time.Second)
	set(&l.Retry, time.Second)
	set(&l.Grace, 2*time.Second)
	set(&l.Gather, 100*time.Millisecond)
	set(&l.Oldest, 500*time.Millisecond)
	return l
}

// Phases of the mirror.
const (
	mirrorWaiting   = "waiting"   // for the first Open, or for the server
	mirrorComparing = "comparing" // with the store
	mirrorLive      = "live"
)

// Mirror keeps the KV bucket as the store is: the rows of the five named
// projections, as stored, and of missions, for clients in any language to read
// and to watch (DESIGN 2 to 4). It implements loop.Follower.
//
//  1. A row is written after its block is folded, and the cursor after the rows.
//     Where the cursor is, every row is as after that block, or newer.
//  2. The values are written in the order of their commandSeq, so that who has
//     seen one has seen all changes before it.
//  3. Every write names the revision of the cursor that this writer wrote (a
//     fence): a writer that was replaced changes nothing more.
//  4. It works on its own goroutine and holds up nobody. When it falls behind it
//     forgets what waits, and reads the store again.
//  5. The bucket may lose its end in a crash, and a damaged file can make the
//     server lose any row without a word. So the first time in a process's life,
//     and unless the writer before stopped in good order, the cursor is removed
//     first, then every row is compared.
type Mirror struct {
	o    MirrorOptions
	wake chan struct{}

	compared   atomic.Bool  // every row, by this process
	unanswered atomic.Int32 // claims of the cursor, one after the other

	mu        sync.Mutex
	asked     chan error // Open waits for a new session
	interrupt func()     // ends the session under way
	following bool       // blocks are to be queued
	behind    bool       // blocks were not queued: the store has them
	queue     []mirrorBlock
	bytes     int
	info      MirrorInfo
}

// MirrorInfo tells how far a mirror is.
type MirrorInfo struct {
	Phase  string
	Block  uint64 // of the cursor in the bucket
	Seq    uint64
	Queued int   // blocks that wait
	Err    error // what the last session ended with; nil while one is well
}

// Status is the info as the query service tells it.
func (i MirrorInfo) Status() *wire.MirrorStatus {
	s := &wire.MirrorStatus{AsOf: wire.AsOf{Block: i.Block, Seq: i.Seq}, Phase: i.Phase}
	if i.Err != nil {
		s.Error = i.Err.Error()
	}
	return s
}

type mirrorBlock struct {
	cursor  state.Cursor
	changes []state.Change // of mirrored rows
}

// NewMirror returns a mirror that does nothing until it runs.
func NewMirror(o MirrorOptions) (*Mirror, error) {
	if o.Connect == nil || o.View == nil {
		return nil, errors.New("mirror: Connect and View are needed")
	}
	if o.Generation == nil {
		o.Generation = func() string { return "" }
	}
	o.Shards, o.Replicas = max(o.Shards, 1), max(o.Replicas, 1)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.withDefaults()
	return &Mirror{o: o, wake: make(chan struct{}, 1), info: MirrorInfo{Phase: mirrorWaiting}}, nil
}

// Info tells how far the mirror is.
func (m *Mirror) Info() MirrorInfo {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := m.info
	info.Queued = len(m.queue)
	return info
}

func (m *Mirror) setInfo(phase string, cursor wire.Cursor, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info = MirrorInfo{Phase: phase, Block: cursor.Block, Seq: cursor.Seq, Err: err}
}

// Folded takes the changes of a block that is in the store. It is meant for the
// loop's hook and does not wait.
func (m *Mirror) Folded(cursor state.Cursor, changes []state.Change) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.following {
		m.behind = true
		return
	}
	block := mirrorBlock{cursor: cursor}
	for _, c := range changes {
		if state.IsMirrored(c.Key) {
			block.changes = append(block.changes, c)
			m.bytes += len(c.Key) + len(c.Value)
		}
	}
	m.queue = append(m.queue, block)
	if m.bytes > m.o.Limits.Queue {
		m.queue, m.bytes, m.behind = nil, 0, true
	}
	m.signal()
}

func (m *Mirror) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Open begins anew: it claims the cursor, or removes it when the bucket has to
// be compared, and returns. Call it in each term before publishers and readers
// are let in (DESIGN 3), while Run runs.
func (m *Mirror) Open(ctx context.Context) error {
	ask := make(chan error, 1)
	m.mu.Lock()
	m.asked = ask
	if m.interrupt != nil {
		m.interrupt()
	}
	m.signal()
	m.mu.Unlock()
	select {
	case err := <-ask:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run mirrors until ctx ends, which is no error. Stop the loop before, so that
// the last blocks are taken along.
func (m *Mirror) Run(ctx context.Context) error {
	opened := false
	for ctx.Err() == nil {
		within, end, ask := m.next(ctx)
		if ask == nil && !opened {
			end()
			m.pause(ctx, nil)
			continue
		}
		opened = true
		err := m.session(ctx, within, ask)
		wanted := within.Err() != nil // Open begins anew
		end()
		if err != nil && ctx.Err() == nil && !wanted {
			m.o.Log.Warn("the mirror begins anew", "error", err)
			m.setInfo(mirrorWaiting, wire.Cursor{}, err)
			m.pause(ctx, time.After(m.o.Limits.Retry))
		}
	}
	return nil
}

// next is the context of the next session, and who waits for it to begin. It
// ends when Open wants another one, and some time after ctx.
func (m *Mirror) next(ctx context.Context) (within context.Context, end func(), ask chan error) {
	within, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(m.o.Limits.Grace):
		case <-within.Done():
		}
		cancel()
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	ask, m.asked = m.asked, nil
	m.interrupt = cancel
	return within, func() { stop(); cancel() }, ask
}

// pause waits for Open, or for the time to try again.
func (m *Mirror) pause(ctx context.Context, again <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-again:
			return
		case <-m.wake:
		}
		m.mu.Lock()
		asked := m.asked != nil
		m.mu.Unlock()
		if asked {
			return
		}
	}
}

// session is one connection's work. ctx ends when the mirror stops; within,
// when the work must end.
func (m *Mirror) session(ctx, within context.Context, ask chan error) error {
	s, err := m.begin(within, ctx.Done())
	if ask != nil {
		ask <- err
	}
	if err != nil {
		return err
	}
	defer s.close()
	defer m.follow(false)
	err = s.catchUp(s.compare)
	if errors.Is(err, errForgets) {
		err = s.remake(s.ctx)
	}
	if err != nil {
		return err
	}
	if s.compare {
		m.compared.Store(true)
	}
	if s.clean && s.wrong > 0 {
		m.o.Log.Error("the bucket of the KV mirror was damaged: rows were not those of the store, and were written again", "rows", s.wrong)
	}
	for {
		began := time.Now()
		rows, err := s.step()
		if err != nil {
			return err
		}
		took := time.Since(began)
		m.setInfo(mirrorLive, s.cursor, nil)
		if ctx.Err() != nil {
			return s.finish()
		}
		if rows >= manyRows {
			s.gather(took)
		}
		select {
		case <-ctx.Done():
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		case <-m.wake:
		}
	}
}

// follow says whether blocks are to be queued from here on.
func (m *Mirror) follow(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.following, m.behind = on, false
	m.queue, m.bytes = nil, 0
}

// take returns what waits; behind says that something was forgotten.
func (m *Mirror) take() (blocks []mirrorBlock, behind bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	blocks, behind = m.queue, m.behind
	m.queue, m.bytes, m.behind = nil, 0, false
	return blocks, behind
}
