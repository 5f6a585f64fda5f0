package projections

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

// StoreError is a failure of the store. A damaged one must be set aside; after
// any other it may be opened again.
type StoreError struct {
	Op      string
	Err     error
	damaged bool
}

// Error implements error.
func (e *StoreError) Error() string { return fmt.Sprintf("store: %s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// Damaged says whether the store must be set aside and built again.
func (e *StoreError) Damaged() bool { return e.damaged }

// failure keeps the first corruption, which the rest of the store cannot be
// trusted after.
func (s *Store) failure(op string, err error) error {
	e := &StoreError{Op: op, Err: err, damaged: pebble.IsCorruptionError(err)}
	if e.damaged {
		s.fail(e)
	}
	return e
}

// fail makes e the end of the store, if it is the first failure.
func (s *Store) fail(e *StoreError) {
	if s.failed.CompareAndSwap(nil, e) {
		close(s.broken)
		s.o.Log.Error("the store failed", "op", e.Op, "error", e.Err.Error(), "damaged", e.damaged)
	}
}

// openError: whatever keeps a store from opening, except the world around it,
// is damage. With the write-ahead log off a flipped bit shows here.
func openError(err error) error {
	for _, world := range []error{
		fs.ErrPermission, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EMFILE, syscall.ENFILE,
		syscall.ENOMEM, syscall.EAGAIN, syscall.EACCES, syscall.ENOTDIR,
	} {
		if errors.Is(err, world) {
			return &StoreError{Op: "open", Err: err}
		}
	}
	return &StoreError{Op: "open", Err: err, damaged: true}
}
