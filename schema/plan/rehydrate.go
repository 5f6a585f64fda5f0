package plan

import (
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// What rehydration fails with; errors.Is tells them apart. The error itself is an *Error.
var (
	ErrMissing = errors.New("run_plan_missing")
	ErrCorrupt = errors.New("run_plan_corrupt")
)

// Error says why the plan of a run could not be rehydrated.
type Error struct {
	Code          string // run_plan_missing or run_plan_corrupt
	RunID, PlanID string
	Check         string // row, event, form, hash, envelope, paramsHash, or the reason of the form's rules that failed
	Message       string
}

// Error gives code, run, plan, check and message on one line.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: run %q, plan %q: %s: %s", e.Code, e.RunID, e.PlanID, e.Check, e.Message)
}

// Is reports whether target is the sentinel of the error's code.
func (e *Error) Is(target error) bool {
	return target == ErrMissing && e.Code == ErrMissing.Error() || target == ErrCorrupt && e.Code == ErrCorrupt.Error()
}

// Row is the pin of one plan of a run: what a planPinned event says, and what the plans projection keeps.
type Row struct {
	RunID, PlanID string
	Pin
}

// Plan is a rehydrated plan. Its envelope is in canonical form, however the row had it.
type Plan struct {
	Row
	Execution *ExecutionPlan // of an execution-plan.v1, else nil
}

// Rehydrate gives the plan back that a row keeps, or says why it cannot be trusted: an *Error.
//
//  1. There is a row, and it is that of runID and planID; without one the error is ErrMissing, every other is ErrCorrupt.
//  2. event, the event at the row's pinnedSequence or nil if that is no planPinned, is about the same plan and says the same of
//     it, the envelope aside, which its hash covers.
//  3. The envelope, parsed anew, obeys the rules of its form, belongs to the run, and has the row's hash; the params have
//     theirs. A row of graph-plan.v1 without params and hash of them has {}.
func Rehydrate(row, event *Row, runID, planID string) (Plan, error) {
	fail := func(code error, check, message string) (Plan, error) {
		return Plan{}, &Error{code.Error(), runID, planID, check, message}
	}
	if row == nil {
		return fail(ErrMissing, "row", "no plan is pinned")
	}
	if row.RunID != runID || row.PlanID != planID {
		return fail(ErrCorrupt, "row", fmt.Sprintf("the row is that of run %q, plan %q", row.RunID, row.PlanID))
	}
	if difference := row.differs(event); difference != "" {
		return fail(ErrCorrupt, "event", difference)
	}
	pin, f := reopen(row)
	if f != nil {
		return fail(ErrCorrupt, f.Reason, f.Error())
	}
	stored, _ := schema.ParseValue([]byte(row.Envelope))
	hash := schema.HashOf([]byte(stored))
	switch {
	case hash != row.RunPlanHash:
		return fail(ErrCorrupt, "hash", fmt.Sprintf("the envelope hashes to %s, the pin says %s", hash, row.RunPlanHash))
	case string(stored) != pin.Envelope:
		return fail(ErrCorrupt, "envelope", "it has what a plan of this form does not have")
	case pin.ParamsHash != row.ParamsHash && row.Params+schema.Value(row.ParamsHash) != "":
		return fail(ErrCorrupt, "paramsHash", fmt.Sprintf("the params hash to %q, the pin says %q", pin.ParamsHash, row.ParamsHash))
	}
	plan := Plan{Row: Row{runID, planID, pin}}
	if pin.Form == schema.FormExecutionPlan {
		plan.Execution = executionPlanOf(schema.Value(pin.Envelope))
	}
	return plan, nil
}

// differs says what the pin event says otherwise than the row, or "".
func (row *Row) differs(event *Row) string {
	switch {
	case event == nil:
		return "the event at pinnedSequence is no planPinned"
	case event.RunID != row.RunID || event.PlanID != row.PlanID:
		return fmt.Sprintf("the event is about run %q, plan %q", event.RunID, event.PlanID)
	case event.RunPlanHash != row.RunPlanHash:
		return fmt.Sprintf("the event says the hash %s, the row %s", event.RunPlanHash, row.RunPlanHash)
	case event.Form != row.Form:
		return fmt.Sprintf("the event says the form %s, the row %s", event.Form, row.Form)
	case event.Identity != row.Identity:
		return "the event says another identity than the row"
	case event.Params != row.Params || event.ParamsHash != row.ParamsHash:
		return "the event says other params than the row"
	}
	return ""
}

// reopen pins again what the row's envelope says.
func reopen(row *Row) (Pin, *Fault) {
	form := formOf(row.Form)
	if form == nil {
		return Pin{}, &Fault{"form", "", "there is no form " + row.Form}
	}
	document, admission, f := form.reopen(row.Envelope)
	if f != nil {
		return Pin{}, f
	}
	return CheckSource(Source{
		Form: row.Form, RunID: row.RunID, Document: document,
		Identity: string(row.Identity), Admission: admission, Params: string(row.Params),
	})
}
