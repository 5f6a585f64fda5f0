package audit

import (
	"encoding/hex"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// Chain follows a log block by block, and checks that each is whole, the next
// one, and chained to the one before: less than a Walk, and cheap. The zero
// Chain is before the first block.
type Chain struct {
	Seq  uint64   // of the last block
	Hash [32]byte // of the last block
}

// Next takes the next block. The error is a *Fault, and leaves the Chain where
// it was.
func (c *Chain) Next(seq uint64, data []byte) error {
	if seq != c.Seq+1 {
		return &Fault{Block: c.Seq + 1, What: fmt.Sprintf("it is missing; the next one that can be read is %d", seq), Do: doRestore}
	}
	h, err := events.ParseHeader(data)
	if err != nil {
		return &Fault{Block: seq, What: err.Error(), Do: doRestore}
	}
	if h.PrevBlockHash != hex.EncodeToString(c.Hash[:]) {
		return &Fault{Block: seq, What: fmt.Sprintf("it is chained to %s, and the block before it is %x", h.PrevBlockHash, c.Hash), Do: doRestore}
	}
	c.Seq, c.Hash = seq, events.BlockHash(data)
	return nil
}

// Ends checks that the chain has come to a block with a hash.
func (c *Chain) Ends(seq uint64, hash [32]byte) error {
	switch {
	case c.Seq < seq:
		return &Fault{Block: c.Seq + 1, What: fmt.Sprintf("it cannot be read, and block %d was there", seq), Do: doRestore}
	case c.Seq == seq && c.Hash != hash:
		return &Fault{Block: seq, What: fmt.Sprintf("it has the hash %x, the store was folded from %x", c.Hash, hash), Do: doRestore}
	}
	return nil
}
