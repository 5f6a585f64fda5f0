package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Walk is one reading of a log into an empty store. Fields that are left out
// ask for nothing.
type Walk struct {
	Store  loop.Store // gets the rows; empty
	Decide bool       // decide every command again
	Heads  *Heads     // compare with heads that were kept

	// Until says before which command to stop. The block that holds it is
	// then folded in part, for looking only.
	Until func(m *events.Message) bool
	// Met is called when the rows of block At, or nothing for 0, are in the store.
	At  uint64
	Met func(c state.Cursor) error
	// Progress is called after each block with its number and size.
	Progress func(seq uint64, bytes int)

	reducer *reducer.Reducer
	state   *state.State
	cursor  state.Cursor
	pending pending
	summary Summary
}

// Summary counts what a walk has met.
type Summary struct {
	Blocks   uint64
	Commands uint64
	First    uint64 // commandSeq of the first command
	Last     uint64 // and of the last one
	Decided  uint64 // commands decided again
	Pins     uint64 // pinned plans, rehydrated
	Heads    int    // heads that were kept and are in the log
	Skipped  int    // heads of blocks that are of another generation
	Left     []Left // blocks whose commands were not decided again
}

// Left is a run of blocks that were not decided again: other rules decided them.
type Left struct {
	RulesVersion          int64
	FirstBlock, LastBlock uint64
	Commands              uint64
}

// pending is what was folded and is not in the store yet.
type pending struct {
	changes []state.Change
	blocks  int
	bytes   int
}

// Sizes at which pending changes are committed.
const (
	commitBlocks = 64
	commitBytes  = 4 << 20
)

// errStop ends the reading of a log early, as asked.
var errStop = errors.New("stop")

// Run reads the log to its end, or to where it was told to stop. A *Fault says
// what is wrong with the log; the summary is good up to there.
func (w *Walk) Run(ctx context.Context, log loop.Log) (*Summary, error) {
	w.state, w.reducer = state.New(w.Store, state.Cursor{}, 0), reducer.New()
	if w.Store.Cursor() != (state.Cursor{}) {
		return &w.summary, errors.New("audit: the store to fold into is not empty")
	}
	info, err := log.Info(ctx)
	if err != nil {
		return &w.summary, err
	}
	if info.FirstSeq > 1 {
		return &w.summary, &Fault{Block: 1, What: fmt.Sprintf("it is missing: the log begins at block %d", info.FirstSeq), Do: doRestore}
	}
	if w.Met != nil && w.At == 0 {
		if err := w.Met(w.cursor); err != nil {
			return &w.summary, err
		}
	}
	err = loop.ReadBlocks(ctx, log, 1, w.block)
	if errors.Is(err, errStop) {
		return &w.summary, nil
	}
	if err == nil {
		err = w.atEnd(info)
	}
	if err == nil {
		err = w.Heads.atEnd()
	}
	if w.Heads != nil {
		w.summary.Heads, w.summary.Skipped = w.Heads.met, w.Heads.skipped
	}
	if err == nil {
		err = w.commit()
	}
	return &w.summary, err
}

// Cursor is that of the last whole block.
func (w *Walk) Cursor() state.Cursor { return w.cursor }

// block takes the next block of the log.
func (w *Walk) block(b *loop.ReadBlock) error {
	if b.Err != nil {
		return w.unreadable(b)
	}
	if err := w.follows(b); err != nil {
		return err
	}
	decide := w.Decide && w.sameRules(b)
	for i := range b.Block.Entries {
		e := &b.Block.Entries[i]
		if w.Until != nil && w.Until(&e.Message) {
			return w.partly(b.Seq)
		}
		if err := w.entry(b.Seq, e, decide); err != nil {
			return err
		}
	}
	return w.after(b)
}

// unreadable: a block that does not parse is a fault, except one that a newer
// build wrote.
func (w *Walk) unreadable(b *loop.ReadBlock) error {
	if !errors.Is(b.Err, loop.ErrIntegrity) {
		return b.Err
	}
	what := strings.TrimPrefix(b.Err.Error(), fmt.Sprintf("%v: block %d of the log: ", loop.ErrIntegrity, b.Seq))
	return &Fault{Block: b.Seq, What: what, Do: doRestore}
}

