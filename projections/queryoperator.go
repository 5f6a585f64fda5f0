package projections

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// heads gives a page of the chain heads of the ledgers, and the log's.
func (q *queries) heads(ctx context.Context, _ string, data []byte) (any, error) {
	var request wire.HeadsRequest
	if err := wire.Decode(data, &request); err != nil {
		return nil, err
	}
	limit := request.Limit
	if limit <= 0 || limit > wire.MaxPage {
		limit = wire.MaxPage
	}
	v, err := q.o.View()
	if err != nil {
		return nil, wire.Errorf(wire.Unavailable, "%v", err)
	}
	defer v.Close() //nolint:errcheck // it was only read
	found, err := state.NewReader(v).Heads(request.After, limit)
	if err != nil {
		return nil, err
	}
	c := v.Cursor()
	answer := wire.HeadsResponse{
		AsOf: asOf(c), BlockHash: hex.EncodeToString(c.BlockHash[:]), StateHash: hex.EncodeToString(c.StateHash[:]),
		Generation: c.Generation, Heads: make([]wire.Head, len(found)),
	}
	for i, h := range found {
		answer.Heads[i] = wire.Head{Ledger: h.Ledger, Seq: h.CommandSeq, Block: h.LogSeq, Hash: h.Hash}
	}
	if len(found) == limit {
		answer.Next = found[limit-1].Ledger
	}
	return answer, ctx.Err()
}

// checkpoint makes a checkpoint now.
func (q *queries) checkpoint(_ context.Context, _ string, data []byte) (any, error) {
	if err := wire.Decode(data, &wire.CheckpointRequest{}); err != nil {
		return nil, err
	}
	if q.o.Checkpoint == nil {
		return nil, wire.Errorf(wire.Unsupported, "no checkpoints are kept here")
	}
	made, err := q.o.Checkpoint()
	if err != nil {
		return nil, wire.Errorf(wire.Unavailable, "%v", err)
	}
	return made.Response(), nil
}

// Response is the checkpoint for whoever asked for it.
func (c *Checkpoint) Response() wire.CheckpointResponse {
	return wire.CheckpointResponse{
		AsOf: wire.AsOf{Block: c.Block, Seq: c.CommandSeq}, BlockHash: c.BlockHash, StateHash: c.StateHash,
		Bytes: c.Bytes(), Made: c.Made.Format(time.RFC3339),
	}
}

// rows is the digest of everything that the store holds, for a scrub.
func (q *queries) rows(ctx context.Context, _ string, data []byte) (any, error) {
	if err := wire.Decode(data, &wire.RowsRequest{}); err != nil {
		return nil, err
	}
	v, err := q.o.View()
	if err != nil {
		return nil, wire.Errorf(wire.Unavailable, "%v", err)
	}
	defer v.Close() //nolint:errcheck // it was only read
	digest := NewRowsDigest()
	err = v.Scan([]byte{1}, []byte{0xFF}, false, func(key, value []byte) bool {
		digest.Add(key, value)
		return ctx.Err() == nil
	})
	if err != nil {
		return nil, err
	}
	rows, sum := digest.Sum()
	return wire.RowsResponse{AsOf: asOf(v.Cursor()), Rows: rows, Digest: sum}, ctx.Err()
}
