package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// pinnedPlan is a documented plan, and what goes with it.
type pinnedPlan struct {
	Form, RunID, PlanID, hash             string
	Document, Identity, Admission, Params json.RawMessage
}

// planExamples are those of docs/plans.md, by form.
func planExamples(t *testing.T) map[string]*pinnedPlan {
	t.Helper()
	page, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*pinnedPlan{}
	for _, block := range regexp.MustCompile("(?s)```json (\\S+) (sha256:\\S+)\n(.*?)```").FindAllSubmatch(page, -1) {
		p := &pinnedPlan{hash: string(block[2])}
		if err := json.Unmarshal(block[3], p); err != nil {
			t.Fatal(err)
		}
		found[p.Form] = p
	}
	return found
}

// otherRun is the run that has the same plans for a run beside.
func otherRun(runID string) string { return strings.Replace(runID, "run-", "nur-", 1) }

// answering is serve, and waits until it answers questions too.
func answering(t *testing.T, data string) *served {
	t.Helper()
	s := serve(t, data)
	eventually(t, "questions are answered", func() bool { return run(t, "", "reducer", "status", "--nats", s.url).code == 0 })
	return s
}

// pin pins the plan for a run with ingest plan, as a user would.
func (p *pinnedPlan) pin(t *testing.T, url, runID string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"plan", "--form", p.Form, "--contract", "garden", "--principal", "owner", "--run", runID, "--plan", p.PlanID, "--pin", "--wait", "--nats", url}
	for part, text := range map[string]json.RawMessage{"document": p.Document, "identity": p.Identity, "admission": p.Admission, "params": p.Params} {
		if text == nil {
			continue
		}
		text = bytes.ReplaceAll(text, []byte(`"`+p.RunID+`"`), []byte(`"`+runID+`"`))
		name := filepath.Join(dir, part)
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--"+part, name)
	}
	if out := must(t, 0, "ingest", args...); runID == p.RunID && !strings.Contains(out, p.hash) || !strings.Contains(out, "planPinned") {
		t.Fatalf("pinned as\n%s", out)
	}
}

// pinnedData is a directory in which each documented plan is pinned for its run
// and for another one.
func pinnedData(t *testing.T, plans map[string]*pinnedPlan) string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, data)
	line := `{"contract":"garden","principal":"owner","command":%s}` + "\n"
	lines := fmt.Sprintf(line, `{"type":"openContract","contract":{"id":"garden","missionId":"m","aiwsEdition":"0.4","profile":"finite-v1","budget":"1",
		"deadline":"4102444800000","criteria":["done"],"actions":["buy"],"resources":["shop"],"requiresApproval":false,"maxAttempts":"1","maxAuthorizationAgeMs":"1","features":[]}}`)
	lines = strings.ReplaceAll(lines, "\n\t\t", "")
	for _, p := range plans {
		for _, runID := range []string{p.RunID, otherRun(p.RunID)} {
			lines += fmt.Sprintf(line, fmt.Sprintf(`{"type":"startRun","runId":%q}`, runID))
		}
	}
	if r := run(t, lines, "ingest", "--wait", "--nats", s.url); r.code != 0 {
		t.Fatal(r)
	}
	for _, form := range schema.Forms {
		p := plans[form]
		p.pin(t, s.url, p.RunID)
		p.pin(t, s.url, otherRun(p.RunID))
	}
	s.stop()
	return data
}

func copyData(t *testing.T, data string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	return copied
}

// activate makes a plan the active one of its run, which had none.
func (p *pinnedPlan) activate(t *testing.T, url string) result {
	t.Helper()
	line := fmt.Sprintf(`{"contract":"garden","principal":"owner","command":{"type":"activatePlan","runId":%q,"planId":%q,"expectedPlan":"none"}}`, p.RunID, p.PlanID)
	return run(t, line, "ingest", "--wait", "--json", "--timeout", "3s", "--nats", url)
}

// show is plan's arguments; where says which reducer.
func (p *pinnedPlan) show(where ...string) []string {
	return append([]string{"plan", "--contract", "garden", "--run", p.RunID, "--plan", p.PlanID}, where...)
}

