package client

import (
	"context"
	"iter"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// Get returns a document of a projection, as of the last block. ErrNotFound:
// there is none.
func (c *Client) Get(ctx context.Context, contract, projection, key string) (wire.Document, error) {
	var answer wire.GetResponse
	err := c.ask(ctx, wire.Get, contract, wire.GetRequest{Projection: projection, Key: key}, &answer)
	return answer.Document, notFound(err)
}

// List returns one page of documents.
func (c *Client) List(ctx context.Context, contract string, request wire.ListRequest) (wire.ListResponse, error) {
	var answer wire.ListResponse
	err := c.ask(ctx, wire.List, contract, request, &answer)
	return answer, err
}

// Documents gives all documents that List would, page by page. Each page is as
// of its own block.
func (c *Client) Documents(ctx context.Context, contract string, request wire.ListRequest) iter.Seq2[wire.Document, error] {
	return pages(func(after string) (wire.ListResponse, error) {
		if after != "" {
			request.After = after
		}
		return c.List(ctx, contract, request)
	})
}

// Contracts gives the open ledgers: their documents of the projection missions.
func (c *Client) Contracts(ctx context.Context) iter.Seq2[wire.Document, error] {
	return pages(func(after string) (wire.ListResponse, error) {
		var answer wire.ContractsResponse
		err := c.ask(ctx, wire.Contracts, "", wire.ContractsRequest{After: after}, &answer)
		return answer, err
	})
}

func pages(next func(after string) (wire.ListResponse, error)) iter.Seq2[wire.Document, error] {
	return func(yield func(wire.Document, error) bool) {
		for after := ""; ; {
			page, err := next(after)
			if err != nil {
				yield(wire.Document{}, err)
				return
			}
			for _, d := range page.Documents {
				if !yield(d, nil) {
					return
				}
			}
			if after = page.Next; after == "" {
				return
			}
		}
	}
}

// Plan returns a pinned plan of a run, rehydrated; planID "" means the run's
// active plan.
func (c *Client) Plan(ctx context.Context, contract, runID, planID string) (wire.PlanResponse, error) {
	var answer wire.PlanResponse
	err := c.ask(ctx, wire.Plan, contract, wire.PlanRequest{RunID: runID, PlanID: planID}, &answer)
	return answer, notFound(err)
}

// Status tells what the reducer does.
func (c *Client) Status(ctx context.Context) (wire.StatusResponse, error) {
	var answer wire.StatusResponse
	err := c.ask(ctx, wire.Status, "", wire.StatusRequest{}, &answer)
	return answer, err
}

// Digest returns the state digest of the named projections.
func (c *Client) Digest(ctx context.Context) (wire.DigestResponse, error) {
	var answer wire.DigestResponse
	err := c.ask(ctx, wire.Digest, "", wire.DigestRequest{}, &answer)
	return answer, err
}
