package transfer

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Log is where a log is written.
type Log interface {
	Append(ctx context.Context, last uint64, block []byte) error
}

// Copy copies a log that begins with block 1 to an empty one, byte for byte, up
// to a block; 0 is all. It takes a block only if it is whole, the next one, and
// chained to the one before. progress is called for each, with its size. last is
// the last block copied, also where an error ended it.
func Copy(ctx context.Context, from loop.Log, to Log, until uint64, progress func(bytes int)) (last uint64, err error) {
	hash := events.ZeroHash
	err = from.Read(ctx, 1, func(seq uint64, block []byte) error {
		h, err := events.ParseHeader(block)
		switch {
		case errors.Is(err, events.ErrDamaged):
			return fmt.Errorf("%w: block %d: %w", loop.ErrIntegrity, seq, err)
		case err != nil:
			return fmt.Errorf("block %d: %w", seq, err)
		case seq != last+1:
			return fmt.Errorf("%w: block %d is missing", loop.ErrIntegrity, last+1)
		case h.PrevBlockHash != hash:
			return fmt.Errorf("%w: block %d is not chained to the block before it", loop.ErrIntegrity, seq)
		}
		if err := to.Append(ctx, last, block); err != nil {
			return err
		}
		sum := events.BlockHash(block)
		last, hash = seq, hex.EncodeToString(sum[:])
		if progress(len(block)); last == until {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return last, nil
	}
	if err != nil {
		return last, err
	}
	info, err := from.Info(ctx)
	switch {
	case err != nil:
		return last, err
	case last < info.LastSeq:
		return last, fmt.Errorf("%w: block %d cannot be read, and there are %d", loop.ErrIntegrity, last+1, info.LastSeq)
	case last < until:
		return last, fmt.Errorf("there is no block %d, the last one is %d", until, last)
	}
	return last, nil
}
