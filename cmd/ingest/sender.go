package main

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go"
)

// sender takes the commands of a file, in order.
type sender interface {
	send(ctx context.Context, command *command) error
	// flush returns when the inbox has all that was sent.
	flush(ctx context.Context) error
	// finish waits for what is still to be decided. Its error is exit code 4
	// where a decision was a rejection, or repeated one.
	finish(ctx context.Context) error
}

// sender is the way that the flags say.
func (in *ingesting) sender(p *publisher, print *printer) (sender, error) {
	submit := func() (sender, error) {
		if !in.wait {
			print = nil
		}
		return newSubmitter(p, print)
	}
	if in.via == viaSubmit {
		return submit()
	}
	var stream sender = publishing{p}
	if in.wait {
		w, err := newWaiter(p, print)
		if err != nil {
			return nil, err
		}
		stream = w
	}
	if in.via == viaStream {
		return stream, nil
	}
	return &either{sender: stream, other: submit}, nil
}

// publishing is a publisher whose decisions nobody waits for.
type publishing struct{ *publisher }

func (p publishing) send(ctx context.Context, command *command) error {
	return p.publish(ctx, command, "")
}

func (publishing) finish(context.Context) error { return nil }

// either publishes into the stream, or submits all of the file where the server
// does not let this user publish the first command.
type either struct {
	sender
	other func() (sender, error)
	known bool // the first command found its way
}

func (e *either) send(ctx context.Context, command *command) error {
	err := e.sender.send(ctx, command)
	if e.known || err == nil {
		e.known = true
		return err
	}
	e.known = true
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return err
	}
	other, failed := e.other()
	if failed != nil {
		return errors.Join(err, failed)
	}
	e.sender = other
	return e.sender.send(ctx, command)
}
