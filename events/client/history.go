package client

import (
	"context"
	"errors"
	"iter"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// HistoryPage returns one page of the decisions of a contract.
func (c *Client) HistoryPage(ctx context.Context, contract string, request wire.HistoryRequest) (wire.HistoryResponse, error) {
	var answer wire.HistoryResponse
	err := c.ask(ctx, wire.History, contract, request, &answer)
	return answer, notFound(err)
}

// History gives all decisions that HistoryPage would, page by page: with their
// commands, filtered by the service, and without a right to read the log. Read
// gives all of a log, faster.
func (c *Client) History(ctx context.Context, contract string, request wire.HistoryRequest) iter.Seq2[wire.Decided, error] {
	return func(yield func(wire.Decided, error) bool) {
		for {
			page, err := patiently(ctx, func() (wire.HistoryResponse, error) { return c.HistoryPage(ctx, contract, request) })
			if err != nil {
				yield(wire.Decided{}, err)
				return
			}
			for _, d := range page.Decisions {
				if !yield(d, nil) {
					return
				}
			}
			if request.After = page.Next; page.Next == 0 {
				return
			}
		}
	}
}

// pageTries is how often a page is asked for while the service is busy: such
// pages are made one at a time.
const pageTries = 5

// patiently asks again where the service says that this may help.
func patiently[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		page, err := ask()
		var e *wire.Error
		if tries == pageTries || !errors.As(err, &e) || !e.Code.Temporary() || ctx.Err() != nil {
			return page, err
		}
		pause(ctx)
	}
}

// UnsettledPage returns one page of the attempts of a contract that are not
// settled, each with what it waits for.
func (c *Client) UnsettledPage(ctx context.Context, contract string, request wire.UnsettledRequest) (wire.UnsettledResponse, error) {
	var answer wire.UnsettledResponse
	err := c.ask(ctx, wire.ListUnsettled, contract, request, &answer)
	return answer, err
}

// Unsettled gives all attempts that UnsettledPage would, page by page. Each page
// is as of its own block.
func (c *Client) Unsettled(ctx context.Context, contract string, request wire.UnsettledRequest) iter.Seq2[wire.UnsettledAttempt, error] {
	return func(yield func(wire.UnsettledAttempt, error) bool) {
		for {
			page, err := patiently(ctx, func() (wire.UnsettledResponse, error) { return c.UnsettledPage(ctx, contract, request) })
			if err != nil {
				yield(wire.UnsettledAttempt{}, err)
				return
			}
			for _, a := range page.Attempts {
				if !yield(a, nil) {
					return
				}
			}
			if request.After = page.Next; page.Next == "" {
				return
			}
		}
	}
}
