package client

import (
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// What keeps a client from working at all.
var (
	// ErrNoReducer: no reducer answers. A command that gets it was not stored.
	ErrNoReducer = errors.New("no reducer answers")
	// ErrNotPermitted: the server does not let this user do it.
	ErrNotPermitted = errors.New("not permitted")
	// ErrNotFound: there is no such thing as of now.
	ErrNotFound = errors.New("not found")
)

// Rejection is the error of a command that was refused, or that repeats one
// that was. The decision is as final as any other, unless it says otherwise.
type Rejection struct {
	Decision Decision
}

// Code says why.
func (r *Rejection) Code() events.Code { return r.Decision.RejectionCode() }

// Error tells the decision in a line.
func (r *Rejection) Error() string {
	d := r.Decision
	text := "rejected: " + string(r.Code())
	if d.Reason != "" {
		text += " (" + d.Reason + ")"
	}
	if d.Pointer != "" {
		text += " at " + d.Pointer
	}
	if d.Message != "" {
		text += ": " + d.Message
	}
	return text
}

// Uncertain is the error of a command of which it is not known whether it is,
// or will be, decided. Submit it again as it is, with its id, to find out.
type Uncertain struct {
	Command Command // with its id
	Err     error   // why it is not known, such as context.DeadlineExceeded
}

// Error names the command.
func (u *Uncertain) Error() string {
	return fmt.Sprintf("not known whether command %q of %q is decided; submit it again under this id: %v", u.Command.ID, u.Command.Principal, u.Err)
}

// Unwrap returns why.
func (u *Uncertain) Unwrap() error { return u.Err }

// notFound makes the service's NOT_FOUND an ErrNotFound.
func notFound(err error) error {
	var e *wire.Error
	if errors.As(err, &e) && e.Code == wire.NotFound {
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}
