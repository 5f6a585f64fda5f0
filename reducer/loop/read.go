package loop

import (
	"context"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// readAhead is how many parsed blocks wait for the one that folds them.
const readAhead = 4

// ReadBlock is a block as the log has it. Err says why it did not parse.
type ReadBlock struct {
	Seq   uint64
	Data  []byte
	Block *events.Block
	Err   error
}

// ReadBlocks calls f for each block of log from a sequence to the end, in
// order. Reading and parsing go on beside f. An error of f ends it.
func ReadBlocks(ctx context.Context, log Log, from uint64, f func(*ReadBlock) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	blocks := make(chan *ReadBlock, readAhead)
	ended := make(chan error, 1)
	go func() {
		defer close(blocks)
		ended <- log.Read(ctx, from, func(seq uint64, data []byte) error {
			b := &ReadBlock{Seq: seq, Data: data}
			block, err := events.ParseBlock(data)
			if b.Block = block; err != nil {
				b.Err = blockError(seq, err)
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case blocks <- b:
				return nil
			}
		})
	}()
	for b := range blocks {
		if err := f(b); err != nil {
			cancel()
			for range blocks { // let the reader end
			}
			return err
		}
	}
	return <-ended
}
