package client

import (
	"context"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// How long questions may take that read all of a store.
const (
	digestPatience   = time.Minute
	operatorPatience = 30 * time.Minute
)

// patience is how long an endpoint may take, where it needs longer than others.
func patience(e wire.Endpoint) time.Duration {
	switch e {
	case wire.Digest:
		return digestPatience
	case wire.MakeCheckpoint, wire.Rows:
		return operatorPatience
	}
	return 0
}

// Heads returns the chain heads of all ledgers and of the log. Each head was the
// last of its ledger when its page was read.
func (c *Client) Heads(ctx context.Context) (wire.HeadsResponse, error) {
	var all wire.HeadsResponse
	for request := (wire.HeadsRequest{}); ; {
		var page wire.HeadsResponse
		if err := c.ask(ctx, wire.Heads, "", request, &page); err != nil {
			return all, err
		}
		page.Heads = append(all.Heads, page.Heads...)
		all = page
		if request.After = page.Next; page.Next == "" {
			return all, nil
		}
	}
}

// Checkpoint makes the reducer make a checkpoint of its store.
func (c *Client) Checkpoint(ctx context.Context) (wire.CheckpointResponse, error) {
	var answer wire.CheckpointResponse
	err := c.ask(ctx, wire.MakeCheckpoint, "", wire.CheckpointRequest{}, &answer)
	return answer, err
}

// Rows returns the digest of everything that the reducer's store holds.
func (c *Client) Rows(ctx context.Context) (wire.RowsResponse, error) {
	var answer wire.RowsResponse
	err := c.ask(ctx, wire.Rows, "", wire.RowsRequest{}, &answer)
	return answer, err
}
