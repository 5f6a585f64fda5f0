package audit

import (
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// pins rehydrates the plans that a decision pins, from the rows that they were
// folded into (PLANS "Rehydration").
func (w *Walk) pins(d *events.Decision) error {
	for _, e := range d.Events {
		pinned, ok := e.(*events.PlanPinned)
		if !ok {
			continue
		}
		row, found := w.state.Plan(d.Contract, pinned.RunID, pinned.PlanID)
		if !found {
			return fmt.Errorf("the plan %q of run %q has no row", pinned.PlanID, pinned.RunID)
		}
		_, err := plan.Rehydrate(loop.PinOfRow(pinned.RunID, pinned.PlanID, &row), loop.PinOfEvent(pinned), pinned.RunID, pinned.PlanID)
		if err != nil {
			return err
		}
		w.summary.Pins++
	}
	return nil
}

// PlanRow gives the document of a pinned plan, as a live store shows it; ok is
// false where it shows none.
type PlanRow func(contract, key string) (row schema.Value, ok bool, err error)

// RowsOf are the documents of a store at hand.
func RowsOf(live state.Rows) PlanRow {
	reader := state.NewReader(live)
	return func(contract, key string) (schema.Value, bool, error) {
		d, ok, err := reader.Get(state.Plans, contract, key)
		if err != nil || !ok {
			return "", false, err
		}
		return d.Value, true, nil
	}
}

// ComparePins rehydrates each pinned plan of a live store: its row, against the
// event. The replayed rows are the events, as Walk made sure. Digests do not
// cover plans, and where all rows are compared this says which plan is damaged
// and what differs.
func ComparePins(live PlanRow, replayed state.Rows) error {
	var fault error
	err := state.NewReader(replayed).Documents(state.Plans, "", "", func(d *state.Document) bool {
		fault = comparePin(live, d)
		return fault == nil
	})
	return errors.Join(err, fault)
}

func comparePin(live PlanRow, replayed *state.Document) error {
	event, seq, err := readPin(replayed.Value)
	if err != nil {
		return fmt.Errorf("replayed plan %s: %w", replayed.Key, err)
	}
	fault := func(what string) error {
		return &Fault{Block: replayed.Meta.LogSeq, Command: seq, Ledger: replayed.Contract, What: what, Do: doReplay}
	}
	value, ok, err := live(replayed.Contract, replayed.Key)
	if errors.Is(err, state.ErrRow) {
		return fault(fmt.Sprintf("plan %q of run %q: %v", event.PlanID, event.RunID, err))
	}
	if err != nil {
		return err
	}
	var row *plan.Row // nil: there is none
	at := seq
	if ok {
		if row, at, err = readPin(value); err != nil {
			return fault(fmt.Sprintf("plan %q of run %q: %v", event.PlanID, event.RunID, err))
		}
	}
	if at != seq {
		return fault(fmt.Sprintf("%s: run %q, plan %q: event: the row says that command %d pinned it", plan.ErrCorrupt, event.RunID, event.PlanID, at))
	}
	if _, err := plan.Rehydrate(row, event, event.RunID, event.PlanID); err != nil {
		return fault(err.Error())
	}
	return nil
}

// readPin reads a document of the projection plans.
func readPin(document schema.Value) (row *plan.Row, pinnedSequence uint64, err error) {
	d := planDocument{Row: &plan.Row{}}
	if err := schema.DecodeRecord([]byte(document), &d); err != nil {
		return nil, 0, fmt.Errorf("its row: %w", err)
	}
	return d.Row, uint64(d.pinnedSequence), nil
}

// planDocument is a document of the projection plans.
type planDocument struct {
	*plan.Row
	pinnedSequence int64
}

// Members implements [schema.Record].
func (d *planDocument) Members(m *schema.Members) {
	m.Text("envelope", &d.Envelope)
	m.Text("form", &d.Form)
	m.OptAny("identity", &d.Identity)
	m.OptAny("params", &d.Params)
	m.OptText("paramsHash", &d.ParamsHash)
	m.Int("pinnedSequence", &d.pinnedSequence)
	m.ID("planId", &d.PlanID)
	m.ID("runId", &d.RunID)
	m.Text("runPlanHash", &d.RunPlanHash)
}
