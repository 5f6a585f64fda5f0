package client

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// ReadOptions say which decisions to read.
type ReadOptions struct {
	From     uint64 // commandSeq of the first one; 0 for all
	Contract string // only decisions that name it; "" for all
	Follow   bool   // at the end of the log wait for more
}

// Entry is one command of the log with its decision. Through the service, Header
// is empty, and so is the time of the message.
type Entry struct {
	Block  uint64        // sequence on the log of its block
	Header events.Header // of the block
	events.Entry
}

// Read gives the decisions of the log in order, each with the command that it
// answers: everything that ever happened. It checks that the blocks are whole
// and chained. With Follow it survives lost connections. An error ends it.
//
// A user that may not read the log reads the ledger of one contract through the
// service, along its chain of decisions. Commands that were refused before the
// ledger was open are not in it.
func (c *Client) Read(ctx context.Context, o ReadOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := &logReader{client: c, o: o, stream: wire.LogStream(c.o.Shard), after: max(o.From, 1) - 1, asking: c.o.Way == Service}
		if err := r.open(ctx); err != nil {
			yield(Entry{}, fmt.Errorf("read the log: %w", c.explain(err)))
			return
		}
		for tries := 1; ; tries++ {
			more, err := r.session(ctx, yield)
			var lost *lostReader
			again := o.Follow || (silent(err) || busy(err)) && tries < readTries
			switch {
			case !more || ctx.Err() != nil:
				return
			case !errors.As(err, &lost) || !again || c.nc.IsClosed():
				yield(Entry{}, fmt.Errorf("read the log: %w", c.explain(err)))
				return
			}
			pause(ctx)
		}
	}
}

// readTries is how often a Read that does not follow makes a reader on a server
// that is there.
const readTries = 3

// silent says that a reader was lost while its connection stood: the server
// went silent on it, or something got lost on the way.
func silent(err error) bool {
	return errors.Is(err, jetstream.ErrNoHeartbeat) || errors.Is(err, errGap)
}

// logReader is what a Read knows across connections.
type logReader struct {
	client *Client
	o      ReadOptions
	stream string
	next   uint64 // block to be read
	prev   string // hash of the block before it; "" while it is not known

	// Through the service prev is the hash of the decision before.
	asking  bool
	begun   bool
	after   uint64    // commandSeq: up to it all is read
	caught  bool      // the end was reached
	crowded time.Time // until then it does not ask the service to wait
}

// open finds the way and where to begin.
func (r *logReader) open(ctx context.Context) error {
	if r.asking {
		return nil
	}
	err := r.find(ctx)
	if r.client.o.Way == AnyWay && r.o.Contract != "" && errors.Is(err, ErrNotPermitted) {
		r.asking, err = true, nil
	}
	return err
}

// find looks for the block that holds the first decision wanted: blocks are in
// the order of their commands.
func (r *logReader) find(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, r.client.o.Request)
	defer cancel()
	ctx, end := r.client.unlessRefused(ctx, "$JS.API.STREAM.INFO."+r.stream)
	defer end(&err)
	log, err := r.client.js.Stream(ctx, r.stream)
	if err != nil {
		return err
	}
	state := log.CachedInfo().State
	low, high := state.FirstSeq, state.LastSeq+1 // the first block that ends at From or after it
	for r.o.From > 0 && low < high {
		middle := low + (high-low)/2
		m, err := log.GetMsg(ctx, middle)
		if err != nil {
			return fmt.Errorf("block %d: %w", middle, err)
		}
		h, err := events.ParseHeader(m.Data)
		if err != nil {
			return fmt.Errorf("block %d: %w", middle, err)
		}
		if h.LastCommandSeq < r.o.From {
			low = middle + 1
		} else {
			high = middle
		}
	}
	r.next = max(low, 1)
	return nil
}

// session reads by one way. more is false when the reading is over.
func (r *logReader) session(ctx context.Context, yield func(Entry, error) bool) (more bool, err error) {
	if r.asking {
		return r.history(ctx, yield)
	}
	return r.blocks(ctx, yield)
}

// blocks reads over one consumer of the server.
func (r *logReader) blocks(ctx context.Context, yield func(Entry, error) bool) (more bool, err error) {
	consumer, err := r.consumer(ctx)
	if err != nil {
		return true, &lostReader{err}
	}
	info := consumer.CachedInfo()
	if info.NumPending == 0 && !r.o.Follow {
		return false, nil
	}
	over := false
	err = r.client.read(ctx, r.stream, consumer, logAhead, func(m jetstream.Msg, meta *jetstream.MsgMetadata) (bool, error) {
		more, err := r.block(meta.Sequence.Stream, m.Data(), yield)
		over = !more || err == nil && meta.NumPending == 0 && !r.o.Follow
		return !over, err
	})
	return !over, err
}

const logAhead = 8 // blocks asked for ahead

func (r *logReader) consumer(ctx context.Context) (jetstream.Consumer, error) {
	config := readerConfig("an AIWS log reader")
	config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, r.next
	return r.client.newReader(ctx, r.stream, config)
}

// block gives the decisions of one block.
func (r *logReader) block(seq uint64, data []byte, yield func(Entry, error) bool) (more bool, err error) {
	b, err := events.ParseBlock(data)
	switch {
	case err != nil:
		return true, fmt.Errorf("block %d: %w", seq, err)
	case seq != r.next && r.prev != "":
		return true, fmt.Errorf("block %d is missing, the next one is %d", r.next, seq)
	case r.prev != "" && b.Header.PrevBlockHash != r.prev:
		return true, fmt.Errorf("block %d: %w: it is not chained to the block before it", seq, events.ErrDamaged)
	}
	r.next, r.prev = seq+1, hex.EncodeToString(b.Hash[:])
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Message.Seq < r.o.From || r.o.Contract != "" && e.Decision.Contract != r.o.Contract {
			continue
		}
		if !yield(Entry{Block: seq, Header: b.Header, Entry: *e}, nil) {
			return false, nil
		}
	}
	return true, nil
}
