package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// publisher puts commands into the inbox stream, a window of them at a time: the
// order of a file is the order of its decisions. A server that goes away is
// waited for, as long as the time-out says.
type publisher struct {
	flags   *natsflags.Flags
	conn    *nats.Conn
	stream  jetstream.JetStream
	timeout time.Duration
	stderr  io.Writer
	lives   atomic.Uint64 // how often the connection was made again

	window    []outgoing       // published and not sent yet
	published int              // acknowledged by the inbox
	inbox     jetstream.Stream // nil until the first acknowledgement
	met       bool             // the inbox was there once
	alone     bool             // send one command at a time: what room there is cannot be known
	full      bool             // it was said that the inbox is full
}

// reconnectPause is the pause between tries to reach a server that is gone.
const reconnectPause = 100 * time.Millisecond

func newPublisher(flags *natsflags.Flags, stderr io.Writer) (*publisher, error) {
	p := &publisher{flags: flags, timeout: flags.Timeout, stderr: stderr}
	conn, err := flags.Connect("ingest",
		nats.MaxReconnects(-1), nats.ReconnectWait(reconnectPause), nats.ReconnectJitter(0, 0),
		nats.ReconnectBufSize(-1), // what is not sent now is not sent later behind our back
		nats.ReconnectHandler(func(*nats.Conn) { p.lives.Add(1) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				fmt.Fprintf(stderr, "ingest: the connection is lost, waiting for the server (%v)\n", err)
			}
		}),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // see refusal
	)
	if err != nil {
		return nil, flags.Explain(err, "")
	}
	p.conn = conn
	if p.stream, err = jetstream.New(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return p, nil
}

func (p *publisher) close() { p.conn.Close() }

// publish sends a command, at once or with those that follow; flush waits for
// the inbox to have it. The first one goes alone, so that nothing else is sent
// where there is no inbox.
func (p *publisher) publish(ctx context.Context, command *command, reply string) error {
	msg := &nats.Msg{Subject: command.Subject, Data: command.Body, Header: nats.Header{}}
	if len(command.IDs) > 0 {
		msg.Header[wire.HeaderCommandID] = command.IDs
	}
	if reply != "" {
		msg.Header[wire.HeaderReply] = []string{reply}
	}
	p.window = append(p.window, outgoing{line: command.Line, msg: msg})
	if p.met && len(p.window) < maxInFlight {
		return nil
	}
	return p.flush(ctx)
}

// deliver returns when the inbox has the command. A full inbox is waited for.
// What was sent and not acknowledged is sent again under its id, which is
// decided once.
func (p *publisher) deliver(ctx context.Context, msg *nats.Msg) error {
	began := time.Now()
	for try := 0; ; try++ {
		err := p.once(ctx, msg, try)
		if err == nil {
			return nil
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isFull(err) && !p.full:
			p.full = true
			fmt.Fprintf(p.stderr, "ingest: the inbox is full, waiting (%v)\n", err)
		case isFull(err):
		case !p.temporary(msg.Subject, err), time.Since(began) > p.timeout:
			return p.explain(msg, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(backoff(try)):
		}
	}
}

// once sends the message and waits for the acknowledgement, longer from try to
// try.
func (p *publisher) once(ctx context.Context, msg *nats.Msg, try int) error {
	ctx, cancel := context.WithTimeout(ctx, min(p.timeout, time.Second<<min(try, 6)))
	defer cancel()
	ctx, stop := p.unlessRefused(ctx, msg.Subject)
	defer stop()
	// The retries of the client library would hide that there is no inbox.
	ack, err := p.stream.PublishMsg(ctx, msg, jetstream.WithRetryAttempts(0))
	if refused := p.refusal(msg.Subject); err != nil && refused != nil {
		return fmt.Errorf("publish to %s: %w", msg.Subject, refused)
	}
	if err != nil {
		return err
	}
	p.met = true
	p.meet(ctx, ack.Stream)
	return nil
}

// unlessRefused is a context that ends when the server says that this user may
// not publish to the subject.
func (p *publisher) unlessRefused(ctx context.Context, subject string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		for p.refusal(subject) == nil {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
		}
		cancel()
	}()
	return ctx, func() {
		cancel()
		<-done
	}
}

// temporary says whether the same command may be stored a little later.
func (p *publisher) temporary(subject string, err error) bool {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return p.refusal(subject) == nil
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return p.met
	}
	return errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrConnectionReconnecting) || errors.Is(err, nats.ErrReconnectBufExceeded)
}

// refusal is what the server says about publishing to a subject where this user
// may not, or nil. It says so beside the answers, and of other subjects too.
func (p *publisher) refusal(subject string) error {
	err := p.conn.LastError()
	if errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject+`"`) {
		return err
	}
	return nil
}

func (p *publisher) explain(msg *nats.Msg, err error) error {
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return p.flags.Explain(err, "")
	case errors.Is(err, context.DeadlineExceeded):
		if refused := p.refusal(msg.Subject); refused != nil {
			return fmt.Errorf("publish to %s: %w", msg.Subject, refused)
		}
		return fmt.Errorf("the inbox did not acknowledge within %s: %w", p.timeout, err)
	}
	return err
}

// codeStoreFailed is the server's answer of a stream that is full, as a whole or
// for one subject.
const codeStoreFailed jetstream.ErrorCode = 10077

func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeStoreFailed
}
