package loop

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Sizes at which a Folder commits: rows wait in memory until then.
const (
	commitBlocks = 64
	commitBytes  = 4 << 20
)

// Folder folds the blocks of a log into a store without deciding anything. It
// takes a block only if it is the next one, whole, and chained to the block
// before, and if the state after it has the hash that the block names. A log
// that was restored has blocks of several generations, the older ones first:
// generations are ULIDs, and a later one is greater.
type Folder struct {
	Shard, Shards int64
	RulesVersion  int64         // a block under newer rules is ErrConfig; 0 takes all
	Folded        func(*Folded) // optional; called for each block once it is committed

	store   Store
	state   *state.State
	began   uint64       // block that the store held at first
	cursor  state.Cursor // of the last block folded
	changes []state.Change
	bytes   int
	waiting []*Folded // blocks folded, not committed
}

// NewFolder returns a folder that continues where the store's cursor is.
func NewFolder(store Store, cacheRows int) *Folder {
	cursor := store.Cursor()
	return &Folder{Shards: 1, store: store, began: cursor.LogSeq, cursor: cursor, state: state.New(store, cursor, cacheRows)}
}

// Cursor is that of the last block folded.
func (f *Folder) Cursor() state.Cursor { return f.cursor }

// State is the state after the last block folded. It is the folder's.
func (f *Folder) State() *state.State { return f.state }

// Fold folds the block at sequence seq of the log. Its rows are in the store
// after the next Commit, which Fold calls now and then.
func (f *Folder) Fold(seq uint64, data []byte) error {
	block, err := events.ParseBlock(data)
	if err != nil {
		return blockError(seq, err)
	}
	return f.FoldParsed(seq, block, len(data))
}

// FoldParsed is Fold of a block that was parsed already; size is its length.
func (f *Folder) FoldParsed(seq uint64, block *events.Block, size int) error {
	if err := f.check(seq, &block.Header); err != nil {
		return err
	}
	folded := &Folded{Bytes: size, Replayed: true}
	if err := f.apply(seq, block, folded); err != nil {
		return err
	}
	cursor, err := f.after(seq, block)
	if err != nil {
		return err
	}
	folded.Cursor, f.cursor = cursor, cursor
	for _, change := range folded.Changes {
		f.bytes += len(change.Key) + len(change.Value)
	}
	f.changes = append(f.changes, folded.Changes...)
	f.waiting = append(f.waiting, folded)
	if len(f.waiting) < commitBlocks && f.bytes < commitBytes {
		return nil
	}
	return f.Commit()
}

// FoldRead is Fold of a block that ReadBlocks gave. The log is asked for the
// block after it where a header is in doubt, see confirmSetup.
func (f *Folder) FoldRead(ctx context.Context, log Log, b *ReadBlock) error {
	if b.Err != nil {
		return b.Err
	}
	if err := f.FoldParsed(b.Seq, b.Block, len(b.Data)); err != nil {
		return confirmSetup(ctx, log, b, err)
	}
	return nil
}

// apply folds the decisions of a block into the state.
func (f *Folder) apply(seq uint64, block *events.Block, folded *Folded) error {
	return unpoisoned(f.state, func() {
		for i := range block.Entries {
			entry := &block.Entries[i]
			f.state.Apply(&entry.Message, entry.Decision)
			if f.Folded != nil {
				folded.Messages = append(folded.Messages, entry.Message)
				folded.Decisions = append(folded.Decisions, entry.Decision)
			}
		}
		folded.Changes = f.state.Take(seq)
	})
}

// Commit writes the rows of all blocks folded so far, with the cursor of the
// last, in one batch.
func (f *Folder) Commit() error {
	if len(f.waiting) == 0 {
		return nil
	}
	if err := f.store.Commit(f.changes, f.cursor); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	for _, folded := range f.waiting {
		f.state.Committed()
		if f.Folded != nil {
			f.Folded(folded)
		}
	}
	clear(f.waiting)
	clear(f.changes)
	f.waiting, f.changes, f.bytes = f.waiting[:0], f.changes[:0], 0
	return nil
}

