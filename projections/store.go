package projections

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// StoreOptions say where a store is and how large it may be in memory.
type StoreOptions struct {
	Dir        string
	FS         vfs.FS        // the operating system's when nil
	CacheBytes int64         // of blocks read from disk; 32 MiB when 0
	MemBytes   uint64        // of one table in memory; 32 MiB when 0
	FlushEvery time.Duration // 10 s when 0; negative: only when told
	MinFree    uint64        // bytes that must be free on the disk; DefaultMinFree when 0
	Log        *slog.Logger

	Checkpoints string // directory of the checkpoints of a [Home]; "" is none
}

// DefaultMinFree leaves room for what is in memory to be written out.
const DefaultMinFree = 128 << 20

// Store is the rows of a shard in Pebble, with the cursor that says which block
// of the log they are of. It implements state.Rows and is safe for concurrent
// use, except that commits come from one goroutine.
//
//  1. Rows and cursor agree, after any crash.
//  2. Nothing ends the process or hangs it: what Pebble calls fatal, corruption
//     that it finds in the background, and a flush that fails, which it would
//     try again for ever, is in Err and fails all that follows. After that the
//     store is closed and opened again.
type Store struct {
	o      StoreOptions
	db     *pebble.DB
	cache  *pebble.Cache
	cursor atomic.Pointer[state.Cursor]
	dirty  atomic.Bool // committed since the last flush
	failed atomic.Pointer[StoreError]
	broken chan struct{} // closed when failed is set

	finder finder

	stop     chan struct{}
	stopOnce sync.Once
	stopped  sync.WaitGroup

	mu     sync.RWMutex // held for reading while the database is used
	closed bool
}

// OpenStore opens the store, made empty when it is not there. An error whose
// Damaged is true asks for [SetAside].
func OpenStore(o StoreOptions) (*Store, error) {
	o = o.withDefaults()
	// Tables in memory take their room from the cache; without more of it they
	// would push out every block that was read.
	cache := pebble.NewCache(o.CacheBytes + memTables*int64(o.MemBytes))
	s := newStore(o, cache)
	defer s.cache.Unref() // the database holds it too
	db, err := pebble.Open(o.Dir, s.pebbleOptions())
	if err != nil {
		return nil, openError(err)
	}
	s.db = db
	if err := s.loadCursor(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if o.FlushEvery > 0 {
		s.stopped.Add(1)
		go s.flushNowAndThen()
	}
	return s, nil
}

// newStore returns a store without a database. What Pebble finds damaged, it
// tells the store from then on.
func newStore(o StoreOptions, cache *pebble.Cache) *Store {
	return &Store{o: o, cache: cache, broken: make(chan struct{}), stop: make(chan struct{})}
}

func (o StoreOptions) withDefaults() StoreOptions {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.CacheBytes == 0 {
		o.CacheBytes = 32 << 20
	}
	if o.MemBytes == 0 {
		o.MemBytes = 16 << 20
	}
	if o.FlushEvery == 0 {
		o.FlushEvery = 10 * time.Second
	}
	if o.MinFree == 0 {
		o.MinFree = DefaultMinFree
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Err is what the store found wrong with itself, in the background too.
func (s *Store) Err() error {
	if err := s.failed.Load(); err != nil {
		return err
	}
	return nil
}

// Cursor is that of the last commit.
func (s *Store) Cursor() state.Cursor { return *s.cursor.Load() }

// Get implements [state.Rows].
func (s *Store) Get(key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, errClosed
	}
	return s.find(key)
}

// Scan implements [state.Rows].
func (s *Store) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	return s.scan(s.db, lower, upper, reverse, f)
}

func (s *Store) get(from pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := from.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, s.Err() // a store that failed may not find what is there
	}
	if err != nil {
		return nil, s.failure("read", err)
	}
	kept := append(make([]byte, 0, len(value)), value...)
	if err := closer.Close(); err != nil {
		return nil, s.failure("read", err)
	}
	return kept, s.Err()
}

func (s *Store) scan(from pebble.Reader, lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	it, err := from.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return s.failure("scan", err)
	}
	first, next := it.First, it.Next
	if reverse {
		first, next = it.Last, it.Prev
	}
	for ok := first(); ok; ok = next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(s.failure("scan", err), it.Close())
		}
		if !f(it.Key(), value) {
			break
		}
	}
	if err := it.Close(); err != nil { // reports what the iterator met
		return s.failure("scan", err)
	}
	return s.Err()
}

