package plan_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// examples are the complete commands in the documentation, by their form, with the hashes that it gives.
func examples(t testing.TB) map[string]example {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "plans.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]example{}
	for _, block := range regexp.MustCompile("(?s)```json (\\S+) (\\S+)\n(.*?)```").FindAllSubmatch(text, -1) {
		c, f := schema.Decode(block[3])
		if f != nil {
			t.Fatalf("%s: %v", block[1], f)
		}
		found[string(block[1])] = example{c.(*schema.PinPlan), string(block[2])}
	}
	return found
}

type example struct {
	command *schema.PinPlan
	hash    string
}

// TestDocs: what the documentation shows is accepted, has the hash that it says, and comes back.
func TestDocs(t *testing.T) {
	found := examples(t)
	for _, form := range schema.Forms {
		e, ok := found[form]
		if !ok {
			t.Errorf("the documentation has no example of %s", form)
			continue
		}
		pin, f := plan.Check(e.command)
		if f != nil {
			t.Errorf("%s: %v", form, f)
			continue
		}
		if e.command.Form != form || pin.RunPlanHash != e.hash {
			t.Errorf("%s: the hash is %s", form, pin.RunPlanHash)
		}
		if all := plan.All(e.command); len(all) > 0 {
			t.Errorf("%s: %v", form, all)
		}
		if (pin.Identity != "") != (form == schema.FormRunPlan) || (pin.Params != "") != (form == schema.FormGraphPlan) || (pin.ParamsHash != "") != (pin.Params != "") {
			t.Errorf("%s: pinned with %+v", form, pin)
		}
		row := plan.Row{RunID: e.command.RunID, PlanID: e.command.PlanID, Pin: pin}
		if got, err := plan.Rehydrate(&row, &row, row.RunID, row.PlanID); err != nil || got.Pin != pin {
			t.Errorf("%s: rehydrated: %v", form, err)
		}
	}
	if len(found) != len(schema.Forms) {
		t.Errorf("%d examples", len(found))
	}
}
