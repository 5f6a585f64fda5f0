package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// Recover looks after the attempts whose calls may have been made without
// being settled: those of the runs (of all runs of the contract where none is
// named) that are DISPATCHED or UNKNOWN, except those under way in this
// Coordinator. Each goes to the adapter's Reconcile, and what that finds out is
// settled; what it cannot find out is UNKNOWN. It never calls.
//
// Use it when a process starts, before it dispatches or retries anything. Only
// one process at a time may work on a run: a call that another one is making
// just now looks like one that was left behind.
//
// It goes through all attempts; the error joins what went wrong.
func (c *Coordinator) Recover(ctx context.Context, contract string, runs []string, adapter Adapter) ([]Outcome, error) {
	left, err := c.left(ctx, contract, runs)
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	var outcomes []Outcome
	var failed []error
	for _, d := range left {
		out, err := c.reconcile(ctx, contract, d, adapter)
		if err != nil {
			failed = append(failed, fmt.Errorf("recover: attempt %q: %w", d.Key, err))
		}
		if out.Called {
			outcomes = append(outcomes, out)
		}
	}
	return outcomes, errors.Join(failed...)
}

// left lists all attempts before anything is done to them: what becomes UNKNOWN
// on the way is not asked about twice.
func (c *Coordinator) left(ctx context.Context, contract string, runs []string) ([]wire.Document, error) {
	if len(runs) == 0 {
		runs = []string{""}
	}
	var left []wire.Document
	for _, run := range runs {
		for _, state := range []string{events.AttemptStateDispatched, events.AttemptStateUnknown} {
			for d, err := range c.Client.Documents(ctx, contract, wire.ListRequest{Projection: "attempts", Run: run, State: state}) {
				if err != nil {
					return nil, err
				}
				left = append(left, d)
			}
		}
	}
	return left, nil
}

func (c *Coordinator) reconcile(ctx context.Context, contract string, d wire.Document, adapter Adapter) (Outcome, error) {
	a, err := c.complete(ctx, contract, d)
	if err != nil {
		return Outcome{}, err
	}
	if !c.begin(a) {
		return Outcome{}, nil
	}
	defer c.end(a)
	out := Outcome{Attempt: a, Called: true}
	out.Report, err = c.guarded(ctx, adapter.Reconcile, a)
	if out.Report.Effect == events.EffectUnknown && a.State == events.AttemptStateUnknown {
		return out, err // known to be unknown
	}
	return c.settle(ctx, out, err)
}
