package logfile

import "fmt"

// Error tells what is wrong with one line.
type Error struct {
	Line    int    // in the file, from 1
	Pointer string // RFC 6901, into the line's object; "" is the whole line
	Message string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("line %d: %s", e.Line, e.Message)
	}
	return fmt.Sprintf("line %d: %s: %s", e.Line, e.Pointer, e.Message)
}

// fault makes an Error; the reader fills in the line.
func fault(pointer, format string, args ...any) *Error {
	return &Error{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
}
