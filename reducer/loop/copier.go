package loop

import (
	"encoding/hex"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// copier brings the archive up to the log. It copies a block only when it is
// whole and the one after it, or the cursor at the end, names its hash: what is
// damaged must not get into the second copy.
type copier struct {
	archive Archive    // nil: there is none
	last    uint64     // block that the archive ends with
	held    *ReadBlock // the next one, not known yet to be the one that is named
}

// add takes the next block of the log.
func (c *copier) add(b *ReadBlock) error {
	if c.archive == nil || b.Seq <= c.last {
		return nil
	}
	if err := c.release(b.Seq-1, b.Block.Header.PrevBlockHash); err != nil {
		return err
	}
	c.held = b
	return nil
}

// finish copies the last block of the log, which is that of the cursor.
func (c *copier) finish(end state.Cursor) error {
	if c.archive == nil || end.LogSeq <= c.last {
		return nil
	}
	return c.release(end.LogSeq, hex.EncodeToString(end.BlockHash[:]))
}

// release copies the block that is held, which must be the one named.
func (c *copier) release(seq uint64, hash string) error {
	if c.held == nil {
		if seq == c.last {
			return nil
		}
		return fmt.Errorf("%w: block %d of the log cannot be read, and the archive does not have it", ErrIntegrity, c.last+1)
	}
	if c.held.Seq != seq || hex.EncodeToString(c.held.Block.Hash[:]) != hash {
		return fmt.Errorf("%w: block %d of the log is not the one that is named after it", ErrIntegrity, c.held.Seq)
	}
	if err := c.archive.Append(seq, c.held.Data); err != nil {
		return fmt.Errorf("archive block %d: %w", seq, err)
	}
	c.last, c.held = seq, nil
	return nil
}
