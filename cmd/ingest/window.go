package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// maxInFlight is how many commands are on their way to the inbox at a time
// without its acknowledgement.
const maxInFlight = 256

// outgoing is a command that is on its way to the inbox.
type outgoing struct {
	line int
	msg  *nats.Msg
}

// flush returns when the inbox has all that was published. The order of the file
// is that of the inbox: what a server gets over one connection is a beginning of
// what was sent, so what was not acknowledged is sent again, in its order. Only
// an inbox that fills up could take a later command and not an earlier one;
// where that is near, commands go one at a time.
func (p *publisher) flush(ctx context.Context) error {
	window := p.window
	p.window = p.window[:0]
	if len(window) > 1 && p.roomFor(ctx, window) {
		window = p.together(ctx, window)
	}
	for i := range window {
		if err := p.deliver(ctx, window[i].msg); err != nil {
			return fmt.Errorf("line %d: %w", window[i].line, err)
		}
		p.published++
	}
	return nil
}

// together sends a window at once and returns what was not acknowledged.
func (p *publisher) together(ctx context.Context, window []outgoing) []outgoing {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	acks := make([]jetstream.PubAckFuture, len(window))
	for i := range window {
		// Retries of the client library would change the order.
		ack, err := p.stream.PublishMsgAsync(window[i].msg, jetstream.WithRetryAttempts(0))
		if err != nil {
			break
		}
		acks[i] = ack
	}
	var missing []outgoing
	passed := false // a later command was stored, and this one refused
	for i := range window {
		stored, err := p.stored(ctx, window[i].msg.Subject, acks[i])
		if stored {
			p.published++
			passed = passed || len(missing) > 0
			continue
		}
		if isFull(err) {
			p.full = true
		}
		missing = append(missing, window[i])
	}
	if passed && p.full {
		fmt.Fprintf(p.stderr, "ingest: the inbox filled up meanwhile: line %d comes after lines that follow it\n", missing[0].line)
	}
	return missing
}

// stored waits for an acknowledgement, until it comes or cannot come any more.
func (p *publisher) stored(ctx context.Context, subject string, ack jetstream.PubAckFuture) (bool, error) {
	if ack == nil {
		return false, nil
	}
	look := time.NewTicker(refusedSoon)
	defer look.Stop()
	for {
		select {
		case is := <-ack.Ok():
			if p.inbox != nil && is.Stream != p.inbox.CachedInfo().Config.Name {
				p.inbox = nil // of several shards: not known which of them has room
				p.alone = true
			}
			return true, nil
		case err := <-ack.Err():
			return false, err
		case <-ctx.Done():
			return false, ctx.Err()
		case <-look.C:
			if err := p.refusal(subject); err != nil {
				return false, err
			}
		}
	}
}

// refusedSoon is when the server will have said that we may not publish.
const refusedSoon = 250 * time.Millisecond

// Margins of the inbox: others publish too.
const (
	roomFactor = 4
	infoSoon   = time.Second // for the server's answer about the inbox
)

// roomFor says whether the inbox has room for a window several times over. Where
// that is not to be known, commands go one at a time.
func (p *publisher) roomFor(ctx context.Context, window []outgoing) bool {
	if p.alone || p.inbox == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, infoSoon)
	defer cancel()
	info, err := p.inbox.Info(ctx)
	if err != nil {
		p.alone = p.conn.IsConnected() // this user may not ask
		return false
	}
	bytes := uint64(0)
	for i := range window {
		bytes += uint64(window[i].msg.Size())
	}
	has := func(limit int64, held, more uint64) bool { return limit <= 0 || held+roomFactor*more <= uint64(limit) }
	count := uint64(len(window))
	return has(info.Config.MaxBytes, info.State.Bytes, bytes) && has(info.Config.MaxMsgs, info.State.Msgs, count) &&
		has(info.Config.MaxMsgsPerSubject, info.State.Msgs, count)
}

// meet gets to know the inbox that stored the first command.
func (p *publisher) meet(ctx context.Context, stream string) {
	if p.inbox != nil || p.alone {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, infoSoon)
	defer cancel()
	var err error
	if p.inbox, err = p.stream.Stream(ctx, stream); err != nil {
		p.inbox, p.alone = nil, true
	}
}
