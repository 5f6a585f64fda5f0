package projections

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// unsettled gives a page of the attempts that are not settled, each with what
// it waits for by the rules.
func (q *queries) unsettled(ctx context.Context, contract string, data []byte) (any, error) {
	var r wire.UnsettledRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, err
	}
	p := unsettledPage{
		ctx: ctx, request: &r, contract: contract, outlook: q.o.Outlook, began: time.Now(), enough: halfTime(ctx),
		rows: q.o.Limits.ScanRows, bytes: q.o.Limits.Page, found: []wire.UnsettledAttempt{},
	}
	if err := p.read(); err != nil {
		return nil, err
	}
	return q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		p.reader = reader
		if err := reader.Documents(state.Attempts, contract, r.After, p.add); err != nil {
			return nil, err
		}
		if p.failed != nil {
			return nil, p.failed
		}
		return wire.UnsettledResponse{
			AsOf: asOf, Attempts: p.found, Clock: strconv.FormatInt(p.began.UnixMilli(), 10), Next: p.next,
		}, ctx.Err()
	})
}

// Outlook says what an unsettled attempt waits for at a time in milliseconds.
// Package outlook has it from the rules, which this package does not know.
type Outlook func(s *state.State, contract, attemptID string, now int64) (wire.Waiting, error)

// unsettledPage collects attempts until one of its bounds is reached.
type unsettledPage struct {
	ctx      context.Context
	request  *wire.UnsettledRequest
	contract string
	outlook  Outlook
	reader   *state.Reader
	began    time.Time
	enough   time.Time // when the page is given as it is

	before  schema.Decimal
	bounded bool // before was given
	limit   int  // attempts still wanted
	rows    int  // that may still be looked at
	bytes   int  // still free
	last    string
	found   []wire.UnsettledAttempt
	next    string
	failed  error
}

// read takes the request.
func (p *unsettledPage) read() (err error) {
	if p.outlook == nil {
		return wire.Errorf(wire.Unsupported, "this service does not know the rules")
	}
	if s := p.request.State; s != "" && !slices.Contains(wire.UnsettledStates, s) {
		return wire.Errorf(wire.BadRequest, "an attempt that is not settled has no state %q; there are %v", s, wire.UnsettledStates)
	}
	if p.limit, err = pageLimit(p.request.Limit); err != nil {
		return err
	}
	p.before, p.bounded, err = moment("before", p.request.Before)
	return err
}

// add looks at one attempt.
func (p *unsettledPage) add(d *state.Document) bool {
	if d.Key == p.request.After {
		return true
	}
	if p.full() {
		p.next = p.last
		return false
	}
	p.rows--
	p.last = d.Key
	if !p.matches(d) {
		return p.ctx.Err() == nil
	}
	waiting, err := p.outlook(p.reader.State(), p.contract, d.Key, p.began.UnixMilli())
	if err != nil {
		p.failed = err
		return false
	}
	p.limit--
	p.bytes -= len(d.Value)
	p.found = append(p.found, wire.UnsettledAttempt{Document: document(d), Waiting: waiting})
	return p.ctx.Err() == nil
}

// full says whether the page ends here. One that took half of its time is given
// as it is, so that it is not lost.
func (p *unsettledPage) full() bool {
	if p.last == "" {
		return false // a page looks at one at least
	}
	return p.limit == 0 || p.rows == 0 || p.bytes <= 0 || time.Now().After(p.enough)
}

func (p *unsettledPage) matches(d *state.Document) bool {
	is, _ := textOf(d.Value, "state")
	if !slices.Contains(wire.UnsettledStates, is) || p.request.State != "" && is != p.request.State {
		return false
	}
	if run, _ := textOf(d.Value, "runId"); p.request.Run != "" && run != p.request.Run {
		return false
	}
	return !p.bounded || !p.before.Less(d.Meta.At)
}
