package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// WriterOptions say how an archive is written beside the loop.
type WriterOptions struct {
	Options
	// OpenLog opens the log, for what the writer has missed or lost.
	OpenLog func(ctx context.Context) (log loop.Log, closeLog func(), err error)

	QueueBytes int           // of blocks that wait, 32 MiB when 0
	SyncEvery  time.Duration // 1 s when 0
	Retry      time.Duration // pause after an error, 5 s when 0
}

// Writer writes an archive beside the loop, so that a slow or full disk of the
// archive delays no decision for long and stops none: what it could not take is
// read from the log later. A file that Scrub finds damaged is written again from
// the log. It implements [loop.Archive] and is safe for concurrent use.
//
// A log that does not have what the archive had is an integrity error, which
// the next Append returns.
type Writer struct {
	o       WriterOptions
	archive *Archive // of the writing goroutine
	stop    context.CancelFunc
	ended   chan struct{}
	wake    chan struct{}
	orders  chan func() error // for the writing goroutine

	mu      sync.Mutex
	room    *sync.Cond
	queue   []queued
	bytes   int
	busy    bool  // blocks were taken from the queue and are being written
	reading bool  // the log is being read, which may take long: nobody waits for that
	behind  bool  // blocks were dropped: they are on the log
	newest  head  // last block appended, or the archive's
	failing error // of the last try; nil when all is well
	fault   error // ErrIntegrity
	closed  bool
	status  Status
}

var _ loop.Archive = (*Writer)(nil)

// Status says how far an archive is.
type Status struct {
	Dir     string
	Block   uint64 // last block that is on disk in the archive
	Lag     uint64 // blocks of the log after it
	Missing uint64 // blocks before it that are being written again
	Err     error  // what keeps it from going on
}

type queued struct {
	seq   uint64
	block []byte
}

// StartWriter opens an archive and begins to write it.
func StartWriter(o WriterOptions) (*Writer, error) {
	if o.QueueBytes == 0 {
		o.QueueBytes = 32 << 20
	}
	if o.SyncEvery == 0 {
		o.SyncEvery = time.Second
	}
	if o.Retry == 0 {
		o.Retry = 5 * time.Second
	}
	a, err := Open(o.Options)
	if err != nil {
		return nil, err
	}
	o.Options = a.o
	w := &Writer{o: o, archive: a, newest: a.last, ended: make(chan struct{}), wake: make(chan struct{}, 1), orders: make(chan func() error)}
	w.room = sync.NewCond(&w.mu)
	w.report()
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	go w.run(ctx)
	return w, nil
}

// Last implements [loop.Archive]: what was appended before is written first,
// unless that fails.
func (w *Writer) Last() (uint64, [sha256.Size]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for (len(w.queue) > 0 || w.busy) && w.failing == nil && !w.closed {
		w.room.Wait()
	}
	return w.newest.seq, w.newest.hash, w.fault
}

// Append implements [loop.Archive]. It waits while the queue is full and is
// being written. The block must not be changed afterwards.
func (w *Writer) Append(seq uint64, block []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	full := func() bool { return w.bytes+len(block) > w.o.QueueBytes && len(w.queue) > 0 }
	for full() && !w.behind && !w.reading && w.failing == nil && !w.closed {
		w.room.Wait()
	}
	switch {
	case w.fault != nil:
		return w.fault
	case w.closed:
		return errors.New("archive: it is closed")
	case seq <= w.newest.seq:
		return nil
	case w.failing != nil, w.reading && full():
		w.drop()
	case !w.behind:
		w.queue, w.bytes = append(w.queue, queued{seq, block}), w.bytes+len(block)
	}
	w.newest = head{seq, events.BlockHash(block)}
	w.signal()
	return nil
}

// drop lets go of all that waits: it is read from the log when the archive can
// be written again. The caller holds mu.
func (w *Writer) drop() {
	w.queue, w.bytes, w.behind = nil, 0, true
	w.room.Broadcast()
}

