package wire

import (
	"fmt"
	"net/http"
)

// ErrorCode says why a question was not answered. Beside it in the NATS header
// stands a number, that of the HTTP status which means the same.
type ErrorCode string

// The error codes of the service.
const (
	BadRequest  ErrorCode = "BAD_REQUEST" // the question is not one: fix it
	NotFound    ErrorCode = "NOT_FOUND"   // there is no such thing as of now
	Quota       ErrorCode = "QUOTA"       // this principal has too many commands out: wait for some of them
	InboxFull   ErrorCode = "INBOX_FULL"  // the inbox takes no more now: send again later under the same id
	Busy        ErrorCode = "BUSY"        // too many questions at a time: ask again
	Unavailable ErrorCode = "UNAVAILABLE" // starting, stopping, or a part of it does not answer: ask again
	Timeout     ErrorCode = "TIMEOUT"     // it took too long; a command may still be decided
	Integrity   ErrorCode = "INTEGRITY"   // what is stored is not what was written: an operator must look
	Unsupported ErrorCode = "UNSUPPORTED" // this reducer cannot answer it
	Internal    ErrorCode = "INTERNAL"
)

// Status is the number for the code in the header Nats-Service-Error-Code.
func (c ErrorCode) Status() int {
	switch c {
	case BadRequest:
		return http.StatusBadRequest
	case NotFound:
		return http.StatusNotFound
	case Quota, InboxFull:
		return http.StatusTooManyRequests
	case Busy, Unavailable:
		return http.StatusServiceUnavailable
	case Timeout:
		return http.StatusGatewayTimeout
	case Unsupported:
		return http.StatusNotImplemented
	}
	return http.StatusInternalServerError
}

// Temporary says whether the same question may be answered later.
func (c ErrorCode) Temporary() bool {
	switch c {
	case Quota, InboxFull, Busy, Unavailable, Timeout:
		return true
	}
	return false
}

// Error is the payload of an answer that is none.
type Error struct {
	Code    ErrorCode `json:"code"`
	Message string    `json:"message"`
	Reason  string    `json:"reason,omitempty"`    // a fixed word, where one is documented
	ID      string    `json:"commandId,omitempty"` // of submit: the id to send again under
}

// Error implements error.
func (e *Error) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("%s (%s): %s", e.Code, e.Reason, e.Message)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Errorf makes an error of the service.
func Errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
