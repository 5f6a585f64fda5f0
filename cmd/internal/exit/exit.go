// Package exit gives every way a program can end its code (DESIGN 4). Scripts
// depend on the numbers: they are for ever.
package exit

import (
	"errors"
	"fmt"
)

// Codes of the process.
const (
	OK        = 0
	Failure   = 1 // an error or a time-out
	Usage     = 2 // flags or arguments that make no sense
	Integrity = 3 // a damaged log, a digest that differs, a plan that is corrupt
	Rejected  = 4 // --wait saw a rejection
	Fenced    = 5 // another writer has taken over the log
)

// coded is an error with the code that the process ends with.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// With gives err the code.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code: code, err: err}
}

// Errorf is fmt.Errorf with a code.
func Errorf(code int, format string, args ...any) error {
	return With(code, fmt.Errorf(format, args...))
}

// Code gives the code of err: OK for nil, Failure where nothing else was said.
func Code(err error) int {
	if err == nil {
		return OK
	}
	var c *coded
	if errors.As(err, &c) {
		return c.code
	}
	return Failure
}