// follows checks the header against the block before.
func (w *Walk) follows(b *loop.ReadBlock) error {
	h := &b.Block.Header
	switch {
	case b.Seq != w.cursor.LogSeq+1:
		return &Fault{Block: w.cursor.LogSeq + 1, What: fmt.Sprintf("it is missing; the next one that can be read is %d", b.Seq), Do: doRestore}
	case h.PrevBlockHash != hex.EncodeToString(w.cursor.BlockHash[:]):
		return &Fault{Block: b.Seq, What: fmt.Sprintf("it is chained to %s, and the block before it is %x", h.PrevBlockHash, w.cursor.BlockHash), Do: doRestore}
	case h.FirstCommandSeq <= w.cursor.CommandSeq:
		return &Fault{Block: b.Seq, Command: h.FirstCommandSeq, What: "an earlier block has decided it", Do: doRestore}
	case h.Generation < w.cursor.Generation:
		return &Fault{Block: b.Seq, What: fmt.Sprintf("it is of generation %s, and the block before it of the later %s", h.Generation, w.cursor.Generation), Do: doRestore}
	}
	return nil
}

// sameRules says whether this build can decide the block again, and remembers
// the blocks that it cannot.
func (w *Walk) sameRules(b *loop.ReadBlock) bool {
	h := &b.Block.Header
	if h.RulesVersion == reducer.RulesVersion {
		return true
	}
	last := len(w.summary.Left) - 1
	if last < 0 || w.summary.Left[last].RulesVersion != h.RulesVersion || w.summary.Left[last].LastBlock != b.Seq-1 {
		w.summary.Left = append(w.summary.Left, Left{RulesVersion: h.RulesVersion, FirstBlock: b.Seq})
		last++
	}
	w.summary.Left[last].LastBlock = b.Seq
	w.summary.Left[last].Commands += uint64(h.Commands)
	return false
}

// after takes the changes of a whole block and checks the state hash.
func (w *Walk) after(b *loop.ReadBlock) error {
	h := &b.Block.Header
	changes := w.state.Take(b.Seq)
	if err := w.state.Err(); err != nil {
		return err
	}
	hash := w.state.Hash()
	if h.StateHashVersion == events.StateHashVersion && h.StateHash != hex.EncodeToString(hash[:]) {
		return &Fault{Block: b.Seq, What: fmt.Sprintf("the state after it has the hash %x, the block says %s", hash, h.StateHash), Do: doCompare}
	}
	w.cursor = state.Cursor{
		LogSeq: b.Seq, CommandSeq: h.LastCommandSeq, Generation: h.Generation, BlockHash: b.Block.Hash, StateHash: hash,
	}
	if err := w.Heads.block(w.cursor); err != nil {
		return err
	}
	w.summary.Blocks++
	w.pending.add(changes)
	met := w.Met != nil && b.Seq == w.At
	if met || w.pending.full() {
		if err := w.commit(); err != nil {
			return err
		}
	}
	if w.Progress != nil {
		w.Progress(b.Seq, len(b.Data))
	}
	if met {
		return w.Met(w.cursor)
	}
	return nil
}

// partly keeps what was folded of a block that is not wanted whole. The cursor
// stays behind it: such a store is for looking, not for going on.
func (w *Walk) partly(seq uint64) error {
	w.pending.add(w.state.Take(seq))
	return errors.Join(errStop, w.state.Err(), w.commit())
}

// atEnd makes sure that reading came to the end: a damaged file can make a
// server end early, without an error.
func (w *Walk) atEnd(info loop.LogInfo) error {
	if w.cursor.LogSeq < info.LastSeq {
		return &Fault{Block: w.cursor.LogSeq + 1, What: fmt.Sprintf("it cannot be read, and the log says that it ends at block %d", info.LastSeq), Do: doRestore}
	}
	return nil
}

func (w *Walk) commit() error {
	if w.pending.blocks == 0 {
		return nil
	}
	if err := w.Store.Commit(w.pending.changes, w.cursor); err != nil {
		return err
	}
	for range w.pending.blocks {
		w.state.Committed()
	}
	clear(w.pending.changes)
	w.pending = pending{changes: w.pending.changes[:0]}
	return nil
}

func (p *pending) add(changes []state.Change) {
	for i := range changes {
		p.bytes += len(changes[i].Key) + len(changes[i].Value)
	}
	p.changes = append(p.changes, changes...)
	p.blocks++
}

func (p *pending) full() bool { return p.blocks >= commitBlocks || p.bytes >= commitBytes }
