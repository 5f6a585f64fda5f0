package projections

import (
	"context"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Check reads every row of the store that is open, as it is at one moment, and
// computes the state hash anew, which the log's blocks name. read is called for
// the bytes read, and ends it with its error; its context also ends when the
// store is to be closed. A store whose rows are not what the log says is marked
// as damaged, so that it is set aside and made again; that is the error.
func (h *Home) Check(ctx context.Context, read func(ctx context.Context, bytes int) error) (err error) {
	v, err := h.View()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	ctx, end := v.within(ctx)
	defer end()
	rows := &readRows{View: v, read: func(n int) error { return read(ctx, n) }}
	if err := rows.Scan([]byte{1}, []byte{0xFF}, false, func([]byte, []byte) bool { return true }); err != nil {
		return err // Pebble checks the sums of what it reads
	}
	hash, err := state.HashOf(rows)
	var failed *StoreError
	switch {
	case rows.stopped != nil:
		return rows.stopped
	case errors.As(err, &failed):
		return failed
	case err == nil && hash == v.cursor.StateHash:
		return nil
	case err == nil:
		err = fmt.Errorf("the rows after block %d have the state hash %x, the log says %x", v.cursor.LogSeq, hash, v.cursor.StateHash)
	}
	failed = &StoreError{Op: "compare with the log", Err: err, damaged: true}
	v.store.fail(failed)
	return failed
}

// within is a context that also ends when the store of a view is to be closed,
// which waits for its views.
func (v *View) within(ctx context.Context) (within context.Context, end func()) {
	within, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-v.store.stop:
			cancel(errClosed)
		case <-within.Done():
		}
	}()
	return within, func() { cancel(nil) }
}

// readRows are the rows of a view with a word about each read.
type readRows struct {
	*View
	read    func(bytes int) error
	stopped error // what read ended a scan with
}

// fewBytes are not worth a word.
const fewBytes = 64 << 10

// Scan implements [state.Rows].
func (r *readRows) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	bytes := 0
	tell := func() bool {
		if r.stopped == nil {
			r.stopped = r.read(bytes)
		}
		bytes = 0
		return r.stopped == nil
	}
	err := r.View.Scan(lower, upper, reverse, func(key, value []byte) bool {
		if bytes += len(key) + len(value); bytes >= fewBytes && !tell() {
			return false
		}
		return f(key, value)
	})
	if err == nil && !tell() {
		err = r.stopped
	}
	return err
}