// check compares the header with what must come next.
func (f *Folder) check(seq uint64, h *events.Header) error {
	switch {
	case seq != f.cursor.LogSeq+1:
		return fmt.Errorf("%w: block %d follows block %d of the log: blocks are missing", ErrIntegrity, seq, f.cursor.LogSeq)
	case h.PrevBlockHash != hex.EncodeToString(f.cursor.BlockHash[:]) && !mutate("chain"):
		return fmt.Errorf("%w: block %d is not chained to the block before it", ErrIntegrity, seq)
	case h.FirstCommandSeq <= f.cursor.CommandSeq:
		return fmt.Errorf("%w: block %d decides command %d, which block %d or one before it decided",
			ErrIntegrity, seq, h.FirstCommandSeq, f.cursor.LogSeq)
	case h.Generation < f.cursor.Generation:
		return fmt.Errorf("%w: block %d is of generation %s, the block before it is of the later %s: a reducer of an old log wrote it",
			ErrIntegrity, seq, h.Generation, f.cursor.Generation)
	}
	return checkSetup(seq, h, f.Shard, f.Shards, f.RulesVersion)
}

// checkSetup makes sure that this reducer may extend a log with such a block:
// the log is of its shard, and was not decided under newer rules. rules 0 takes
// all.
func checkSetup(seq uint64, h *events.Header, shard, shards, rules int64) error {
	switch {
	case h.Shard != shard || h.Shards != shards:
		return fmt.Errorf("%w: the log is of shard %d of %d, this reducer is set up for shard %d of %d",
			ErrConfig, h.Shard, h.Shards, shard, shards)
	case rules > 0 && h.RulesVersion > rules:
		return fmt.Errorf("%w: block %d was decided under rules version %d, this build has %d: use a newer build",
			ErrConfig, seq, h.RulesVersion, rules)
	}
	return nil
}

// confirmSetup looks twice at a set-up that is not ours, where the header that
// says so has no checksum of its own: the block after it names the hash of what
// was written. Without one there is nothing to compare with.
func confirmSetup(ctx context.Context, log Log, b *ReadBlock, err error) error {
	if !errors.Is(err, ErrConfig) || b.Block.Header.Sealed() {
		return err
	}
	data, missing := log.Get(ctx, b.Seq+1)
	if missing != nil {
		return err
	}
	next, damaged := events.ParseHeader(data)
	if damaged != nil || next.PrevBlockHash == hex.EncodeToString(b.Block.Hash[:]) {
		return err
	}
	return fmt.Errorf("%w: block %d of the log: %w: its header is not the one that block %d names", ErrIntegrity, b.Seq, events.ErrDamaged, b.Seq+1)
}

// after is the cursor after the block; the state must agree with it. The hash
// of an unknown version is not compared.
func (f *Folder) after(seq uint64, block *events.Block) (state.Cursor, error) {
	h := &block.Header
	hash := f.state.Hash()
	if h.StateHashVersion == events.StateHashVersion && h.StateHash != hex.EncodeToString(hash[:]) {
		return state.Cursor{}, f.disagree(seq, h, hash)
	}
	return state.Cursor{
		LogSeq: seq, CommandSeq: h.LastCommandSeq, Generation: h.Generation, BlockHash: block.Hash, StateHash: hash,
	}, nil
}

// disagree is the error for another state than the block names. Rows that were
// there before may be wrong without anybody knowing, so they are built again
// first; if that does not help it is the log, or the rules of this build.
func (f *Folder) disagree(seq uint64, h *events.Header, hash [32]byte) error {
	text := fmt.Sprintf("after block %d (commands %d to %d) the state hash is %x, the block says %s",
		seq, h.FirstCommandSeq, h.LastCommandSeq, hash, h.StateHash)
	if f.began > 0 {
		return &staleRows{text}
	}
	return fmt.Errorf("%w: %s: this build does not agree with the one that wrote the log", ErrIntegrity, text)
}

// staleRows says that rows of a store are not what the log says.
type staleRows struct{ text string }

// Error implements error.
func (e *staleRows) Error() string {
	return "store: " + e.text + ": the rows of before are damaged, or this build does not agree with the one that wrote the log"
}

// Unwrap returns the kind of error.
func (e *staleRows) Unwrap() error { return ErrStore }

// Damaged implements [Damaged].
func (e *staleRows) Damaged() bool { return true }

func blockError(seq uint64, err error) error {
	if errors.Is(err, events.ErrDamaged) {
		return fmt.Errorf("%w: block %d of the log: %w", ErrIntegrity, seq, err)
	}
	return fmt.Errorf("%w: block %d of the log: %w", ErrConfig, seq, err)
}
