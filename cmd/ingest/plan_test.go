package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// example is a documented plan, with its parts as files.
type example struct {
	form, hash string
	args       []string // of ingest plan
	parts      map[string]any
	dir        string
}

var planBlock = regexp.MustCompile("(?s)```json (\\S+) (sha256:\\S+)\n(.*?)```")

// examples are those of docs/plans.md, by form.
func examples(t *testing.T) map[string]*example {
	t.Helper()
	page, err := os.ReadFile("../../docs/plans.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*example{}
	for _, block := range planBlock.FindAllStringSubmatch(string(page), -1) {
		e := &example{form: block[1], hash: block[2], args: []string{"plan", "--form", block[1]}, dir: t.TempDir()}
		if err := json.Unmarshal([]byte(block[3]), &e.parts); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"document", "admission", "identity", "params"} {
			if value, ok := e.parts[part]; ok {
				e.write(t, part, value)
				e.args = append(e.args, "--"+part, e.file(part))
			}
		}
		found[e.form] = e
	}
	if len(found) != len(schema.Forms) {
		t.Fatalf("%d forms have an example", len(found))
	}
	return found
}

func (e *example) file(part string) string { return filepath.Join(e.dir, part+".json") }

func (e *example) write(t *testing.T, part string, value any) {
	t.Helper()
	text, ok := value.(string)
	if !ok {
		indented, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		text = string(indented)
	}
	if err := os.WriteFile(e.file(part), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runRoot runs ingest with these arguments.
func runRoot(stdin string, args ...string) (code int, out, stderr string) {
	root := newRoot()
	var stdout, errout strings.Builder
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&errout)
	root.SetArgs(args)
	err := root.Execute()
	if err != nil {
		fmt.Fprintln(&errout, err)
	}
	return exit.Code(err), stdout.String(), errout.String()
}

// Every documented plan has the documented hash, without a server.
func TestPlanHash(t *testing.T) {
	for form, e := range examples(t) {
		code, out, stderr := runRoot("", e.args...)
		if code != exit.OK || !strings.Contains(out, "hash       "+e.hash) && !strings.Contains(out, "hash         "+e.hash) {
			t.Errorf("%s: code %d\n%s%s", form, code, out, stderr)
		}
		code, out, _ = runRoot("", append(e.args, "--json")...)
		var got checked
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != exit.OK || got.RunPlanHash != e.hash || got.Form != form {
			t.Errorf("%s: code %d, %s, %v", form, code, out, err)
		}
		if want := form == schema.FormRunPlan; want != (got.RunID == e.parts["runId"]) {
			t.Errorf("%s: checked for the run %q", form, got.RunID)
		}
		if (got.ParamsHash != "") != (form == schema.FormGraphPlan) {
			t.Errorf("%s: params hash %q", form, got.ParamsHash)
		}
	}
	opaque := examples(t)[schema.FormOpaque]
	text, err := os.ReadFile(opaque.file("document"))
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ := runRoot(string(text), "plan", "--form", schema.FormOpaque, "--document", "-"); code != exit.OK || !strings.Contains(out, opaque.hash) {
		t.Errorf("from standard input: code %d\n%s", code, out)
	}
}

// What is wrong is told at once, each with its place.
func TestPlanProblems(t *testing.T) {
	deep := strings.Repeat("[", 600) + strings.Repeat("]", 600)
	for _, c := range []struct {
		name, form string
		change     func(t *testing.T, e *example)
		want       []string // reason, where
		refusal    string
	}{
		{"steps", schema.FormExecutionPlan, func(t *testing.T, e *example) {
			e.write(t, "document", `{"version":"1","goal":3,"steps":[{"id":"a","capability":"orders.create","input":{"sku":"","quantity":1}},
				{"id":"b","capability":"orders.read","input":{"id":{"$ref":"steps.c.result"}}},7]}`)
			e.write(t, "admission", `{"capabilities":[{"id":"orders.create","version":"1","inputSchema":{"properties":{"sku":{"minLength":1}}}},{"id":"orders.read","version":"2"}]}`)
		}, []string{"invalid-plan document /goal", "invalid-input document /steps/0/input/sku", "unknown-reference document /steps/1/input/id/$ref", "invalid-step document /steps/2"},
			"PLAN_INVALID (invalid-plan)"},
		{"all parts", schema.FormGraphPlan, func(t *testing.T, e *example) {
			e.parts["document"].(map[string]any)["graph"].(map[string]any)["id"] = " x"
			e.write(t, "document", e.parts["document"])
			e.parts["admission"].(map[string]any)["package"].(map[string]any)["digest"] = "x"
			e.write(t, "admission", e.parts["admission"])
			e.write(t, "params", "[]")
		}, []string{"INVALID_ID document /graph/id", "INVALID_DIGEST admission /package/digest", "INVALID_JSON_VALUE params "}, "PLAN_INVALID (INVALID_ID)"},
		{"a member with the name of a part", schema.FormRunPlan, func(t *testing.T, e *example) {
			e.parts["document"].(map[string]any)["identity"] = 1
			e.write(t, "document", e.parts["document"])
			delete(e.parts["identity"].(map[string]any), "workflowId")
			e.write(t, "identity", e.parts["identity"])
		}, []string{"envelope document /identity", "identity identity "}, "PLAN_INVALID (envelope)"},
		{"another run", schema.FormRunPlan, func(_ *testing.T, e *example) { e.args = append(e.args, "--run", "run-8") },
			[]string{"identity document /runId"}, "PLAN_INVALID (identity)"},
		{"no admission", schema.FormExecutionPlan, func(_ *testing.T, e *example) { e.args = e.args[:5] },
			[]string{"SCHEMA_INVALID command /admission"}, "SCHEMA_INVALID"},
		{"identity missing, params too many", schema.FormRunPlan, func(t *testing.T, e *example) {
			e.write(t, "params", "{}")
			e.args = append(e.args[:5], "--params", e.file("params"))
		}, []string{"SCHEMA_INVALID command /identity", "SCHEMA_INVALID command /params"}, "SCHEMA_INVALID"},
		{"no JSON", schema.FormGraphPlan, func(t *testing.T, e *example) {
			e.write(t, "document", `{"a":{"b":1,"b":1}}`)
			e.write(t, "admission", `{"n":9007199254740993}`)
			e.write(t, "params", deep)
		}, []string{"JSON_INVALID document /a/b", "JSON_INVALID admission /n", "JSON_INVALID params " + strings.Repeat("/0", 512)}, "JSON_INVALID"},
		{"deep inside a command", schema.FormOpaque, func(t *testing.T, e *example) {
			e.write(t, "document", strings.Repeat("[", 512)+strings.Repeat("]", 512))
		},
			[]string{"JSON_INVALID command /document" + strings.Repeat("/0", 511)}, "JSON_INVALID"},
		{"large", schema.FormOpaque, func(t *testing.T, e *example) { e.write(t, "document", `"`+strings.Repeat("x", schema.MaxBody)+`"`) },
			[]string{"BODY_TOO_LARGE command "}, "BODY_TOO_LARGE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := examples(t)[c.form]
			c.change(t, e)
			code, out, stderr := runRoot("", append(e.args, "--json")...)
			var got refused
			if err := json.Unmarshal([]byte(out), &got); err != nil || code != exit.Failure {
				t.Fatalf("code %d, %v: %s%s", code, err, out, stderr)
			}
			var found []string
			for _, p := range got.Problems {
				name := p.Reason
				if name == "" {
					name = p.Code
				}
				found = append(found, name+" "+p.In+" "+p.Pointer)
				if p.Message == "" {
					t.Errorf("%s is not explained", name)
				}
			}
			if strings.Join(found, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(c.want, "\n"))
			}
			if !strings.Contains(stderr, "a reducer would refuse it with "+c.refusal+"\n") {
				t.Errorf("told %s", stderr)
			}
			if _, out, _ := runRoot("", e.args...); strings.Count(out, "\n") != len(c.want)+1 {
				t.Errorf("as a table:\n%s", out)
			}
		})
	}
}

