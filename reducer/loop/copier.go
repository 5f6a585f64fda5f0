package loop

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// copier brings the archive up to the log. It copies a block only when it is
// whole and the one after it, or the cursor at the end, names its hash: what is
// damaged must not get into the second copy.
type copier struct {
	to   func(seq uint64, block []byte) error // nil: there is no archive
	last uint64                               // block that the archive ends with
	held *ReadBlock                           // the next one, not known yet to be the one that is named
}

func newCopier(archive Archive, last uint64) *copier {
	if archive == nil {
		return &copier{}
	}
	return &copier{to: archive.Append, last: last}
}

// add takes the next block of the log.
func (c *copier) add(b *ReadBlock) error {
	if c.to == nil || b.Seq <= c.last {
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
	if c.to == nil || end.LogSeq <= c.last {
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
	if err := c.to(seq, c.held.Data); err != nil {
		return fmt.Errorf("archive block %d: %w", seq, err)
	}
	c.last, c.held = seq, nil
	return nil
}

// errCopied ends the reading of a log behind the last block wanted.
var errCopied = errors.New("copied")

// CopyBlocks calls to for the blocks of a log after last up to the end, whose
// hash is known. It hands out none that is damaged or that the next one does
// not name, which is an integrity error.
func CopyBlocks(ctx context.Context, log Log, last uint64, end state.Cursor, to func(seq uint64, block []byte) error) error {
	c := copier{to: to, last: last}
	err := ReadBlocks(ctx, log, last+1, func(b *ReadBlock) error {
		switch {
		case b.Seq > end.LogSeq:
			return errCopied
		case b.Err != nil:
			return b.Err
		}
		return c.add(b)
	})
	if err != nil && !errors.Is(err, errCopied) {
		return err
	}
	return c.finish(end)
}
