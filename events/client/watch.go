package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// WatchOptions say what to watch: the rows of the KV mirror.
type WatchOptions struct {
	Contract   string // "" for all that this user may see
	Projection string // one of wire.Mirrored; "" for all
	Key        string // one document of a contract and a projection; "" for all

	// Since leaves out changes of commands before it. It is how to resume: keep
	// the Seq of the last change that you have dealt with, and watch Since it;
	// what else that command changed comes again. Of each key there is only the
	// last change.
	Since uint64
	// New leaves out everything that is there when the watch begins.
	New bool
	// Once ends the watch where it has given what was there when it began.
	Once bool
	// Marks also gives a change of the kind CaughtUp at that place.
	Marks bool
}

// ChangeKind tells changes apart.
type ChangeKind int

// The kinds of change.
const (
	Changed  ChangeKind = iota // the row is as Row says
	Deleted                    // the row is gone: the mirror was built anew
	CaughtUp                   // what was there has been given; see WatchOptions.Marks
)

// Change is one row that a decision changed. Changes come in the order of the
// commands that made them.
type Change struct {
	Kind       ChangeKind
	Contract   string
	Projection string
	Key        string
	Hashed     bool // Contract or Key has a hash in the place of a long id that is not known here

	Seq   uint64          // commandSeq of the decision that changed it last
	Block uint64          // sequence on the log of its block
	At    string          // the ledger's now at that decision, milliseconds
	Row   json.RawMessage // as stored: waits do not expire, grants are not revoked through others
}

// Watch gives the rows that are there and then, without a gap, each change as
// it happens, until ctx ends or the loop is broken off. It survives lost
// connections and a reducer that starts again: it goes on where it was. It
// reads no faster than the loop does, and the server keeps nothing for it but
// the last value of each key. An error ends it.
//
// A user that may not read the bucket's stream watches through the service: the
// same, of one contract.
func (c *Client) Watch(ctx context.Context, o WatchOptions) iter.Seq2[Change, error] {
	return func(yield func(Change, error) bool) {
		w := &watch{client: c, o: o, since: o.Since, seen: map[string]bool{}, asking: c.o.Way == Service}
		if err := w.check(); err != nil {
			yield(Change{}, err)
			return
		}
		for tries := 0; ctx.Err() == nil; tries++ {
			more, err := w.session(ctx, yield)
			if !more || ctx.Err() != nil {
				return
			}
			if w.turn(err) {
				continue
			}
			if err != nil && !w.begun && !(busy(err) && tries < pageTries) || c.nc.IsClosed() {
				yield(Change{}, fmt.Errorf("watch: %w", w.explain(err)))
				return
			}
			pause(ctx)
		}
	}
}

// watch is what a Watch knows across connections.
type watch struct {
	client *Client
	o      WatchOptions

	begun   bool      // it has worked once
	started time.Time // the server's clock when it began
	caught  bool      // what was there at the beginning has been given
	since   uint64    // of the last change given, or as asked for
	seen    map[string]bool

	asking  bool      // through the service
	after   string    // the place that the service gave
	crowded time.Time // until then it does not ask the service to wait
}

func (w *watch) check() error {
	if w.o.Key != "" && (w.o.Contract == "" || w.o.Projection == "") {
		return errors.New("watch: a key needs a contract and a projection")
	}
	for _, p := range wire.Mirrored {
		if w.o.Projection == "" || w.o.Projection == p {
			return nil
		}
	}
	return fmt.Errorf("watch: there is no projection %q in the mirror; there are %s", w.o.Projection, strings.Join(wire.Mirrored, ", "))
}

// session reads by one way. more says that the watch goes on after it.
func (w *watch) session(ctx context.Context, yield func(Change, error) bool) (more bool, err error) {
	if w.asking {
		return w.ask(ctx, yield)
	}
	return w.stream(ctx, yield)
}

// stream reads over one consumer of the server.
func (w *watch) stream(ctx context.Context, yield func(Change, error) bool) (more bool, err error) {
	consumer, err := w.consumer(ctx)
	if err != nil {
		return true, err
	}
	info := consumer.CachedInfo()
	if !w.begun {
		w.begun, w.started = true, info.Created
	}
	if info.NumPending == 0 && !w.catchUp(yield) {
		return false, nil
	}
	over := false
	err = w.client.read(ctx, wire.BucketStream, consumer, watchAhead, func(m jetstream.Msg, meta *jetstream.MsgMetadata) (bool, error) {
		change, wanted, err := w.change(m)
		if err != nil {
			over = true
			yield(Change{}, err)
			return false, nil
		}
		over = wanted && !yield(change, nil) || meta.NumPending == 0 && !w.catchUp(yield)
		return !over, nil
	})
	return !over, err
}

const watchAhead = 256 // messages asked for ahead

// consumer makes an ephemeral reader on the server. With one filter, the
// server's permissions can bound what a user reads.
func (w *watch) consumer(ctx context.Context) (jetstream.Consumer, error) {
	config := readerConfig("an AIWS watcher")
	config.FilterSubject = wire.Filter(w.o.Contract, w.o.Projection)
	if w.o.Key != "" {
		config.FilterSubject = wire.BucketPrefix + wire.Key(w.o.Contract, w.o.Projection, w.o.Key)
	}
	switch {
	case !w.o.New || w.since > w.o.Since: // everything; what was given is left out
		config.DeliverPolicy = jetstream.DeliverAllPolicy
	case w.begun:
		config.DeliverPolicy, config.OptStartTime = jetstream.DeliverByStartTimePolicy, &w.started
	default:
		config.DeliverPolicy = jetstream.DeliverNewPolicy
	}
	return w.client.newReader(ctx, wire.BucketStream, config)
}

// catchUp notes that what was there has been given; false ends the watch.
func (w *watch) catchUp(yield func(Change, error) bool) bool {
	if w.caught {
		return true
	}
	w.caught = true
	if w.o.Marks && !yield(Change{Kind: CaughtUp, Seq: w.since}, nil) {
		return false
	}
	return !w.o.Once
}

// change reads a message; wanted is false for what was given before.
func (w *watch) change(m jetstream.Msg) (c Change, wanted bool, err error) {
	key := strings.TrimPrefix(m.Subject(), wire.BucketPrefix)
	place, ok := wire.ParseKey(key)
	if !ok {
		return c, false, nil // of a later version
	}
	if m.Headers().Get("KV-Operation") != "" {
		c.Kind = Deleted
		c.name(place.Named(w.o.Contract, nil))
		return c, w.caught, nil
	}
	row, err := wire.ParseRow(m.Data())
	if err != nil {
		return c, false, fmt.Errorf("watch: %s: %w", key, err)
	}
	c.Seq, c.Block, c.At, c.Row = row.Seq, row.Block, row.At, row.Row
	c.name(place.Named(w.o.Contract, row.Row))
	return c, w.fresh(row.Seq, key), nil
}

// fresh says whether a change was not given before. Changes come in the order of
// their commands.
func (w *watch) fresh(seq uint64, key string) bool {
	if seq < w.since || seq == w.since && w.seen[key] {
		return false
	}
	if seq > w.since {
		w.since = seq
		clear(w.seen)
	}
	w.seen[key] = true
	return true
}

func (c *Change) name(place wire.Place) {
	c.Contract, c.Projection, c.Key = place.Contract, place.Projection, place.Key
	c.Hashed = place.ContractHashed || place.KeyHashed
}