// Commit writes changes and cursor in one batch. It is not durable until the
// next flush, and need not be: the log has it all.
func (s *Store) Commit(changes []state.Change, cursor state.Cursor) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if err := s.Err(); err != nil {
		return err // a write could wait for ever
	}
	size := 256
	for i := range changes {
		size += len(changes[i].Key) + len(changes[i].Value) + 16
	}
	batch := s.db.NewBatchWithSize(size)
	defer batch.Close() //nolint:errcheck // frees memory, no more
	for i := range changes {
		var err error
		if c := &changes[i]; c.Value == nil {
			err = batch.Delete(c.Key, nil)
		} else {
			err = batch.Set(c.Key, c.Value, nil)
		}
		if err != nil {
			return s.failure("commit", err)
		}
	}
	if err := batch.Set(cursorKey, encodeCursor(&cursor), nil); err != nil {
		return s.failure("commit", err)
	}
	if err := s.db.Apply(batch, pebble.NoSync); err != nil {
		return s.failure("commit", err)
	}
	if err := s.Err(); err != nil {
		return err // Pebble reports a failed commit to its logger, not to us
	}
	s.cursor.Store(&cursor)
	s.dirty.Store(true)
	return s.forget()
}

// Flush makes everything committed so far durable.
func (s *Store) Flush() error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	return s.flush()
}

func (s *Store) flush() error {
	if !s.dirty.Swap(false) {
		return s.Err()
	}
	if err := s.forget(); err != nil { // it keeps the flushed table in memory
		return err
	}
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return s.failure("flush", err)
	}
	select {
	case <-flushed:
	case <-s.broken: // Pebble would try again for ever
	}
	return s.Err()
}

// flushNowAndThen bounds how much of the log a restart reads.
func (s *Store) flushNowAndThen() {
	defer s.stopped.Done()
	tick := time.NewTicker(s.o.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-tick.C:
			if s.Flush() != nil {
				return // Err says why
			}
		}
	}
}

// Free says why nothing should be written now: the disk is nearly full, and a
// full one makes a write wait without an error.
func (s *Store) Free() error {
	usage, err := s.o.FS.GetDiskUsage(s.o.Dir)
	if err != nil {
		if errors.Is(err, vfs.ErrUnsupported) {
			return nil
		}
		return fmt.Errorf("free space of %s: %w", s.o.Dir, err)
	}
	if usage.AvailBytes < s.o.MinFree {
		return fmt.Errorf("the disk of %s is nearly full: %d MiB are free, %d MiB are needed",
			s.o.Dir, usage.AvailBytes>>20, s.o.MinFree>>20)
	}
	return nil
}

// Checkpoint flushes and makes a copy of the store in a directory that does not
// exist yet, sharing files where the disk can.
func (s *Store) Checkpoint(dir string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return errClosed
	}
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.db.Checkpoint(dir); err != nil {
		return s.failure("checkpoint", err)
	}
	return nil
}

// DiskBytes is what the store takes on disk, about.
func (s *Store) DiskBytes() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return 0
	}
	return s.db.Metrics().DiskSpaceUsage()
}

// Close waits for what reads the store, flushes it and closes it.
func (s *Store) Close() error {
	s.stopOnce.Do(func() { close(s.stop) })
	s.stopped.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.closed = true
	var err error
	if s.Err() == nil {
		err = s.flush()
	}
	err = errors.Join(err, s.forget())
	if closing := s.db.Close(); closing != nil {
		err = errors.Join(err, s.failure("close", closing))
	}
	return err
}

// View is the store as it is at one moment, for queries beside the loop.
type View struct {
	store    *Store
	snapshot *pebble.Snapshot
	cursor   state.Cursor
}

// View returns a view of the last commit. It must be closed, soon: the store
// does not close before.
func (s *Store) View() (*View, error) {
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return nil, errClosed
	}
	v := &View{store: s, snapshot: s.db.NewSnapshot()}
	cursor, err := s.readCursor(v.snapshot)
	if err != nil {
		return nil, errors.Join(err, v.Close())
	}
	v.cursor = cursor
	return v, nil
}

// Cursor says which block the view is of.
func (v *View) Cursor() state.Cursor { return v.cursor }

// Get implements [state.Rows].
func (v *View) Get(key []byte) ([]byte, error) { return v.store.get(v.snapshot, key) }

// Scan implements [state.Rows].
func (v *View) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	return v.store.scan(v.snapshot, lower, upper, reverse, f)
}

// Close lets go of the view.
func (v *View) Close() error {
	defer v.store.mu.RUnlock()
	return v.snapshot.Close()
}

var errClosed = &StoreError{Op: "use", Err: errors.New("the store is closed")}

func (s *Store) loadCursor() error {
	cursor, err := s.readCursor(s.db)
	if err != nil {
		return err
	}
	s.cursor.Store(&cursor)
	return nil
}

func (s *Store) readCursor(from pebble.Reader) (state.Cursor, error) {
	value, err := s.get(from, cursorKey)
	if err != nil || value == nil {
		return state.Cursor{}, err
	}
	return decodeCursor(bytes.Clone(value))
}
