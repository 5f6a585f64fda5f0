package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
)

// Headers of commands and decisions (RULES 1, DESIGN 4).
const (
	headerID    = "Aiws-Command-Id"
	headerReply = "Aiws-Reply"
	headerFinal = "Aiws-Final" // of a decision: false where the same id may be decided later
)

// publisher puts commands into the inbox stream, one after the other: the order
// of a file is the order of its decisions.
type publisher struct {
	conn    *nats.Conn
	stream  jetstream.JetStream
	timeout time.Duration
	stderr  io.Writer
}

func newPublisher(flags *natsflags.Flags, stderr io.Writer) (*publisher, error) {
	conn, err := flags.Connect("ingest")
	if err != nil {
		return nil, err
	}
	stream, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &publisher{conn: conn, stream: stream, timeout: flags.Timeout, stderr: stderr}, nil
}

func (p *publisher) close() { p.conn.Close() }

// maxTries is how often a command is sent whose acknowledgement does not come.
const maxTries = 3

// publish returns when the inbox has the command. A full inbox is waited for;
// so is a stored command whose acknowledgement got lost, by sending it again
// under its id.
func (p *publisher) publish(ctx context.Context, command *command, reply string) error {
	msg := &nats.Msg{Subject: command.Subject, Data: command.Body, Header: nats.Header{}}
	if len(command.IDs) > 0 {
		msg.Header[headerID] = command.IDs
	}
	if reply != "" {
		msg.Header[headerReply] = []string{reply}
	}
	var full error
	for try := 0; ; try++ {
		err := p.once(ctx, msg)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, jetstream.ErrNoStreamResponse):
			return fmt.Errorf("no inbox at %s: is a reducer running there? (%w)", p.conn.ConnectedUrl(), err)
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && try < maxTries:
			continue
		case !isFull(err):
			return err
		case full == nil:
			full = err
			fmt.Fprintf(p.stderr, "ingest: the inbox is full, waiting (%v)\n", err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), full)
		case <-time.After(backoff(try)):
		}
	}
}

func (p *publisher) once(ctx context.Context, msg *nats.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	_, err := p.stream.PublishMsg(ctx, msg)
	return err
}

// codeStoreFailed is the server's answer of a stream that is full, as a whole or
// for one subject.
const codeStoreFailed jetstream.ErrorCode = 10077

func isFull(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == codeStoreFailed
}
