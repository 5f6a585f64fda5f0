package plan_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// vectors reads a file of cases that the original implementations answered.
func vectors[T any](t *testing.T, name string) []T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

type runPlanVector struct {
	Name               string
	Run                runRecord
	Envelope           string
	RowHash, EventHash string
	Expect             struct {
		OK         bool
		Hash, Code string
	}
	Stricter, Canonical bool
	Input, Output       string
	SHA256              string
}

// runRecord is a run as its host keeps it.
type runRecord struct {
	RunID, ProjectID, HomeRuntimeID, WorkflowID                                string
	ConfigRevision, ExecutorPolicyRevision, ToolPolicyRevision, MemoryRevision string
}

// identity is what a pinPlan says of the run.
func (r runRecord) identity(t testing.TB) schema.Value {
	text, err := json.Marshal(map[string]any{
		"projectId": r.ProjectID, "homeRuntimeId": r.HomeRuntimeID, "workflowId": r.WorkflowID,
		"revisions": map[string]string{
			"config": r.ConfigRevision, "executorPolicy": r.ExecutorPolicyRevision, "toolPolicy": r.ToolPolicyRevision, "memory": r.MemoryRevision,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return value(t, string(text))
}

func value(t testing.TB, text string) schema.Value {
	t.Helper()
	v, err := schema.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%.300s: %v", text, err)
	}
	return v
}

func TestRunPlanVectors(t *testing.T) {
	for _, c := range vectors[runPlanVector](t, "kxm-run-plan.json") {
		if c.Canonical {
			testCanonical(t, c)
			continue
		}
		t.Run(c.Name, func(t *testing.T) { testRunPlan(t, c) })
	}
}

func testCanonical(t *testing.T, c runPlanVector) {
	v, err := schema.ParseValue([]byte(c.Input))
	switch {
	case c.Stricter:
		if err == nil {
			t.Errorf("%s is not refused", c.Input)
		}
	case err != nil || string(v) != c.Output || schema.HashOf([]byte(v)) != c.SHA256:
		t.Errorf("%s becomes %s, %v", c.Input, v, err)
	}
	pin, f := plan.CheckSource(plan.Source{Form: schema.FormOpaque, Document: c.Input})
	if (f == nil) == c.Stricter || f == nil && (pin.Envelope != c.Output || pin.RunPlanHash != c.SHA256) {
		t.Errorf("%s is pinned as %+v, %v", c.Input, pin, f)
	}
}

// testRunPlan rehydrates the stored envelope; where that works, the same plan can be pinned, with the same hash.
func testRunPlan(t *testing.T, c runPlanVector) {
	identity := c.Run.identity(t)
	pin := plan.Pin{Form: schema.FormRunPlan, RunPlanHash: c.RowHash, Envelope: c.Envelope, Identity: identity}
	row := plan.Row{RunID: c.Run.RunID, PlanID: "p", Pin: pin}
	event := row
	event.RunPlanHash = c.EventHash
	got, err := plan.Rehydrate(&row, &event, c.Run.RunID, "p")
	pinned, f := plan.CheckSource(plan.Source{Form: schema.FormRunPlan, RunID: c.Run.RunID, Document: c.Envelope, Identity: string(identity)})
	if !c.Expect.OK || c.Stricter {
		var e *plan.Error
		if !errors.As(err, &e) || e.Code != "run_plan_corrupt" || !errors.Is(err, plan.ErrCorrupt) || errors.Is(err, plan.ErrMissing) {
			t.Errorf("rehydrated: %v", err)
		}
		if f == nil && pinned.RunPlanHash == c.RowHash && c.RowHash == c.EventHash {
			t.Error("it can be pinned")
		}
		return
	}
	if err != nil || got.RunPlanHash != c.Expect.Hash || got.Envelope != string(value(t, c.Envelope)) {
		t.Errorf("not rehydrated: %v, %s", err, got.RunPlanHash)
	}
	if f != nil || pinned != got.Pin {
		t.Errorf("pinned: %v, %v", pinned, f)
	}
}

type graphPlanVector struct {
	Name                            string
	ParamsCase                      bool
	Description, Resolution         json.RawMessage
	DescriptionText, ResolutionText *string
	Input                           json.RawMessage
	InputText                       *string
	Expect                          struct {
		OK                                bool
		Digest, CanonicalJSON, Code, Path string
	}
	Stricter bool
	SameAs   string
}

func text(raw json.RawMessage, exact *string) string {
	if exact != nil {
		return *exact
	}
	return string(raw)
}

func TestGraphPlanVectors(t *testing.T) {
	cases := vectors[graphPlanVector](t, "graph-plan.json")
	base := cases[0]
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			s := plan.Source{
				Form: schema.FormGraphPlan, Document: text(c.Description, c.DescriptionText), Admission: text(c.Resolution, c.ResolutionText),
			}
			if c.ParamsCase {
				s.Document, s.Admission, s.Params = string(base.Description), string(base.Resolution), text(c.Input, c.InputText)
			}
			pin, f := plan.CheckSource(s)
			switch {
			case !c.Expect.OK || c.Stricter:
				if f == nil || !c.Stricter && (f.Reason != c.Expect.Code || f.Pointer != c.Expect.Path && f.Pointer != "/admission"+c.Expect.Path) {
					t.Errorf("got %v, want %s at %s", f, c.Expect.Code, c.Expect.Path)
				}
			case f != nil:
				t.Errorf("refused: %v", f)
			case c.ParamsCase:
				if string(pin.Params) != c.Expect.CanonicalJSON || pin.ParamsHash != schema.HashOf([]byte(c.Expect.CanonicalJSON)) || pin.RunPlanHash != base.Expect.Digest {
					t.Errorf("pinned as %+v", pin)
				}
				rehydrate(t, pin, "r")
			default:
				if pin.Envelope != c.Expect.CanonicalJSON || pin.RunPlanHash != c.Expect.Digest {
					t.Errorf("pinned as %s\n%s", pin.RunPlanHash, pin.Envelope)
				}
				rehydrate(t, pin, "r")
			}
		})
	}
}
