package transfer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// entryRoom is what a command and its decision take in a block beside the body.
const entryRoom = 2 << 10

// Build writes commands as the blocks of an empty log. What has a decision keeps
// it, what has none is decided. rows is an empty store for the state meanwhile.
// The header says of which generation and rules the blocks are, and who writes
// them; the rest is filled in. progress is called for each block with its
// commands.
func Build(ctx context.Context, in Entries, header events.Header, rows loop.Store, to Log, progress func(commands int)) error {
	b := &building{
		ctx: ctx, header: header, rows: rows, to: to, progress: progress,
		state: state.New(rows, state.Cursor{}, 0), decider: reducer.New(),
	}
	b.header.PrevBlockHash = events.ZeroHash
	for e, err := range in {
		if err != nil {
			return err
		}
		if err := b.add(e); err != nil {
			return fmt.Errorf("command %d: %w", e.Message.Seq, err)
		}
	}
	return b.seal()
}

// building is a log while it is made.
type building struct {
	ctx      context.Context
	header   events.Header
	rows     loop.Store
	to       Log
	progress func(int)

	state   *state.State
	decider *reducer.Reducer
	block   *events.Builder // nil: none is begun
	cursor  state.Cursor
	last    uint64 // command added last
}

func (b *building) add(e *events.Entry) error {
	m := &e.Message
	if m.Seq <= b.last {
		return fmt.Errorf("it follows command %d", b.last)
	}
	if full := b.block != nil && (b.block.Commands() >= events.MaxBlockCommands ||
		b.block.Size()+2*len(m.Body)+entryRoom > events.MaxBlockBytes); full {
		if err := b.seal(); err != nil {
			return err
		}
	}
	if b.block == nil {
		b.header.Time = strconv.FormatInt(stamp(), 10)
		b.block = events.NewBlock(b.header)
	}
	d, err := b.step(m, e.Decision)
	if err != nil {
		return err
	}
	b.block.Add(m, d)
	b.last = m.Seq
	return nil
}

// step folds the decision that was recorded, or makes one. A recorded one need
// not fit: then it says so instead of panicking.
func (b *building) step(m *events.Message, recorded *events.Decision) (d *events.Decision, err error) {
	if recorded == nil {
		return b.decider.Step(b.state, m), b.state.Err()
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: its decision does not fit what came before: %v", loop.ErrIntegrity, cause)
		}
	}()
	b.state.Apply(m, recorded)
	return recorded, b.state.Err()
}

// seal writes the block that is begun.
func (b *building) seal() error {
	if b.block == nil {
		return nil
	}
	seq := b.cursor.LogSeq + 1
	changes := b.state.Take(seq)
	stateHash := b.state.Hash()
	commands := b.block.Commands()
	data, hash := b.block.Seal(stateHash)
	b.cursor = state.Cursor{LogSeq: seq, CommandSeq: b.last, Generation: b.header.Generation, BlockHash: hash, StateHash: stateHash}
	if err := errors.Join(b.state.Err(), b.rows.Commit(changes, b.cursor)); err != nil {
		return err
	}
	b.state.Committed()
	if err := b.to.Append(b.ctx, seq-1, data); err != nil {
		return err
	}
	b.header.PrevBlockHash = hex.EncodeToString(hash[:])
	b.block = nil
	b.progress(commands)
	return nil
}
