package plan

import (
	"cmp"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// Pin is what planPinned records of a plan. Identity belongs to kxm.run-plan.v2; Params and ParamsHash belong to
// graph-plan.v1, where absent params are {}. They are "" elsewhere.
type Pin struct {
	Form        string
	RunPlanHash string // of Envelope
	Envelope    string // canonical JSON of the plan as checked
	Identity    schema.Value
	Params      schema.Value
	ParamsHash  string
}

// Fault says why a plan is refused: PLAN_INVALID's reason, and where. A pointer into the admission begins with /admission, one
// into the identity with /identity. Once a lane of a graph-plan.v1 is matched with its resolution, pointers are those of the
// plan that would be pinned. Faults of params point into the params.
type Fault struct{ Reason, Pointer, Message string }

// Error gives reason, place and message on one line.
func (f *Fault) Error() string {
	if f.Pointer == "" {
		return f.Reason + ": " + f.Message
	}
	return f.Reason + " at " + f.Pointer + ": " + f.Message
}

// Source is what a plan is pinned from. Each part but the form and the run is JSON text; "" is an absent one.
type Source struct {
	Form, RunID                           string
	Document, Identity, Admission, Params string
}

// Check pins the plan of a command, or says why it cannot: the first fault in the order of the form's rules.
func Check(c *schema.PinPlan) (Pin, *Fault) { return CheckSource(sourceOf(c)) }

// CheckSource is Check for texts. Unlike a command's values they need be neither canonical nor valid JSON; numbers that are no
// exact float64 count as the nearest one.
func CheckSource(s Source) (Pin, *Fault) {
	pin, faults := check(&s, 1)
	if len(faults) > 0 {
		return Pin{}, faults[0]
	}
	return pin, nil
}

// All returns every fault that can be found apart from the others, at most a hundred, in the order of the rules: the first one
// is Check's. A part of the plan, such as a step or a lane, gives its first fault; parts that only make sense once another is
// right are left out where it is not.
func All(c *schema.PinPlan) []Fault {
	s := sourceOf(c)
	_, found := check(&s, 100)
	faults := make([]Fault, len(found))
	for i, f := range found {
		faults[i] = *f
	}
	return faults
}

func sourceOf(c *schema.PinPlan) Source {
	return Source{
		Form: c.Form, RunID: c.RunID, Document: string(c.Document),
		Identity: string(c.Identity), Admission: string(c.Admission), Params: string(c.Params),
	}
}

// form is what one form of plan knows to do.
type form struct {
	name string
	// check reports the faults of s. If there are none it returns the canonical text of the plan.
	check func(s *Source, r *report) schema.Value
	// reopen makes of a stored envelope the document and the admission that give it again.
	reopen func(envelope string) (document, admission string, f *Fault)
}

var forms = []form{
	{schema.FormRunPlan, checkRunPlan, reopenAsIs},
	{schema.FormExecutionPlan, checkExecutionPlan, reopenExecutionPlan},
	{schema.FormGraphPlan, checkGraphPlan, reopenGraphPlan},
	{schema.FormOpaque, checkOpaque, reopenAsIs},
}

func formOf(name string) *form {
	for i := range forms {
		if forms[i].name == name {
			return &forms[i]
		}
	}
	return nil
}

// reopenAsIs: the envelope is the document.
func reopenAsIs(envelope string) (document, admission string, f *Fault) { return envelope, "", nil }

// check returns the pin, or up to limit faults.
func check(s *Source, limit int) (Pin, []*Fault) {
	r := report{limit: limit}
	form := formOf(s.Form)
	if form == nil {
		return Pin{}, []*Fault{{"form", "", "there is no form " + s.Form}}
	}
	text := form.check(s, &r)
	if len(r.faults) > 0 {
		return Pin{}, r.faults
	}
	pin := Pin{Form: s.Form, RunPlanHash: schema.HashOf([]byte(text)), Envelope: string(text)}
	if s.Form == schema.FormRunPlan {
		pin.Identity, _ = schema.ParseValue([]byte(s.Identity))
	}
	if s.Form == schema.FormGraphPlan {
		pin.Params, _ = schema.ParseValue([]byte(cmp.Or(s.Params, noParams)))
		pin.ParamsHash = schema.HashOf([]byte(pin.Params))
	}
	return pin, nil
}

// report collects faults, up to a limit.
type report struct {
	limit  int
	faults []*Fault
}

// add takes a fault, or nil for none, and reports whether more are wanted.
func (r *report) add(f *Fault) bool {
	if f != nil && len(r.faults) < r.limit {
		f.Pointer, f.Message = jsontree.Shorten(f.Pointer), short(f.Message)
		r.faults = append(r.faults, f)
	}
	return len(r.faults) < r.limit
}

// each adds the faults of parts in order, as long as more are wanted.
func (r *report) each(parts ...func() *Fault) {
	for _, part := range parts {
		if !r.add(part()) {
			return
		}
	}
}

func (r *report) full() bool  { return len(r.faults) >= r.limit }
func (r *report) clean() bool { return len(r.faults) == 0 }