func TestPlanUsage(t *testing.T) {
	pin := []string{"--pin", "--contract", "c", "--principal", "p", "--run", "r", "--plan", "p"}
	for _, c := range []struct {
		want string
		code int
		args []string
	}{
		{"want one of kxm.run-plan.v2", exit.Usage, []string{"--form", "x", "--document", "-"}},
		{"--pin needs --contract", exit.Usage, []string{"--form", "opaque", "--document", "-", "--pin"}},
		{"--pin needs --plan", exit.Usage, append([]string{"--form", "opaque", "--document", "-"}, pin[:7]...)},
		{"an id has 1 to 256 characters", exit.Usage, []string{"--form", "opaque", "--document", "-", "--run", strings.Repeat("x", 257)}},
		{"the plan of a run that has none", exit.Usage, []string{"--form", "opaque", "--document", "-", "--plan", "none"}},
		{"--wait is for --pin", exit.Usage, []string{"--form", "opaque", "--document", "-", "--wait"}},
		{"standard input can be one of the files", exit.Usage, []string{"--form", "opaque", "--document", "-", "--params", "-"}},
		{"no such file", exit.Failure, []string{"--form", "opaque", "--document", filepath.Join(t.TempDir(), "none")}},
		{"nothing was published", exit.Failure, append([]string{"--form", "opaque", "--document", "-", "--contract", "_unrouted"}, pin[3:]...)},
		{"connect to", exit.Failure, append([]string{"--form", "opaque", "--document", "-", "--nats", "nats://127.0.0.1:1"}, pin...)},
	} {
		args := append([]string{"plan"}, c.args...)
		if c.want == "nothing was published" {
			args = append(args, "--pin")
		}
		if code, _, stderr := runRoot("{}", args...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: code %d, %s", c.want, code, stderr)
		}
	}
}

