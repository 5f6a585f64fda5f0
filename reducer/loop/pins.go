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
	row := &plan.Row{RunID: runID, PlanID: planID, Pin: plan.Pin{
		Form: pin.Form, RunPlanHash: pin.RunPlanHash, Envelope: pin.Envelope,
		Identity: pin.Identity, Params: pin.Params, ParamsHash: pin.ParamsHash,
	}}
	return plan.Rehydrate(row, event, runID, planID)
}

func rowOf(e *events.PlanPinned) *plan.Row {
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
				return rowOf(pinned), nil
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

// findPin searches the whole log for the event that pinned a plan. There is at
// most one; nil says that there is none.
func findPin(ctx context.Context, log Log, contract, runID, planID string) (found *events.PlanPinned, commandSeq uint64, err error) {
	info, err := log.Info(ctx)
	if err != nil {
		return nil, 0, err
	}
	err = ReadBlocks(ctx, log, info.FirstSeq, func(b *ReadBlock) error {
		if b.Err != nil {
			return b.Err
		}
		for i := range b.Block.Entries {
			d := b.Block.Entries[i].Decision
			if pinned := pinnedBy(d); pinned != nil && d.Contract == contract && pinned.RunID == runID && pinned.PlanID == planID {
				found, commandSeq = pinned, d.CommandSeq
				return errFound
			}
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, commandSeq, err
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
// concerns it is sent. It decides nothing: a plan that fails is an integrity
// failure of the row, which is written anew from the log, or of the log itself,
// which ends the shard.
type pins struct {
	term    *Term
	checked map[string]bool
	err     error // the term must end with it, and what was decided is dropped
}

func (p *pins) used(s *state.State, contract, runID, planID string) {
	key := contract + "\x00" + runID + "\x00" + planID
	if p.err != nil || p.checked[key] {
		return
	}
	pin, ok := s.Plan(contract, runID, planID)
	if ok && pin.PinnedSequence > p.term.store.Cursor().CommandSeq {
		return // pinned a moment ago by this term: the log does not have it yet
	}
	p.err = p.check(s, contract, runID, planID)
	p.checked[key] = true
}

func (p *pins) check(s *state.State, contract, runID, planID string) error {
	t := p.term
	ctx, cancel := context.WithTimeout(t.grace, t.o.Limits.Append)
	defer cancel()
	_, cause := Rehydrate(ctx, t.session.Log(), s, contract, runID, planID)
	if damaged := (*plan.Error)(nil); cause == nil || !errors.As(cause, &damaged) {
		return cause
	}
	found, commandSeq, err := findPin(t.grace, t.session.Log(), contract, runID, planID)
	if err != nil {
		return fmt.Errorf("look for the pin of plan %q of run %q: %w", planID, runID, err)
	}
	if found == nil {
		return fmt.Errorf("%w: contract %q: %w; the log pins no such plan", ErrIntegrity, contract, cause)
	}
	if _, err := plan.Rehydrate(rowOf(found), rowOf(found), runID, planID); err != nil {
		return fmt.Errorf("%w: contract %q: the event of command %d: %w", ErrIntegrity, contract, commandSeq, err)
	}
	s.RestorePlan(contract, found, commandSeq)
	t.o.Log.Error("the row of a pinned plan was damaged and is written anew from the log",
		"contract", contract, "run", runID, "plan", planID, "commandSeq", commandSeq, "reason", cause)
	return nil
}
