package loop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// world is what survives a term: the streams, the store on disk, and a journal
// of what happened to them, in order.
type world struct {
	emptied bool // the log says that all its blocks are gone
	mu      sync.Mutex
	journal []string

	commands  []Command // of the inbox
	nextSeq   uint64    // that the inbox gives out
	blocks    [][]byte  // of the log; block n is at n-1
	replies   []string
	refuse    func(try int, block []byte) appendFault // nil: every append is stored
	tries     int
	readErr   error // of Get
	connected int
	connect   func(n int) error
	feed      *fakeFeed
	purgeLies bool
	sick      error // of the session

	store *fakeStore
	set   []string // reasons for which stores were set aside
}

// appendFault is what happens to one append: whether it is stored after all,
// who was faster, and what the writer is told.
type appendFault struct {
	stored  bool
	foreign []byte
	err     error
}

func newWorld() *world {
	return &world{nextSeq: 1, store: &fakeStore{rows: state.NewMemory()}}
}

func (w *world) note(format string, args ...any) {
	w.journal = append(w.journal, fmt.Sprintf(format, args...))
}

// publish puts commands with these bodies into the inbox.
func (w *world) publish(bodies ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, body := range bodies {
		w.commands = append(w.commands, Command{
			Message: events.Message{Seq: w.nextSeq, Time: 1, Subject: "x", Body: []byte(body)},
			Reply:   "_INBOX." + body,
		})
		w.nextSeq++
	}
	if w.feed != nil {
		w.feed.signal()
	}
}

func (w *world) answered() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.replies)
}

func (w *world) session() *fakeSession { return &fakeSession{w} }

type fakeSession struct{ *world }

func (s *fakeSession) Inbox() Inbox     { return (*fakeInbox)(s) }
func (s *fakeSession) Log() Log         { return (*fakeLog)(s) }
func (s *fakeSession) Replies() Replies { return s }
func (s *fakeSession) Close()           {}

func (s *fakeSession) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sick
}

func (s *fakeSession) OpenDoors(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("doors")
	return nil
}

func (s *fakeSession) Reply(subject string, _ []byte, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note("reply %s %v", subject, final)
	s.replies = append(s.replies, subject)
}

type fakeInbox fakeSession

func (i *fakeInbox) Info(context.Context) (InboxInfo, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	info := InboxInfo{FirstSeq: i.nextSeq, LastSeq: i.nextSeq - 1}
	if len(i.commands) > 0 {
		info.FirstSeq = i.commands[0].Seq
	}
	return info, nil
}

func (i *fakeInbox) Purge(_ context.Context, seq uint64) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.note("purge %d", seq)
	if i.purgeLies {
		return nil
	}
	for len(i.commands) > 0 && i.commands[0].Seq < seq {
		i.commands = i.commands[1:]
	}
	i.nextSeq = max(i.nextSeq, seq)
	return nil
}

func (i *fakeInbox) Read(_ context.Context, after uint64) (Feed, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.note("read %d", after)
	i.feed = &fakeFeed{world: i.world, last: after, wake: make(chan struct{}, 1)}
	return i.feed, nil
}

type fakeFeed struct {
	*world
	last uint64
	wake chan struct{}
	err  error
	hold int // at most so many at once; 0 is no limit
}

func (f *fakeFeed) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

func (f *fakeFeed) Take(limit int) ([]Command, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	if f.hold > 0 {
		limit = min(limit, f.hold)
	}
	var taken []Command
	for _, c := range f.commands {
		if c.Seq > f.last && len(taken) < limit {
			taken, f.last = append(taken, c), c.Seq
		}
	}
	return taken, nil
}

func (f *fakeFeed) Wake() <-chan struct{} { return f.wake }
func (f *fakeFeed) Close()                {}

type fakeLog fakeSession

func (l *fakeLog) Info(context.Context) (LogInfo, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info := LogInfo{FirstSeq: 1, LastSeq: uint64(len(l.blocks)), Generation: "g1"}
	if l.emptied {
		info.FirstSeq = info.LastSeq + 1
	}
	return info, nil
}