// pinArgs pin the documented graph plan.
func pinArgs(t *testing.T, url, principal string) []string {
	t.Helper()
	return append(examples(t)[schema.FormGraphPlan].args, "--pin", "--contract", "c 1", "--principal", principal, "--run", "r", "--plan", "p", "--nats", url)
}

// With --pin the inbox gets the canonical command, under an id that stays.
func TestPlanPin(t *testing.T) {
	conn, stream := startServer(t, 0)
	inbox, err := stream.Stream(context.Background(), "AIWS_INBOX_0")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for seq := range uint64(2) {
		code, out, stderr := runRoot("", pinArgs(t, conn.ConnectedUrl(), "owner")...)
		if code != exit.OK || !strings.Contains(out, examples(t)[schema.FormGraphPlan].hash) || !strings.HasSuffix(out, "1 commands published\n") {
			t.Fatalf("code %d, %s%s", code, out, stderr)
		}
		msg, err := inbox.GetMsg(context.Background(), seq+1)
		if err != nil {
			t.Fatal(err)
		}
		command, fault := schema.Decode(msg.Data)
		if fault != nil || msg.Subject != "aiws.cmd.c=201.owner.pinPlan" {
			t.Fatalf("%s: %v", msg.Subject, fault)
		}
		pin := command.(*schema.PinPlan)
		if pin.RunID != "r" || pin.PlanID != "p" || pin.Form != schema.FormGraphPlan || pin.Params != `{"topic":"harvest report"}` {
			t.Errorf("published %+v", pin)
		}
		ids = append(ids, msg.Header.Get(wire.HeaderCommandID))
	}
	if ids[0] == "" || ids[0] != ids[1] {
		t.Errorf("ids %q", ids)
	}
}

func TestPlanPinWait(t *testing.T) {
	conn, stream := startServer(t, 0)
	answer(t, conn, stream)
	code, out, stderr := runRoot("", append(pinArgs(t, conn.ConnectedUrl(), "owner"), "--wait")...)
	if code != exit.OK || !strings.Contains(out, "pinPlan          owner        accepted") {
		t.Errorf("code %d, %s%s", code, out, stderr)
	}
	code, out, _ = runRoot("", append(pinArgs(t, conn.ConnectedUrl(), "mallory"), "--wait")...)
	if code != exit.Rejected || !strings.Contains(out, "rejected  PRINCIPAL_NOT_ALLOWED") {
		t.Errorf("a rejection: code %d, %s", code, out)
	}
}
