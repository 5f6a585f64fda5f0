package plan_test

import (
	"errors"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// FuzzCheck: no text makes the library panic; what it pins comes back, and what it refuses has a reason and All begins with it.
func FuzzCheck(f *testing.F) {
	for i, form := range schema.Forms {
		s := source(f, form)
		f.Add(i, s.Document, s.Identity, s.Admission, s.Params)
	}
	f.Fuzz(func(t *testing.T, form int, document, identity, admission, params string) {
		s := plan.Source{Form: schema.Forms[uint(form)%4], RunID: "run-7", Document: document, Identity: identity, Admission: admission, Params: params}
		pin, fault := plan.CheckSource(s)
		row := plan.Row{RunID: "run-7", PlanID: "p", Pin: pin}
		if fault != nil {
			if fault.Reason == "" || fault.Message == "" || pin != (plan.Pin{}) {
				t.Fatalf("%+v, %v", pin, fault)
			}
			row.Pin = plan.Pin{Form: s.Form, Envelope: document, Identity: schema.Value(identity), Params: schema.Value(params)}
		}
		got, err := plan.Rehydrate(&row, &row, "run-7", "p")
		switch {
		case fault == nil && (err != nil || got.Pin != pin):
			t.Fatalf("pinned as %+v, rehydrated: %v", pin, err)
		case fault != nil && !errors.Is(err, plan.ErrCorrupt):
			t.Fatalf("%v, rehydrated: %v", fault, err)
		}
	})
}
