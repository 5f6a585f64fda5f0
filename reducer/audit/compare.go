package audit

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// CompareAt compares a store with a replay of the log up to the same block.
func CompareAt(cursor state.Cursor, live state.Rows, at state.Cursor, replayed state.Rows) error {
	switch {
	case cursor.BlockHash != at.BlockHash:
		return &Fault{Block: at.LogSeq, Do: doReplay,
			What: fmt.Sprintf("the store was folded from another block, %x, than the log has, %x", cursor.BlockHash, at.BlockHash)}
	case cursor.StateHash != at.StateHash || cursor.CommandSeq != at.CommandSeq:
		return &Fault{Block: at.LogSeq, Do: doReplay,
			What: fmt.Sprintf("the cursor of the store says command %d and state hash %x, the log says %d and %x",
				cursor.CommandSeq, cursor.StateHash, at.CommandSeq, at.StateHash)}
	}
	if err := ComparePins(RowsOf(live), replayed); err != nil {
		return err
	}
	return Compare(live, replayed)
}

// CompareDigest compares the digest of a running reducer with a replay up to
// the same block.
func CompareDigest(live string, replayed state.Rows) error {
	digest, err := Digest(replayed)
	if err != nil {
		return err
	}
	if digest != live {
		return &Fault{What: fmt.Sprintf("the running reducer has the state digest %s, a replay of its log has %s", live, digest), Do: doReplay}
	}
	return nil
}

// Ahead is the fault of a store that is ahead of its log.
func Ahead(store, log uint64) error {
	return &Fault{Block: store, Do: doRestore,
		What: fmt.Sprintf("the store holds it, and the log ends at block %d: the log was replaced by an older one, or has lost its end", log)}
}