// What reducer plan prints of a running reducer and of its directory is the plan.
func TestPlan(t *testing.T) {
	plans := planExamples(t)
	data := pinnedData(t, plans)
	s := answering(t, data)
	running := map[string]string{}
	for form, p := range plans {
		out := must(t, 0, "reducer", append(p.show("--nats", s.url), "--json")...)
		var got wire.PlanResponse
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.RunPlanHash != p.hash || schema.HashOf(got.Plan) != p.hash || got.Form != form {
			t.Errorf("%s: %v, %s", form, err, out)
		}
		if (got.Identity != nil) != (p.Identity != nil) || (got.Params != nil) != (p.Params != nil) {
			t.Errorf("%s: identity %s, params %s", form, got.Identity, got.Params)
		}
		running[form] = must(t, 0, "reducer", p.show("--nats", s.url)...)
	}
	graph := plans[schema.FormGraphPlan]
	for _, want := range []string{"plan       review-v3\n", "params     {\"topic\":\"harvest report\"}\n", "hash       " + graph.hash + "\n", "\n{\n  \"bounds\": {\n"} {
		if !strings.Contains(running[graph.Form], want) {
			t.Errorf("plan does not show %q:\n%s", want, running[graph.Form])
		}
	}
	missing := func(want string, args ...string) {
		t.Helper()
		r := run(t, "", "reducer", append(args, "--nats", s.url)...)
		if r.code != exit.Failure || !strings.Contains(r.stderr, want) || r.out != "" {
			t.Errorf("want %q: %s", want, r)
		}
	}
	missing(`(run_plan_missing): run "run-9", plan "other": row: no plan is pinned`, "plan", "--contract", "garden", "--run", graph.RunID, "--plan", "other")
	missing(`(run_plan_missing): run "run-9", plan "none": row: the run has no active plan`, "plan", "--contract", "garden", "--run", graph.RunID)
	missing(`no run "run-1"`, "plan", "--contract", "garden", "--run", "run-1")
	if r := graph.activate(t, s.url); r.code != 0 {
		t.Fatal(r)
	}
	if out := must(t, 0, "reducer", "plan", "--contract", "garden", "--run", graph.RunID, "--nats", s.url); out != running[graph.Form] {
		t.Errorf("the active plan is\n%s", out)
	}
	if out := must(t, 0, "reducer", "verify", "--nats", s.url); !strings.Contains(out, "8  pinned") {
		t.Errorf("verify:\n%s", out)
	}
	s.stop()
	for form, p := range plans {
		if out := must(t, 0, "reducer", p.show("--data", data)...); out != running[form] {
			t.Errorf("%s: of the directory:\n%s\nof the running reducer:\n%s", form, out, running[form])
		}
	}
}

// replaced replaces the last old in a row by new, of the same length.
func replaced(from, to string) func(value, other []byte) []byte {
	return func(value, _ []byte) []byte {
		i := bytes.LastIndex(value, []byte(from))
		return append(append(bytes.Clone(value[:i]), to...), value[i+len(from):]...)
	}
}

// TestTamperedPins changes each part of the row of a pinned plan in a copy of a
// store: verify and plan say which plan and what differs, of the directory and of
// a running reducer, and that one decides what the log says, and mends the row.
func TestTamperedPins(t *testing.T) {
	plans := planExamples(t)
	data := pinnedData(t, plans)
	for _, c := range []struct {
		name, form, check string
		change            func(value, other []byte) []byte
	}{
		{"text", schema.FormExecutionPlan, "hash", replaced(`"book"`, `"bock"`)},
		{"text that is no JSON", schema.FormRunPlan, "envelope", replaced(`"index":0`, `"index":x`)},
		{"text of another run", schema.FormRunPlan, "identity", replaced(`"runId":"run-7"`, `"runId":"run-6"`)},
		{"row hash", schema.FormOpaque, "event", replaced("sha256:fb8", "sha256:fb9")},
		{"identity", schema.FormRunPlan, "event", replaced(`"workflowId":"release"`, `"workflowId":"realise"`)},
		{"params", schema.FormGraphPlan, "event", replaced("harvest report", "harvest rumour")},
		{"params hash", schema.FormGraphPlan, "event", replaced("sha256:902a", "sha256:902b")},
		{"sequence", schema.FormExecutionPlan, "event", func(value, _ []byte) []byte { value[len(value)-1]--; return value }},
		{"row of another run", schema.FormExecutionPlan, "event", func(_, other []byte) []byte { return other }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, copied := plans[c.form], copyData(t, data)
			tamperPin(t, copied, p, c.change)
			testTampered(t, copied, p, c.check)
		})
	}
}

func tamperPin(t *testing.T, data string, p *pinnedPlan, change func(value, other []byte) []byte) {
	t.Helper()
	var other []byte
	key := func(runID string) string { return "Pgarden\x00\x01" + runID + "\x00\x01" + p.PlanID + "\x00\x01" }
	tamper(t, data, func(k, value []byte) *state.Change { // other rows sort first
		switch string(k) {
		case key(otherRun(p.RunID)):
			other = value
		case key(p.RunID):
			return &state.Change{Key: k, Value: change(value, other)}
		}
		return nil
	})
}

