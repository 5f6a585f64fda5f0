package loop

import (
	"context"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// Rehydrate gives a pinned plan back from the rows of s and the event on the
// log that pinned it (PLANS "Rehydration"). A plan that cannot be trusted is a
// *plan.Error; any other error is of the log or the rows.
func Rehydrate(ctx context.Context, log Log, s *state.State, contract, runID, planID string) (plan.Plan, error) {
	pin, ok := s.Plan(contract, runID, planID)
	if err := s.Err(); err != nil {
		return plan.Plan{}, err
	}
	if !ok {
		return plan.Rehydrate(nil, nil, runID, planID)
	}
	event, err := pinEvent(ctx, log, s, contract, pin.PinnedSequence)
	if err != nil {
		return plan.Plan{}, err
	}
	return plan.Rehydrate(PinOfRow(runID, planID, &pin), event, runID, planID)
}

// PinOfRow is the pin that the row of a plan says.
func PinOfRow(runID, planID string, p *state.Plan) *plan.Row {
	return &plan.Row{RunID: runID, PlanID: planID, Pin: plan.Pin{
		Form: p.Form, RunPlanHash: p.RunPlanHash, Envelope: p.Envelope,
		Identity: p.Identity, Params: p.Params, ParamsHash: p.ParamsHash,
	}}
}

// PinOfEvent is the pin that an event says.
func PinOfEvent(e *events.PlanPinned) *plan.Row {
	return &plan.Row{RunID: e.RunID, PlanID: e.PlanID, Pin: plan.Pin{
		Form: e.Form, RunPlanHash: e.RunPlanHash, Envelope: e.Envelope,
		Identity: e.Identity, Params: e.Params, ParamsHash: e.ParamsHash,
	}}
}

// pinEvent is what the ledger's decision on a command pinned, or nil if it
// pinned nothing.
func pinEvent(ctx context.Context, log Log, s *state.State, contract string, commandSeq uint64) (*plan.Row, error) {
	logSeq, ok := s.DecisionBlock(contract, commandSeq)
	if err := s.Err(); err != nil || !ok {
		return nil, err
	}
	data, err := log.Get(ctx, logSeq)
	if errors.Is(err, ErrAbsent) {
		return nil, fmt.Errorf("%w: block %d of the log cannot be read", ErrIntegrity, logSeq)
	}
	if err != nil {
		return nil, err
	}
	block, err := events.ParseBlock(data)
	if err != nil {
		return nil, blockError(logSeq, err)
	}
	for i := range block.Entries {
		if d := block.Entries[i].Decision; d.CommandSeq == commandSeq {
			if pinned := pinnedBy(d); pinned != nil {
				return PinOfEvent(pinned), nil
			}
		}
	}
	return nil, nil
}

func pinnedBy(d *events.Decision) *events.PlanPinned {
	for _, e := range d.Events {
		if pinned, ok := e.(*events.PlanPinned); ok {
			return pinned
		}
	}
	return nil
}

// errFound ends a search of the log.
var errFound = errors.New("found")

// foundPin is the event that pinned a plan, and where it is.
type foundPin struct {
	*events.PlanPinned
	made state.Meta
}

// findPin searches the whole log for the event that pinned a plan. There is at
// most one; nil says that there is none.
func findPin(ctx context.Context, log Log, contract, runID, planID string) (found *foundPin, err error) {
	info, err := log.Info(ctx)
	if err != nil {
		return nil, err
	}
	err = ReadBlocks(ctx, log, info.FirstSeq, func(b *ReadBlock) error {
		if b.Err != nil {
			return b.Err
		}
		for i := range b.Block.Entries {
			d := b.Block.Entries[i].Decision
			if pinned := pinnedBy(d); pinned != nil && d.Contract == contract && pinned.RunID == runID && pinned.PlanID == planID {
				found = &foundPin{pinned, state.Meta{CommandSeq: d.CommandSeq, LogSeq: b.Seq, At: d.At}}
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}

// planTeller is a Decider that tells of the use of pinned plans.
type planTeller interface {
	OnPlan(use reducer.PlanUse)
}

// newDecider returns a decider that tells this term of the use of pinned plans.
func (t *Term) newDecider() Decider {
	d := t.o.NewDecider()
	if teller, ok := d.(planTeller); ok {
		teller.OnPlan(t.pins.used)
	}
	return d
}

// pins checks each pinned plan once in a term, before the first decision that
// concerns it is made. It decides nothing: a plan that fails is an integrity
// failure of the row, which is made anew from the log, or of the log itself,
// which ends the shard.
type pins struct {
	term    *Term
	checked map[pinKey]bool
	stored  map[pinKey]*storedPin // of blocks that this term stored; not checked yet
	bytes   int                   // of the plans put into stored since it was emptied
	err     error                 // the term must end with it, and what was decided is dropped
}

// storedPin is an event that this term wrote to the log.
type storedPin struct {
	commandSeq uint64
	event      *plan.Row
}

// maxStored bounds the plans in memory, in bytes; others are read from the log.
const maxStored = 8 << 20

// remember keeps what a stored block pins: its events are known, and the log
// need not be read for the first use of their plans.
func (p *pins) remember(b *block) {
	for _, d := range b.decisions {
		e := pinnedBy(d)
		if e == nil {
			continue
		}
		size := len(e.Envelope) + len(e.Identity) + len(e.Params)
		if p.bytes += size; p.bytes > maxStored {
			clear(p.stored)
			p.bytes = size
		}
		p.stored[pinKey{d.Contract, e.RunID, e.PlanID}] = &storedPin{d.CommandSeq, PinOfEvent(e)}
	}
}

// rehydrate gives a plan back from its row and the event that pinned it.
func (p *pins) rehydrate(ctx context.Context, s *state.State, key pinKey) error {
	if known := p.stored[key]; known != nil {
		delete(p.stored, key)
		row, ok := s.Plan(key.contract, key.runID, key.planID)
		if ok && row.PinnedSequence == known.commandSeq && s.Err() == nil {
			_, err := plan.Rehydrate(PinOfRow(key.runID, key.planID, &row), known.event, key.runID, key.planID)
			return err
		}
	}
	_, err := Rehydrate(ctx, p.term.session.Log(), s, key.contract, key.runID, key.planID)
	return err
}

type pinKey struct{ contract, runID, planID string }

// maxChecked bounds what is remembered; a plan that is forgotten is checked again.
const maxChecked = 1 << 16

func (p *pins) used(s *state.State, contract, runID, planID string) {
	key := pinKey{contract, runID, planID}
	if p.err != nil || p.checked[key] || s.PlanUnsaved(contract, runID, planID) {
		return
	}
	if p.err = p.check(s, key); p.err != nil {
		p.err = fmt.Errorf("the pinned plan %q of run %q of contract %q: %w", planID, runID, contract, p.err)
		return
	}
	if len(p.checked) == maxChecked {
		clear(p.checked)
	}
	p.checked[key] = true
}

// check rehydrates a plan, and makes its row anew where that fails.
func (p *pins) check(s *state.State, key pinKey) error {
	t := p.term
	ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
	defer cancel()
	cause := p.rehydrate(ctx, s, key)
	if !isCorrupt(cause) {
		return cause
	}
	t.o.Log.Error("the row of a pinned plan is damaged and is made anew from the log", "contract", key.contract, "reason", cause)
	found, err := findPin(t.grace, t.session.Log(), key.contract, key.runID, key.planID)
	if err != nil {
		return fmt.Errorf("look for its event after %w: %w", cause, err)
	}
	if found == nil {
		return notPinned(cause)
	}
	event := PinOfEvent(found.PlanPinned)
	if _, err := plan.Rehydrate(event, event, key.runID, key.planID); err != nil {
		return fmt.Errorf("%w: the event of command %d in block %d: %w", ErrIntegrity, found.made.CommandSeq, found.made.LogSeq, err)
	}
	return p.restore(s, key, found)
}

// notPinned is for a plan that the log does not pin. A row that stands for
// nothing on the log is the store's fault; without a row it is the log that
// names a plan which it never pinned.
func notPinned(cause error) error {
	if errors.Is(cause, plan.ErrMissing) {
		return fmt.Errorf("%w: the log does not pin it: %w", ErrIntegrity, cause)
	}
	return fmt.Errorf("%w: %w: the log does not pin it: %w", ErrStore, state.ErrRow, cause)
}

// restore writes the row and looks at it once more. What is still wrong is not
// the row alone, and a store of which more is wrong is built again whole.
func (p *pins) restore(s *state.State, key pinKey, found *foundPin) error {
	t := p.term
	change := s.RestorePlan(key.contract, found.PlanPinned, found.made)
	if err := t.store.Commit([]state.Change{change}, t.store.Cursor()); err != nil {
		return fmt.Errorf("%w: %w", ErrStore, err)
	}
	ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
	defer cancel()
	_, err := Rehydrate(ctx, t.session.Log(), s, key.contract, key.runID, key.planID)
	if isCorrupt(err) {
		return fmt.Errorf("%w: %w: %w", ErrStore, state.ErrRow, err)
	}
	if err == nil {
		t.o.Log.Info("the row of the pinned plan is right again",
			"contract", key.contract, "run", key.runID, "plan", key.planID, "commandSeq", found.made.CommandSeq, "logSeq", found.made.LogSeq)
	}
	return err
}

// isCorrupt says whether err is about a pinned plan, and not about reading.
func isCorrupt(err error) bool {
	var e *plan.Error
	return errors.As(err, &e)
}
