package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// planVector is a case of testdata/vectors, as far as a command can ask it.
type planVector struct {
	Name     string
	Stricter bool // the originals accept it, we do not

	// kxm-run-plan.json
	Run struct {
		RunID, ProjectID, HomeRuntimeID, WorkflowID                                string
		ConfigRevision, ExecutorPolicyRevision, ToolPolicyRevision, MemoryRevision string
	}
	Envelope, RowHash, EventHash string
	Canonical                    bool
	Input                        json.RawMessage
	SHA256                       string

	// graph-plan.json
	ParamsCase                                 bool
	Description, Resolution                    json.RawMessage
	DescriptionText, ResolutionText, InputText *string

	Expect struct {
		OK                                bool
		Hash, Digest, Code, CanonicalJSON string
	}
}

func planVectors(t *testing.T, name string) []planVector {
	t.Helper()
	text, err := os.ReadFile("../../testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var cases []planVector
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func exactly(raw json.RawMessage, text *string) string {
	if text != nil {
		return *text
	}
	return string(raw)
}

// pinning is a pinPlan command, and what has to come of it: a hash, or a code
// and perhaps a reason.
type pinning struct {
	name, runID        string
	body               string
	hash, code, reason string
	params             string // of the event; "" is not compared
}

// pinBody writes the command. Its parts are texts as they are, JSON or not.
func pinBody(runID, form string, parts ...string) string {
	body := fmt.Sprintf(`{"type":"pinPlan","runId":%s,"planId":"p","form":"%s"`, schema.AppendString(nil, runID), form)
	for i := 0; i < len(parts); i += 2 {
		body += fmt.Sprintf(`,"%s":%s`, parts[i], parts[i+1])
	}
	return body + "}"
}

// onTheWire says whether a command can hold the texts: JSON with exact numbers.
func onTheWire(texts ...string) bool {
	for _, text := range texts {
		if _, err := schema.Canonical([]byte(text)); err != nil {
			return false
		}
	}
	return true
}

// want sets what has to come of a pin: what is not JSON is refused as that.
func (p *pinning) want(refused bool, hash, reason string, texts ...string) {
	switch {
	case !onTheWire(texts...):
		p.code = string(events.CodeJSONInvalid)
	case refused:
		p.code, p.reason = string(events.CodePlanInvalid), reason
	default:
		p.hash = hash
	}
}

// runPlanPinnings are the vectors of kxm.run-plan.v2. A fault of the stored
// hashes alone is none of the plan, and cannot be asked with a command.
func runPlanPinnings(t *testing.T) (asked []pinning, stored int) {
	t.Helper()
	for _, v := range planVectors(t, "kxm-run-plan.json") {
		if v.Canonical {
			var input string
			if err := json.Unmarshal(v.Input, &input); err != nil {
				t.Fatal(err)
			}
			p := pinning{name: "canonical " + input, runID: "r", body: pinBody("r", schema.FormOpaque, "document", input)}
			p.want(v.Stricter, v.SHA256, "", input)
			asked = append(asked, p)
			continue
		}
		canonical, err := schema.ParseValue([]byte(v.Envelope))
		if !v.Expect.OK && err == nil && (v.RowHash != v.EventHash || schema.HashOf([]byte(canonical)) != v.RowHash) {
			stored++
			continue
		}
		r := v.Run
		identity, err := json.Marshal(map[string]any{
			"projectId": r.ProjectID, "homeRuntimeId": r.HomeRuntimeID, "workflowId": r.WorkflowID,
			"revisions": map[string]string{
				"config": r.ConfigRevision, "executorPolicy": r.ExecutorPolicyRevision, "toolPolicy": r.ToolPolicyRevision, "memory": r.MemoryRevision,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		p := pinning{name: v.Name, runID: r.RunID, body: pinBody(r.RunID, schema.FormRunPlan, "document", v.Envelope, "identity", string(identity))}
		p.want(v.Stricter || !v.Expect.OK, v.Expect.Hash, "", v.Envelope)
		asked = append(asked, p)
	}
	return asked, stored
}

// graphPlanPinnings are the vectors of graph-plan.v1.
func graphPlanPinnings(t *testing.T) []pinning {
	t.Helper()
	var asked []pinning
	vectors := planVectors(t, "graph-plan.json")
	for _, v := range vectors {
		document, admission := exactly(v.Description, v.DescriptionText), exactly(v.Resolution, v.ResolutionText)
		p := pinning{name: v.Name, runID: "r"}
		if v.ParamsCase {
			document, admission = string(vectors[0].Description), string(vectors[0].Resolution)
			params := exactly(v.Input, v.InputText)
			p.body = pinBody("r", schema.FormGraphPlan, "document", document, "admission", admission, "params", params)
			p.want(v.Stricter || !v.Expect.OK, vectors[0].Expect.Digest, v.Expect.Code, params)
			p.params = v.Expect.CanonicalJSON
			if params == "" { // absent
				p.body = pinBody("r", schema.FormGraphPlan, "document", document, "admission", admission)
				p.want(false, vectors[0].Expect.Digest, "", document)
			}
		} else {
			p.body = pinBody("r", schema.FormGraphPlan, "document", document, "admission", admission)
			p.want(v.Stricter || !v.Expect.OK, v.Expect.Digest, v.Expect.Code, document, admission)
		}
		asked = append(asked, p)
	}
	return asked
}

// lines are a log file in which each pin has a ledger of its own.
func pinLines(t *testing.T, asked []pinning) string {
	t.Helper()
	var b strings.Builder
	line := func(contract int, commandType, raw string) {
		text, err := json.Marshal(map[string]any{
			"contract": fmt.Sprint("c", contract), "principal": "owner", "at": 1000, "type": commandType, "raw": raw,
		})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	for i, p := range asked {
		line(i, "openContract", fmt.Sprintf(`{"type":"openContract","contract":{"id":"c%d","missionId":"m","aiwsEdition":"0.4","profile":"finite-v1",
			"budget":"1","deadline":"90000","criteria":["done"],"actions":["buy"],"resources":["shop"],"requiresApproval":false,"maxAttempts":"1",
			"maxAuthorizationAgeMs":"1","features":[]}}`, i))
		line(i, "startRun", fmt.Sprintf(`{"type":"startRun","runId":%s}`, schema.AppendString(nil, p.runID)))
		line(i, "pinPlan", p.body)
	}
	return b.String()
}

// Every vector that a command can ask is decided as the originals answered it.
func TestPlanVectorsFold(t *testing.T) {
	asked, stored := runPlanPinnings(t)
	asked = append(asked, graphPlanPinnings(t)...)
	out, err := command(t, pinLines(t, asked), "fold", "-")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	records := decisions(t, out)
	for i, p := range asked {
		if records[3*i+1].Outcome != events.OutcomeAccepted {
			t.Fatalf("%s: the run does not start: %s", p.name, records[3*i+1].Append(nil))
		}
		d := records[3*i+2]
		got := pinning{name: p.name, runID: p.runID, body: p.body, code: string(d.Code), params: p.params}
		if p.reason != "" {
			got.reason = d.Reason
		}
		if d.Outcome == events.OutcomeAccepted {
			pinned := d.Events[0].(*events.PlanPinned)
			got.hash = pinned.RunPlanHash
			if p.params != "" {
				got.params = string(pinned.Params)
			}
		}
		if got != p {
			t.Errorf("%s (-want +got):\n%s", p.name, cmp.Diff(p, got, cmp.AllowUnexported(pinning{})))
		}
		if d.Code == events.CodePlanInvalid && (d.Reason == "" || d.Message == "") {
			t.Errorf("%s: refused without a reason: %s", p.name, d.Append(nil))
		}
		counts[string(d.Outcome)+" "+string(d.Code)]++
	}
	// Vectors are never dropped; integers beyond 2^53-1 are why some that the
	// library pins are no commands.
	want := map[string]int{"accepted ": 58, "rejected PLAN_INVALID": 113, "rejected JSON_INVALID": 20}
	if diff := cmp.Diff(want, counts); diff != "" || stored != 3 {
		t.Errorf("%d stored faults, decisions (-want +got):\n%s", stored, diff)
	}
}