func (l *fakeLog) Append(_ context.Context, last uint64, block []byte) error {
	l.mu.Lock()
	refuse := l.refuse
	l.tries++
	try := l.tries
	l.mu.Unlock()
	fault := appendFault{stored: true}
	if refuse != nil {
		fault = refuse(try, block)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if fault.foreign != nil {
		l.blocks = append(l.blocks, fault.foreign)
	}
	if fault.stored && int(last) != len(l.blocks) {
		return errors.New("wrong last sequence")
	}
	if fault.stored {
		l.blocks = append(l.blocks, block)
		l.note("stored %d", last+1)
	}
	return fault.err
}

func (l *fakeLog) Get(_ context.Context, seq uint64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readErr != nil {
		return nil, l.readErr
	}
	if seq == 0 || int(seq) > len(l.blocks) {
		return nil, ErrAbsent
	}
	return l.blocks[seq-1], nil
}

func (l *fakeLog) Read(_ context.Context, from uint64, f func(uint64, []byte) error) error {
	l.mu.Lock()
	blocks := slices.Clone(l.blocks)
	l.mu.Unlock()
	for seq := from; int(seq) <= len(blocks); seq++ {
		if blocks[seq-1] == nil {
			continue // damaged: the server passes over it
		}
		if err := f(seq, blocks[seq-1]); err != nil {
			return err
		}
	}
	return nil
}

type fakeStore struct {
	rows      *state.MemoryRows
	cursor    state.Cursor
	world     *world
	commitErr error
	found     error
}

func (s *fakeStore) Get(key []byte) ([]byte, error) { return s.rows.Get(key) }
func (s *fakeStore) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	return s.rows.Scan(lower, upper, reverse, f)
}
func (s *fakeStore) Cursor() state.Cursor { return s.cursor }
func (s *fakeStore) Err() error           { return s.found }
func (s *fakeStore) Close() error         { return nil }

func (s *fakeStore) Commit(changes []state.Change, cursor state.Cursor) error {
	if s.world != nil {
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
	}
	if s.commitErr != nil {
		return s.commitErr
	}
	s.rows.Commit(changes)
	s.cursor = cursor
	if s.world != nil {
		s.world.note("commit %d", cursor.LogSeq)
	}
	return nil
}

// worldStores opens the world's store.
type worldStores struct{ *world }

func (w worldStores) Open() (Store, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.store.world = w.world
	return w.store, nil
}

func (w worldStores) SetAside(reason error) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.set = append(w.set, reason.Error())
	w.store = &fakeStore{rows: state.NewMemory()}
	return "aside", nil
}

type damage struct{}

func (damage) Error() string { return "a flipped bit" }
func (damage) Damaged() bool { return true }

// refuser decides: every command is refused, into the ledger _unrouted.
type refuser struct{}

func (refuser) Step(s *state.State, m *events.Message) *events.Decision {
	d := &events.Decision{
		CommandSeq: m.Seq, CommandID: fmt.Sprintf("seq-%d", m.Seq), At: m.Millis(), BodyHash: fmt.Sprintf("%x", sha256.Sum256(m.Body)),
		Outcome: events.OutcomeRejected, Code: events.CodeSubjectInvalid, Message: string(m.Body),
	}
	d.Seal(s.Ledger(events.Unrouted).Head)
	s.Apply(m, d)
	return d
}

// stillClock stands still, except for waiting, which takes no time.
type stillClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stillClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *stillClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	fired := make(chan time.Time, 1)
	fired <- c.now
	return fired
}

type fakeArchive struct {
	*world
	blocks [][]byte
}

func (a *fakeArchive) Last() (seq uint64, hash [32]byte, err error) {
	if n := len(a.blocks); n > 0 {
		return uint64(n), events.BlockHash(a.blocks[n-1]), nil
	}
	return 0, hash, nil
}

func (a *fakeArchive) Append(seq uint64, block []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if int(seq) != len(a.blocks)+1 {
		return fmt.Errorf("block %d after %d", seq, len(a.blocks))
	}
	a.blocks = append(a.blocks, block)
	a.note("archive %d", seq)
	return nil
}

type fakeFollower struct {
	seq       uint64
	discarded bool
}

func (f *fakeFollower) Name() string                           { return "the mirror" }
func (f *fakeFollower) LogSeq(context.Context) (uint64, error) { return f.seq, nil }
func (f *fakeFollower) Discard(context.Context) error {
	f.seq, f.discarded = 0, true
	return nil
}
