package projections

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// history gives a page of the decisions of a ledger. The index in the store says
// which of them may be wanted, and the log what they are: a page reads a bounded
// number of rows and of blocks, and nothing is kept for it beside what the store
// has anyhow.
//
// Where there is nothing, the next look goes on behind what was looked at.
func (q *queries) history(contract string, data []byte) (look, time.Duration, error) {
	var r wire.HistoryRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, 0, err
	}
	wait, err := waitMillis(r.Wait)
	if err == nil && wait > 0 && r.Newest {
		err = wire.Errorf(wire.BadRequest, "wait does not go with newest: what comes later is not after what was asked for")
	}
	return func(ctx context.Context) (answer any, empty bool, err error) {
		page, err := q.historyPage(ctx, contract, &r)
		if err != nil {
			return nil, false, err
		}
		if empty = len(page.Decisions) == 0 && page.Next == 0; empty {
			r.After = max(r.After, page.AsOf.Seq)
		}
		return page, empty, nil
	}, wait, err
}

func (q *queries) historyPage(ctx context.Context, contract string, r *wire.HistoryRequest) (page wire.HistoryResponse, err error) {
	h := historyPage{ctx: ctx, queries: q, contract: contract, request: r, found: []wire.Decided{}, enough: halfTime(ctx)}
	if err := h.read(); err != nil {
		return page, err
	}
	_, err = q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		if err := h.collect(reader); err != nil {
			return nil, err
		}
		page = wire.HistoryResponse{AsOf: asOf, Decisions: h.found, Next: h.next}
		return nil, nil
	})
	return page, err
}

// historyPage collects decisions until one of its bounds is reached.
type historyPage struct {
	ctx      context.Context
	queries  *queries
	reader   *state.Reader
	contract string
	request  *wire.HistoryRequest
	enough   time.Time // when the page is given as it is

	since, until schema.Decimal
	bounded      bool // until was given
	limit        int  // decisions still wanted
	rows         int  // that may still be looked at
	blocks       int  // that may still be read
	bytes        int  // still free
	block        *events.Block
	blockSeq     uint64
	last         uint64
	found        []wire.Decided
	next         uint64
	failed       error
}

// read takes the request.
func (h *historyPage) read() (err error) {
	limits := &h.queries.o.Limits
	h.rows, h.blocks, h.bytes = limits.ScanRows, limits.ScanBlocks, limits.Page
	if h.limit, err = pageLimit(h.request.Limit); err != nil {
		return err
	}
	if h.request.Outcome != "" && !slices.Contains(wire.Outcomes, h.request.Outcome) {
		return wire.Errorf(wire.BadRequest, "there is no outcome %q; there are %v", h.request.Outcome, wire.Outcomes)
	}
	if h.since, _, err = moment("since", h.request.Since); err != nil {
		return err
	}
	h.until, h.bounded, err = moment("until", h.request.Until)
	return err
}

// halfTime is when half of the time is over that a question still has.
func halfTime(ctx context.Context) time.Time {
	now := time.Now()
	deadline, ok := ctx.Deadline()
	if !ok {
		return now.Add(time.Hour) // nobody waits
	}
	return now.Add(deadline.Sub(now) / 2)
}

// moment reads milliseconds; given is false for "".
func moment(name, text string) (at schema.Decimal, given bool, err error) {
	if text == "" {
		return at, false, nil
	}
	if at, err = schema.ParseDecimal(text); err != nil {
		return at, false, wire.Errorf(wire.BadRequest, "%s: want milliseconds since 1970: %v", name, err)
	}
	return at, true, nil
}

func (h *historyPage) collect(reader *state.Reader) error {
	h.reader = reader
	if err := h.ofRun(); err != nil {
		return err
	}
	from, any, err := h.from()
	if err != nil || !any {
		return err
	}
	if err := reader.Decisions(h.contract, from, h.request.Newest, h.add); err != nil {
		return err
	}
	if h.failed != nil {
		return h.failed
	}
	if err := reader.State().Err(); err != nil {
		return err
	}
	return h.ctx.Err()
}

// ofRun bounds the history of a run: it begins where the run began.
func (h *historyPage) ofRun() error {
	if h.request.Run == "" {
		return nil
	}
	run, ok := h.reader.State().Run(h.contract, h.request.Run)
	if err := h.reader.State().Err(); err != nil {
		return err
	}
	if !ok {
		return wire.Errorf(wire.NotFound, "no run %q in contract %q", h.request.Run, h.contract)
	}
	h.since = h.since.Max(run.StartedAt)
	return nil
}

