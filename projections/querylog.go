package projections

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// place is where the log has a decision, as the store says.
type place struct {
	seq, block uint64
	final      bool
	asOf       wire.AsOf
}

func (q *queries) decision(ctx context.Context, contract string, data []byte) (any, error) {
	var r wire.DecisionRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, err
	}
	byID := r.CommandID != ""
	if byID == (r.CommandSeq != 0) || byID == (r.Principal == "") {
		return nil, wire.Errorf(wire.BadRequest, "give principal and commandId, or commandSeq")
	}
	found, err := q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		return findDecision(reader, asOf, contract, &r)
	})
	if err != nil {
		return nil, err
	}
	at := found.(place)
	entry, err := q.entry(ctx, at.block, at.seq)
	if err != nil {
		return nil, err
	}
	if entry.Decision.Contract != contract && contract != events.Unrouted {
		return nil, noDecision(at.asOf) // what _unrouted holds for others is not this contract's to see
	}
	return wire.DecisionResponse{AsOf: at.asOf, Block: at.block, Final: at.final, Record: json.RawMessage(entry.Record)}, nil
}

// findDecision looks in the ledger, and for a sequence also in _unrouted: there
// is what was refused before the ledger was open. The ids there are not kept.
func findDecision(reader *state.Reader, asOf wire.AsOf, contract string, r *wire.DecisionRequest) (any, error) {
	at := place{seq: r.CommandSeq, asOf: asOf}
	if r.CommandID != "" {
		receipt, ok := reader.State().Receipt(contract, r.Principal, r.CommandID)
		if err := reader.State().Err(); err != nil {
			return nil, err
		}
		if !ok {
			return nil, noDecision(asOf)
		}
		at.seq = receipt.CommandSeq
	}
	for _, ledger := range []string{contract, events.Unrouted} {
		d, ok, err := reader.Get(state.Decisions, ledger, strconv.FormatUint(at.seq, 10))
		if err != nil {
			return nil, err
		}
		if ok {
			at.block, at.final = d.Meta.LogSeq, ledger != events.Unrouted
			return at, nil
		}
	}
	return nil, noDecision(asOf)
}

func noDecision(asOf wire.AsOf) error {
	return wire.Errorf(wire.NotFound, "there is no such decision up to command %d; "+
		"that is not final: a command may still wait, and sending it again under its id is harmless", asOf.Seq)
}

// entry reads a command with its decision from the log.
func (q *queries) entry(ctx context.Context, block, seq uint64) (*events.Entry, error) {
	b, err := q.block(ctx, block)
	if err != nil {
		return nil, err
	}
	return entryOf(b, block, seq)
}

// block reads a block of the log.
func (q *queries) block(ctx context.Context, block uint64) (*events.Block, error) {
	log, err := q.logStream(ctx)
	if err != nil {
		return nil, wire.Errorf(wire.Unavailable, "the log: %v", err)
	}
	m, err := log.GetMsg(ctx, block)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil, noBlock(ctx, log, block)
	}
	if err != nil {
		return nil, fmt.Errorf("read block %d: %w", block, err)
	}
	b, err := events.ParseBlock(m.Data)
	if err != nil {
		return nil, wire.Errorf(wire.Integrity, "block %d: %v", block, err)
	}
	return b, nil
}

// entryOf finds a command in the block of that sequence.
func entryOf(b *events.Block, block, seq uint64) (*events.Entry, error) {
	i, ok := slices.BinarySearchFunc(b.Entries, seq, func(e events.Entry, seq uint64) int { return cmp.Compare(e.Message.Seq, seq) })
	if !ok {
		return nil, wire.Errorf(wire.Integrity, "block %d does not hold command %d, which the store says it does", block, seq)
	}
	return &b.Entries[i], nil
}

// noBlock says why a block cannot be read. A log may begin late, where older
// blocks are in an archive; it has no gaps.
func noBlock(ctx context.Context, log jetstream.Stream, block uint64) error {
	info, err := log.Info(ctx)
	if err != nil {
		return fmt.Errorf("read block %d: %w", block, err)
	}
	if block < info.State.FirstSeq {
		return wire.Errorf(wire.Unavailable, "the decision is in block %d, which the log no longer holds", block)
	}
	return wire.Errorf(wire.Integrity, "block %d of the log cannot be read", block)
}

func (q *queries) logStream(ctx context.Context) (jetstream.Stream, error) {
	q.openLog.Lock()
	defer q.openLog.Unlock()
	if q.log != nil {
		return q.log, nil
	}
	js, err := jetstream.New(q.nc)
	if err != nil {
		return nil, err
	}
	log, err := js.Stream(ctx, wire.LogStream(q.o.Shard))
	if err == nil {
		q.log = log
	}
	return log, err
}

