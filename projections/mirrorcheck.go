package projections

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// ErrNotTheLog marks something derived that is not what the log says. It is
// made again from the log, or from the store.
var ErrNotTheLog = errors.New("not what the log says")

// CheckedMirror is what comparing the KV mirror with a store has found.
type CheckedMirror struct {
	Rows     uint64 // that are in the bucket as the store has them
	Newer    uint64 // that one of the two has in a newer form than the other
	Complete bool   // the bucket says that it has all rows; without that it is made again at the next start
}

// CheckMirror compares each row of the KV bucket with a store that was folded up
// to a block which the bucket may be behind of or ahead of: rows that changed in
// between are not compared. read is called for the bytes read, and ends it with
// its error. An error that wraps ErrNotTheLog says which row differs.
func CheckMirror(ctx context.Context, nc *nats.Conn, store *Store, read func(ctx context.Context, bytes int) error) (CheckedMirror, error) {
	m, err := NewMirror(MirrorOptions{
		Connect: func(context.Context) (*nats.Conn, error) { return nc, nil },
		View:    store.View,
	})
	if err != nil {
		return CheckedMirror{}, err
	}
	return m.check(ctx, nc, read)
}

// Check is CheckMirror of this mirror and its store, while both are written.
func (m *Mirror) Check(ctx context.Context, read func(ctx context.Context, bytes int) error) (CheckedMirror, error) {
	nc, err := m.o.Connect(ctx)
	if err != nil {
		return CheckedMirror{}, fmt.Errorf("the KV mirror: %w", err)
	}
	defer closeAndWait(nc)
	return m.check(ctx, nc, read)
}

// Compare has every row compared with the store again, and what differs written,
// as after an unclean stop. It does not wait for that.
func (m *Mirror) Compare() {
	m.compared.Store(false)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.interrupt != nil {
		m.interrupt()
	}
}

// check compares the bucket with a view that is taken after the cursor was read.
func (m *Mirror) check(ctx context.Context, nc *nats.Conn, read func(ctx context.Context, bytes int) error) (found CheckedMirror, err error) {
	s := &mirrorSession{m: m, ctx: ctx, nc: nc, inbox: nc.NewInbox()}
	if s.js, err = jetstream.New(nc); err != nil {
		return found, err
	}
	if s.acks, err = nc.SubscribeSync(s.inbox); err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, s.acks.Unsubscribe()) }()
	cursor, _, err := m.readCursor(ctx, s.js)
	if err != nil || cursor == nil {
		return found, err
	}
	found.Complete = true
	v, err := m.o.View()
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	ctx, end := v.within(ctx)
	defer end()
	s.ctx = ctx
	at := v.Cursor().CommandSeq
	c := mirrorCheck{s: s, found: &found, behind: min(cursor.Seq, at), ahead: at, read: func(n int) error { return read(ctx, n) }}
	err = c.run(v)
	return found, err
}

// mirrorCheck is one comparison.
type mirrorCheck struct {
	s      *mirrorSession
	found  *CheckedMirror
	behind uint64 // rows that changed after it are perhaps not in the bucket
	ahead  uint64 // values of the bucket that changed after it are not in the store
	read   func(bytes int) error
}

func (c *mirrorCheck) run(v *View) error {
	var marks []mark
	var failed error
	err := state.NewReader(v).ScanMirrored(func(key []byte, changed state.Meta) bool {
		if changed.CommandSeq > c.behind {
			c.found.Newer++
			return true
		}
		if marks = append(marks, mark{changed.CommandSeq, string(key)}); len(marks) == compareRows {
			failed, marks = c.compare(v, marks), marks[:0]
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		err = c.compare(v, marks)
	}
	if err == nil {
		err = c.others(v)
	}
	return err
}

// compare compares some rows with the bucket.
func (c *mirrorCheck) compare(v *View, marks []mark) error {
	rows, err := rowsAt(state.NewReader(v), v, marks)
	if err != nil {
		return err
	}
	have, err := c.s.current(rows)
	if err != nil {
		return err
	}
	size := 0
	for _, row := range rows {
		value, ok := have[row.key]
		size += len(value)
		switch {
		case ok && bytes.Equal(value, row.value):
			c.found.Rows++
		case ok && c.newer(value):
			c.found.Newer++
		case ok:
			return mirrorFault("it has another value of %s than the log says", row.key)
		default:
			return mirrorFault("it lacks %s", row.key)
		}
	}
	return c.read(size)
}

// newer says whether a value of the bucket is of a command after those that the
// store has.
func (c *mirrorCheck) newer(value []byte) bool {
	row, err := wire.ParseRow(value)
	return err == nil && row.Seq > c.ahead
}

// others looks at keys of the bucket that no row stands behind.
func (c *mirrorCheck) others(v *View) error {
	stale, hashed, err := c.s.suspects(v)
	if errors.Is(err, errForgets) {
		return mirrorFault("%s: "+errForgets.Error(), "the keys")
	}
	if err != nil {
		return err
	}
	if len(hashed) > 0 && c.s.m.o.Shards == 1 {
		if err := knownHashes(state.NewReader(v), v, hashed); err != nil {
			return err
		}
		for key := range hashed {
			stale = append(stale, mirrorRow{key: key})
		}
	}
	for len(stale) > 0 {
		some := stale[:min(compareRows, len(stale))]
		have, err := c.s.current(some)
		if err != nil {
			return err
		}
		for _, row := range some {
			if value, ok := have[row.key]; ok && !c.newer(value) {
				return mirrorFault("it has %s, and the log does not say so", row.key)
			}
		}
		stale = stale[len(some):]
	}
	return nil
}

func mirrorFault(format, key string) error {
	return fmt.Errorf("%w: the KV mirror, stream %s: "+format+"; it is derived: start the reducer again, which compares every row and writes what differs",
		ErrNotTheLog, wire.BucketStream, key)
}