// from is the first command to look at; any is false where there is none.
func (h *historyPage) from() (from uint64, any bool, err error) {
	switch after := h.request.After; {
	case h.request.Newest && after > 0:
		return after - 1, after > 1, nil
	case h.request.Newest && h.bounded:
		later, err := h.reader.DecidedSince(h.contract, h.until.Add(schema.DecimalOf(1)))
		return later - 1, later != 1, err // 0 less 1 is the end
	case h.request.Newest:
		return ^uint64(0), true, nil
	case after > 0:
		from = after + 1
	}
	if h.since.IsZero() {
		return from, true, nil
	}
	first, err := h.reader.DecidedSince(h.contract, h.since)
	return max(from, first), first > 0, err
}

// add looks at one decision of the index.
func (h *historyPage) add(d *state.Decided, meta state.Meta) bool {
	if h.request.Newest && d.At.Less(h.since) || !h.request.Newest && h.bounded && h.until.Less(d.At) {
		return false // and so is all that follows
	}
	wanted := h.mayMatch(d)
	if h.full() || wanted && h.blocks == 0 && meta.LogSeq != h.blockSeq {
		h.next = h.last
		return false
	}
	h.rows--
	h.last = d.CommandSeq
	if !wanted {
		return h.ctx.Err() == nil
	}
	entry, err := h.entry(meta.LogSeq, d.CommandSeq)
	if err != nil {
		h.failed = err
		return false
	}
	if h.request.Run == "" || h.concerns(entry) {
		h.take(meta.LogSeq, entry)
	}
	return h.ctx.Err() == nil
}

// full says whether the page ends here. One that took half of its time is given
// as it is, so that it is not lost.
func (h *historyPage) full() bool {
	if h.last == 0 {
		return false // a page looks at one at least
	}
	return h.limit == 0 || h.rows == 0 || h.bytes <= 0 || time.Now().After(h.enough)
}

// mayMatch: the index does not speak against it.
func (h *historyPage) mayMatch(d *state.Decided) bool {
	is := func(want, has string) bool { return want == "" || want == has }
	r := h.request
	return is(r.Outcome, string(d.Outcome)) && is(r.Code, string(d.Code)) && is(r.Principal, d.Principal) && is(r.Type, d.Type) &&
		!d.At.Less(h.since) && (!h.bounded || !h.until.Less(d.At))
}

func (h *historyPage) take(block uint64, e *events.Entry) {
	d := wire.Decided{Block: block, Record: json.RawMessage(e.Record)}
	if h.request.Commands && json.Valid(e.Message.Body) {
		d.Command = json.RawMessage(e.Message.Body)
	}
	h.limit--
	h.bytes -= len(d.Record) + len(d.Command)
	h.found = append(h.found, d)
}

// entry reads a command with its decision. Decisions of one block come one
// after the other, so one block is kept.
func (h *historyPage) entry(block, seq uint64) (*events.Entry, error) {
	if block != h.blockSeq {
		b, err := h.queries.block(h.ctx, block)
		if err != nil {
			return nil, err
		}
		h.block, h.blockSeq = b, block
		h.blocks--
	}
	return entryOf(h.block, block, seq)
}

// concerns says whether a command, or an event of its decision, is about the
// run.
func (h *historyPage) concerns(e *events.Entry) bool {
	if command, err := schema.ParseValue(e.Message.Body); err == nil && h.names(command) {
		return true
	}
	record, err := schema.ParseValue(e.Record)
	if err != nil {
		return false
	}
	found, ok := record.Member("events")
	if !ok {
		return false
	}
	for event := range found.Elements() {
		if h.names(event) {
			return true
		}
	}
	return false
}

// names says whether an object names the run, or a thing that belongs to it.
// Where it names a run, that is the one.
func (h *historyPage) names(object schema.Value) bool {
	if object.Kind() != '{' {
		return false
	}
	if id, ok := textOf(object, "runId"); ok {
		return id == h.request.Run
	}
	if approval, ok := object.Member("approval"); ok {
		return h.names(approval)
	}
	s := h.reader.State()
	for _, thing := range []struct {
		member string
		runOf  func(id string) (string, bool)
	}{
		{"attemptId", func(id string) (string, bool) { a, ok := s.Attempt(h.contract, id); return a.RunID, ok }},
		{"operationId", func(id string) (string, bool) { o, ok := s.Operation(h.contract, id); return o.RunID, ok }},
		{"waitId", func(id string) (string, bool) { w, ok := s.Wait(h.contract, id); return w.RunID, ok }},
		{"approvalId", func(id string) (string, bool) { a, ok := s.Approval(h.contract, id); return a.RunID, ok }},
	} {
		id, ok := textOf(object, thing.member)
		if !ok {
			continue
		}
		if run, ok := thing.runOf(id); ok {
			return run == h.request.Run
		}
	}
	return false
}

func textOf(object schema.Value, member string) (string, bool) {
	value, ok := object.Member(member)
	if !ok {
		return "", false
	}
	return value.Str()
}