// plan rehydrates a pinned plan (PLANS): the row and the event that pinned it
// are read again and everything is checked anew.
func (q *queries) plan(ctx context.Context, contract string, data []byte) (any, error) {
	var r wire.PlanRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, err
	}
	found, err := q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		return findPin(reader, asOf, contract, &r)
	})
	if err != nil {
		return nil, err
	}
	at := found.(pin)
	event, err := q.pinEvent(ctx, &at)
	if damaged := (*wire.Error)(nil); errors.As(err, &damaged) && damaged.Code == wire.Integrity {
		return nil, planError(&plan.Error{Code: plan.ErrCorrupt.Error(), RunID: r.RunID, PlanID: r.PlanID, Check: "event", Message: damaged.Message})
	}
	if err != nil {
		return nil, err
	}
	p, err := plan.Rehydrate(at.row, event, r.RunID, r.PlanID)
	if err != nil {
		return nil, planError(err)
	}
	return wire.PlanResponse{
		AsOf: at.asOf, Form: p.Form, PinnedSequence: at.seq, PlanID: p.PlanID, RunID: p.RunID, RunPlanHash: p.RunPlanHash,
		Plan: json.RawMessage(p.Envelope), Identity: json.RawMessage(p.Identity), Params: json.RawMessage(p.Params),
	}, nil
}

// pin is the row of a pinned plan and the place of the decision that pinned it;
// without a row there is none.
type pin struct {
	row *plan.Row
	place
}

// findPin reads the row; where no plan is named, of the run's active one.
func findPin(reader *state.Reader, asOf wire.AsOf, contract string, r *wire.PlanRequest) (any, error) {
	s := reader.State()
	if r.PlanID == "" {
		run, ok := s.Run(contract, r.RunID)
		if err := s.Err(); err != nil {
			return nil, err
		}
		if !ok {
			return nil, wire.Errorf(wire.NotFound, "no run %q in contract %q", r.RunID, contract)
		}
		if run.PlanID == events.PlanNone {
			return nil, planError(&plan.Error{Code: plan.ErrMissing.Error(), RunID: r.RunID, PlanID: run.PlanID, Check: "row", Message: "the run has no active plan"})
		}
		r.PlanID = run.PlanID
	}
	at := pin{place: place{asOf: asOf}}
	row, ok := s.Plan(contract, r.RunID, r.PlanID)
	if err := s.Err(); err != nil || !ok {
		return at, err
	}
	at.row, at.seq = planRow(r, &row), row.PinnedSequence
	d, ok, err := reader.Get(state.Decisions, contract, strconv.FormatUint(at.seq, 10))
	if ok {
		at.block = d.Meta.LogSeq
	}
	return at, err
}

// pinEvent reads what the log pins there, or nil.
func (q *queries) pinEvent(ctx context.Context, at *pin) (*plan.Row, error) {
	if at.block == 0 {
		return nil, nil
	}
	entry, err := q.entry(ctx, at.block, at.seq)
	if err != nil {
		return nil, err
	}
	return pinnedBy(entry.Decision), nil
}

func planRow(r *wire.PlanRequest, p *state.Plan) *plan.Row {
	return &plan.Row{RunID: r.RunID, PlanID: r.PlanID, Pin: plan.Pin{
		Form: p.Form, RunPlanHash: p.RunPlanHash, Envelope: p.Envelope,
		Identity: p.Identity, Params: p.Params, ParamsHash: p.ParamsHash,
	}}
}

// pinnedBy is what the event of a decision pins, or nil.
func pinnedBy(d *events.Decision) *plan.Row {
	for _, e := range d.Events {
		if p, ok := e.(*events.PlanPinned); ok {
			return &plan.Row{RunID: p.RunID, PlanID: p.PlanID, Pin: plan.Pin{
				Form: p.Form, RunPlanHash: p.RunPlanHash, Envelope: p.Envelope,
				Identity: p.Identity, Params: p.Params, ParamsHash: p.ParamsHash,
			}}
		}
	}
	return nil
}

func planError(err error) error {
	var e *plan.Error
	if !errors.As(err, &e) {
		return err
	}
	answer := wire.Errorf(wire.Integrity, "run %q, plan %q: %s: %s", e.RunID, e.PlanID, e.Check, e.Message)
	if errors.Is(err, plan.ErrMissing) {
		answer.Code = wire.NotFound
	}
	answer.Reason = e.Code
	return answer
}