func testTampered(t *testing.T, data string, p *pinnedPlan, check string) {
	told := func(what string, r result) {
		t.Helper()
		if want := fmt.Sprintf(`run %q, plan %q: %s: `, p.RunID, p.PlanID, check); r.code != exit.Integrity || !strings.Contains(r.stderr, want) || r.out != "" {
			t.Errorf("%s: want %q: %s", what, want, r)
		}
	}
	told("verify", run(t, "", "reducer", "verify", "--data", data))
	told("plan", run(t, "", "reducer", p.show("--data", data)...))
	s := answering(t, data)
	told("verify, running", run(t, "", "reducer", "verify", "--nats", s.url))
	told("plan, running", run(t, "", "reducer", p.show("--nats", s.url)...))

	r := p.activate(t, s.url)
	if r.code != 0 {
		t.Fatal(r)
	}
	if activated := decisions(t, r.out)[0].Events[0].(*events.PlanActivated); activated.RunPlanHash != p.hash {
		t.Errorf("activated with the hash %s", activated.RunPlanHash)
	}
	if said := s.stderr.String(); !strings.Contains(said, "the row of a pinned plan is damaged and is made anew from the log") || !strings.Contains(said, check+": ") {
		t.Errorf("serve says nothing of it: %s", said)
	}
	must(t, 0, "reducer", p.show("--nats", s.url)...)
	must(t, 0, "reducer", "verify", "--nats", s.url)
	s.stop()
	must(t, 0, "reducer", "verify", "--data", data)
}

// A flipped bit of the pin's event damages its block: everybody says so, nothing
// is decided any more about the run, and the reducer stops.
func TestTamperedPinEvent(t *testing.T) {
	plans := planExamples(t)
	data := copyData(t, pinnedData(t, plans))
	p := plans[schema.FormExecutionPlan]
	files, err := filepath.Glob(filepath.Join(data, "jetstream", "*", "streams", "AIWS_LOG_0", "msgs", "*.blk"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files of the log, %v", len(files), err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte(`"runPlanHash":"`+p.hash))
	if at < 0 {
		t.Fatal("the log does not have the hash")
	}
	text[at+len(`"runPlanHash":"sha256:`)] ^= 1
	if err := os.WriteFile(files[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"verify", "--data", data}, p.show("--data", data)} {
		if r := run(t, "", "reducer", args...); r.code != exit.Integrity || !strings.Contains(r.stderr, "block") {
			t.Errorf("%s: %s", args[0], r)
		}
	}
	s := start(t, data, "--listen", "127.0.0.1:0")
	eventually(t, "serve is ready or ends", func() bool {
		select {
		case <-s.ended:
			return true
		default:
		}
		_, rest, ok := strings.Cut(s.out.String(), "ready ")
		s.url, _, _ = strings.Cut(rest, "\n")
		return ok
	})
	if s.url != "" {
		if r := p.activate(t, s.url); r.code != exit.Failure || r.out != "" {
			t.Errorf("decided on a damaged log: %s", r)
		}
	}
	if told := s.exits(exit.Integrity); !strings.Contains(told, "block") || s.url != "" && !strings.Contains(told, `the pinned plan "order-42" of run "run-8" of contract "garden"`) {
		t.Errorf("serve ends with %s", told)
	}
}

// A row that cannot even be read is found the same way, and the reducer builds
// its store again.
func TestMalformedPin(t *testing.T) {
	plans := planExamples(t)
	data, p := pinnedData(t, plans), plans[schema.FormOpaque]
	tamperPin(t, data, p, func(value, _ []byte) []byte { return value[:len(value)/2] })
	for _, args := range [][]string{{"verify", "--data", data}, p.show("--data", data)} {
		if r := run(t, "", "reducer", args...); r.code != exit.Integrity || !strings.Contains(r.stderr, "malformed row") {
			t.Errorf("%s: %s", args[0], r)
		}
	}
	s := answering(t, data)
	if r := p.activate(t, s.url); r.code != 0 || !strings.Contains(r.out, p.hash) {
		t.Errorf("activated: %s", r)
	}
	if !strings.Contains(s.stderr.String(), "the store was set aside and is built again from the log") {
		t.Errorf("serve says nothing of it: %s", s.stderr)
	}
	must(t, 0, "reducer", p.show("--nats", s.url)...)
	must(t, 0, "reducer", "verify", "--nats", s.url)
}

// Replay mends what was only in the store.
func TestReplayMendsPins(t *testing.T) {
	plans := planExamples(t)
	data, p := pinnedData(t, plans), plans[schema.FormGraphPlan]
	tamperPin(t, data, p, replaced("harvest report", "harvest rumour"))
	must(t, exit.Integrity, "reducer", p.show("--data", data)...)
	if r := run(t, "", "reducer", "replay", "--data", data); r.code != exit.Integrity || !strings.Contains(r.stderr, `run "run-9", plan "review-v3": event: the event says other params than the row`) {
		t.Errorf("replay: %s", r)
	}
	if out := must(t, 0, "reducer", p.show("--data", data)...); !strings.Contains(out, "harvest report") {
		t.Errorf("plan:\n%s", out)
	}
	must(t, 0, "reducer", "verify", "--data", data)
}
