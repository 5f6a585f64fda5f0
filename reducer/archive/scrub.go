package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// errClosed: the writer was closed.
var errClosed = errors.New("it is closed")

// Scrub reads the whole archive beside its writing, and checks that it is what
// was written: each segment, the chain through all of them to the log's block at
// the end, and HEAD. What is damaged is set aside and written again from the
// log, and read again; mended says how many files that were. read is called for
// the bytes read, and ends it with its error. A log that no longer has what was
// damaged is an integrity error.
func (w *Writer) Scrub(ctx context.Context, read func(bytes int) error) (mended int, err error) {
	for {
		var e *extent
		err := w.order(ctx, func() (err error) {
			e, err = w.archive.extent()
			return err
		})
		if errors.Is(err, errMending) {
			err = w.untilMended(ctx)
			if err == nil {
				continue
			}
		}
		if err != nil {
			return mended, w.scrubError(err)
		}
		damage, err := e.check(read)
		if err != nil || damage == nil {
			return mended, w.scrubError(err)
		}
		if err := w.order(ctx, func() error { return w.lose(damage) }); err != nil {
			return mended, w.scrubError(err)
		}
		mended++
	}
}

// lose has the archive lose a file, and the writer write again what it lost
// behind what was on disk.
func (w *Writer) lose(d *Damage) error {
	if err := w.archive.lose(d); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.archive.last.seq < w.newest.seq && len(w.queue) == 0 {
		w.behind = true
	}
	return nil
}

// order runs f on the writing goroutine, and waits for it.
func (w *Writer) order(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	run := func() error {
		err := f()
		done <- err
		if errors.Is(err, errMending) {
			err = nil // for who gave the order
		}
		return err
	}
	select {
	case w.orders <- run:
		return <-done
	case <-w.ended:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// untilMended waits until nothing is missing. What stands in the way of that is
// an error only where the log is damaged too: the rest is tried again.
func (w *Writer) untilMended(ctx context.Context) error {
	for {
		s := w.Status()
		if errors.Is(s.Err, loop.ErrIntegrity) {
			return s.Err
		}
		if s.Missing == 0 && s.Err == nil {
			return nil
		}
		select {
		case <-w.ended:
			return errClosed
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(w.o.SyncEvery):
		}
	}
}

func (w *Writer) scrubError(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, loop.ErrIntegrity) {
		return err
	}
	return fmt.Errorf("archive %s: %w", w.o.Dir, err)
}
