package loop

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// recordRoom is what a decision and its line take beside the body, usually.
const recordRoom = 2 << 10

// decide takes whatever is waiting and decides it into the open block, without
// a timer. While a block is being written it goes on until that is stored, so
// that the next block collects what arrives meanwhile.
func (t *Term) decide(ctx context.Context) error {
	began := t.o.Clock.Now()
	for {
		room, err := t.takeAll()
		if err != nil {
			return err
		}
		if t.open != nil {
			t.open.decide += t.o.Clock.Now().Sub(began)
		}
		if t.write == nil {
			return nil
		}
		wake := t.feed.Wake()
		if !room {
			wake = nil // the open block is full: only the write matters
		}
		select {
		case <-t.write.done:
			return nil
		default:
		}
		select {
		case <-t.write.done:
			return nil
		case <-ctx.Done():
			return nil
		case <-wake:
		}
		began = t.o.Clock.Now()
	}
}

// takeAll decides commands until none waits, which is true, or until the open
// block takes no more.
func (t *Term) takeAll() (room bool, err error) {
	for {
		if len(t.queue) == 0 {
			if t.queue, err = t.feed.Take(t.limit); err != nil {
				return false, err
			}
		}
		if len(t.queue) == 0 {
			return true, nil
		}
		for len(t.queue) > 0 {
			taken, err := t.take(&t.queue[0])
			if !taken || err != nil {
				return false, err
			}
			t.queue = t.queue[1:]
		}
	}
}

// take decides one command into the open block; false: not now.
func (t *Term) take(c *Command) (bool, error) {
	if c.Seq <= t.decidedSeq() && !mutate("pass over") {
		return true, nil // decided before; the inbox was not purged yet
	}
	if !t.stampOK(c) {
		return false, nil
	}
	if t.open != nil && t.full(c) {
		return false, nil
	}
	if t.open == nil {
		t.open = t.newBlock()
	}
	d, err := t.step(&c.Message)
	if err != nil {
		return false, err
	}
	t.open.builder.Add(&c.Message, d)
	t.open.commands = append(t.open.commands, *c)
	t.open.decisions = append(t.open.decisions, d)
	return true, nil
}

// step decides one message.
func (t *Term) step(m *events.Message) (d *events.Decision, err error) {
	if err := unpoisoned(t.state, func() { d = t.decider.Step(t.state, m) }); err != nil {
		return nil, err
	}
	return d, t.pins.err
}

// unpoisoned calls f, which reads s. After a read error rows look absent that
// are there, and f may stumble over that: then its panic says nothing but the
// error, which is returned instead.
func unpoisoned(s *state.State, f func()) (err error) {
	defer func() {
		poisoned := s.Err()
		if poisoned == nil {
			return
		}
		_ = recover() // of a rule or an event that found an impossible state
		err = fmt.Errorf("%w: %w", ErrStore, poisoned)
	}()
	f()
	return nil
}

// decidedSeq is the last command that has a decision, on the log or not yet.
func (t *Term) decidedSeq() uint64 {
	if t.open != nil && len(t.open.commands) > 0 {
		return t.open.commands[len(t.open.commands)-1].Seq
	}
	return t.last.CommandSeq
}

// full says whether the open block should not take c. How large the decision
// will be is not known before it is made, so a block may pass its bound by one
// decision; the server's own bound is far above.
func (t *Term) full(c *Command) bool {
	return t.open.builder.Commands() >= t.limit ||
		t.open.builder.Size()+2*len(c.Body)+recordRoom > t.o.Limits.BlockBytes
}

// stampOK stalls the shard on a stamp that is far ahead of the clock: one such
// command would move its ledger's now, and expire all in it, for good.
func (t *Term) stampOK(c *Command) bool {
	stamp := time.Unix(0, c.Time)
	ahead := stamp.Sub(t.o.Clock.Now())
	t.stalled = ahead > t.o.Limits.Ahead
	if t.stalled {
		t.o.Status.set(PhaseStalled, fmt.Sprintf("command %d has the time %s, %s ahead of this machine's clock: "+
			"set the clocks right; nothing is decided until then", c.Seq, stamp.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
	}
	return !t.stalled
}

func (t *Term) newBlock() *block {
	header := events.Header{
		RulesVersion:  t.o.RulesVersion,
		Generation:    t.generation,
		Writer:        t.writer,
		Build:         t.o.Build,
		Shard:         t.o.Shard,
		Shards:        t.o.Shards,
		Time:          strconv.FormatInt(t.o.Clock.Now().UnixMilli(), 10),
		PrevBlockHash: hex.EncodeToString(t.last.BlockHash[:]),
	}
	return &block{builder: events.NewBlockOf(header, t.room)}
}

// seal closes the open block: from here on its bytes are what they are, however
// often they are sent. It returns nil when nothing was decided.
func (t *Term) seal() *block {
	b := t.open
	if b == nil {
		return nil
	}
	t.open = nil
	seq := t.last.LogSeq + 1
	b.changes = t.state.Take(seq)
	stateHash := t.state.Hash()
	var hash [32]byte
	b.data, hash = b.builder.Seal(stateHash)
	t.room = max(b.builder.Size(), t.room-t.room/8) // the next one is about as large
	b.cursor = state.Cursor{
		LogSeq: seq, CommandSeq: b.commands[len(b.commands)-1].Seq, Generation: t.generation,
		BlockHash: hash, StateHash: stateHash,
	}
	t.last = b.cursor
	return b
}