func (w *Writer) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Status says how far the archive is.
func (w *Writer) Status() Status {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.status
	s.Lag = w.newest.seq - min(s.Block, w.newest.seq)
	if s.Err = w.fault; s.Err == nil {
		s.Err = w.failing
	}
	return s
}

// Close writes what waits, syncs the archive and gives it back.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.room.Broadcast()
	w.mu.Unlock()
	w.stop()
	<-w.ended
	return w.archive.Close()
}

// run writes until ctx ends, and what waits then.
func (w *Writer) run(ctx context.Context) {
	defer close(w.ended)
	tick := time.NewTicker(w.o.SyncEvery)
	defer tick.Stop()
	for {
		sync := false
		var err error
		select {
		case <-ctx.Done():
			w.tell(w.write())
			return
		case <-w.wake:
		case order := <-w.orders:
			err, sync = order(), true
		case <-tick.C:
			sync = true
		}
		if err == nil {
			err = w.work(ctx, sync || w.Status().Err != nil)
		}
		w.tell(err)
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(w.o.Retry):
		}
	}
}

// work writes what waits and, now and then, what was missed.
func (w *Writer) work(ctx context.Context, sync bool) error {
	if err := w.write(); err != nil {
		return err
	}
	if w.isBehind() {
		if err := w.catchUp(ctx); err != nil {
			return err
		}
	}
	if !sync {
		return nil
	}
	if err := w.archive.Sync(); err != nil {
		return err
	}
	for len(w.archive.Holes()) > 0 {
		if err := w.fill(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write takes the queue and writes it.
func (w *Writer) write() error {
	w.mu.Lock()
	blocks := w.queue
	w.queue, w.bytes, w.busy = nil, 0, len(blocks) > 0
	w.room.Broadcast()
	w.mu.Unlock()
	for _, b := range blocks {
		if err := w.archive.Append(b.seq, b.block); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) isBehind() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.behind
}

// tell keeps how the last work ended, for Status and for those who wait.
func (w *Writer) tell(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && w.failing == nil && !errors.Is(err, context.Canceled) {
		w.o.Log.Warn("the archive is not written now; it will be read from the log later", "archive", w.o.Dir, "error", err)
	}
	if err == nil && w.failing != nil {
		w.o.Log.Info("the archive is written again", "archive", w.o.Dir)
	}
	if w.busy, w.failing = false, err; err != nil {
		w.drop()
	}
	if errors.Is(err, loop.ErrIntegrity) {
		w.fault = err
	}
	w.room.Broadcast()
	w.reportLocked()
}

func (w *Writer) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reportLocked()
}

func (w *Writer) reportLocked() {
	w.status = Status{Dir: w.o.Dir, Block: w.archive.Synced()}
	for _, h := range w.archive.Holes() {
		w.status.Missing += h.Last - h.First + 1
	}
}

// catchUp reads from the log what was dropped, up to the newest block.
func (w *Writer) catchUp(ctx context.Context) error {
	for {
		w.mu.Lock()
		target := w.newest
		if w.behind = w.archive.last.seq < target.seq; !w.behind {
			w.mu.Unlock()
			return nil
		}
		w.mu.Unlock()
		err := w.readLog(ctx, func(log loop.Log) error {
			return loop.CopyBlocks(ctx, log, w.archive.last.seq, state.Cursor{LogSeq: target.seq, BlockHash: target.hash}, w.archive.Append)
		})
		if err != nil {
			return err
		}
	}
}

// fill writes the first hole again.
func (w *Writer) fill(ctx context.Context) error {
	return w.readLog(ctx, func(log loop.Log) error {
		return w.archive.Fill(func(from uint64, f func(uint64, []byte) error) error { return log.Read(ctx, from, f) })
	})
}

func (w *Writer) readLog(ctx context.Context, f func(loop.Log) error) error {
	w.setReading(true)
	defer w.setReading(false)
	log, closeLog, err := w.o.OpenLog(ctx)
	if err != nil {
		return fmt.Errorf("archive: open the log: %w", err)
	}
	defer closeLog()
	return f(log)
}

func (w *Writer) setReading(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reading = on
	w.room.Broadcast()
}
