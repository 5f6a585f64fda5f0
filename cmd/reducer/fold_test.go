package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
)

// command runs reducer with args.
func command(t *testing.T, stdin string, args ...string) (out string, err error) {
	t.Helper()
	root := newRoot()
	var stdout bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetArgs(args)
	err = root.Execute()
	return stdout.String(), err
}

// Fold reproduces the reference model byte for byte.
func TestFoldGolden(t *testing.T) {
	logs, err := filepath.Glob("../../testdata/golden/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no golden logs: %v", err)
	}
	for _, log := range logs {
		name := strings.TrimSuffix(filepath.Base(log), ".jsonl")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(strings.TrimSuffix(log, ".jsonl") + ".out")
			if err != nil {
				t.Fatal(err)
			}
			got, err := command(t, "", "fold", "--state", "--digest", "--bare", log)
			if err != nil {
				t.Fatal(err)
			}
			compareLines(t, string(want), got)
		})
	}
}

// compareLines shows the first lines that differ: what follows them is chained
// to them and differs too.
func compareLines(t *testing.T, want, got string) {
	t.Helper()
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(wants), len(gots)) {
		var w, g string
		if i < len(wants) {
			w = wants[i]
		}
		if i < len(gots) {
			g = gots[i]
		}
		if w != g {
			t.Fatalf("line %d:\nwant %s\n got %s", i+1, w, g)
		}
	}
}

// The quickstart tells its story, and its refusals are the ones it is about.
func TestFoldQuickstart(t *testing.T) {
	out, err := command(t, "", "fold", "../../testdata/quickstart.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var story []string
	for line := range strings.Lines(out) {
		d, err := events.ParseDecision([]byte(strings.TrimSpace(line)))
		if err != nil {
			t.Fatal(err)
		}
		what := d.Type + " "
		if d.Outcome == events.OutcomeRejected {
			what += string(d.Code)
		} else {
			what += string(d.Outcome)
		}
		story = append(story, what)
	}
	want := []string{
		"openContract accepted",
		"grant accepted",
		"startRun accepted",
		"transition accepted",
		"admit APPROVAL_REQUIRED",
		"approve accepted",
		"admit accepted",
		"dispatch accepted",
		"settle accepted",
		"retry PREVIOUS_EFFECT_UNRESOLVED",
		"settle accepted",
		"retry accepted",
		"dispatch accepted",
		"settle accepted",
		"approve accepted",
		"admit BUDGET_EXCEEDED",
		"transition accepted",
		"verify accepted",
		"accept accepted",
	}
	if diff := cmp.Diff(want, story); diff != "" {
		t.Errorf("story (-want +got):\n%s", diff)
	}
}

// With message and pointer a refusal explains itself; without them nothing else changes.
func TestFoldBare(t *testing.T) {
	line := `{"contract":"c","principal":"p","at":1,"command":{"type":"startRun","runId":7}}`
	full, err := command(t, line, "fold", "-")
	if err != nil || !strings.Contains(full, `"pointer":"/runId"`) || !strings.Contains(full, `"message":`) {
		t.Errorf("%s, %v", full, err)
	}
	bare, err := command(t, line, "fold", "--bare", "-")
	if err != nil || strings.Contains(bare, `"pointer"`) || strings.Contains(bare, `"message"`) {
		t.Errorf("%s, %v", bare, err)
	}
}

// Recorded decisions are compared with those that are made now, message and
// pointer aside.
func TestFoldRecorded(t *testing.T) {
	file, err := os.ReadFile("../../testdata/quickstart.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	records, err := command(t, string(file), "fold", "-")
	if err != nil {
		t.Fatal(err)
	}
	commands, decided := strings.SplitAfter(string(file), "\n"), strings.SplitAfter(records, "\n")
	var export strings.Builder
	for i := range 19 {
		export.WriteString(strings.TrimSuffix(commands[i], "}\n") + `,"decision":` + strings.TrimSuffix(decided[i], "\n") + "}\n")
	}
	whole := export.String()
	if out, err := command(t, whole, "fold", "-"); err != nil || out != records {
		t.Errorf("the same decisions: %v\n%s", err, out)
	}
	if out, err := command(t, strings.Replace(whole, `"message":"the contract wants`, `"message":"The contract wants`, 1), "fold", "-"); err != nil || out != records {
		t.Errorf("other prose: %v", err)
	}
	for change, command := range map[string]string{`"code":"APPROVAL_REQUIRED"`: "command 5", `"decision":{"at":"1767600180000"`: "command 3"} {
		other := strings.Replace(whole, change, strings.Replace(strings.Replace(change, "APPROVAL_REQUIRED", "APPROVAL_NOT_FOUND", 1), "1767", "1768", 1), 1)
		if other == whole {
			t.Fatalf("%s is not in the file: the test does not test", change)
		}
		r := run(t, other, "reducer", "fold", "-")
		if r.code != exit.Integrity || r.out != records || !strings.Contains(r.stderr, command+"\n  recorded: ") || !strings.Contains(r.stderr, "1 of 19 recorded decisions") {
			t.Errorf("%s: %s", change, r)
		}
	}
	r := run(t, strings.Replace(whole, `"outcome":"accepted"`, `"outcome":"perhaps"`, 1), "reducer", "fold", "-")
	if r.code != exit.Failure || !strings.Contains(r.stderr, "command 1: the recorded decision: ") {
		t.Errorf("no decision at all: %s", r)
	}
}

func TestFoldErrors(t *testing.T) {
	fine := `{"contract":"c","principal":"p","at":1,"command":{"type":"startRun","runId":"r"}}`
	out, err := command(t, fine+"\n{}", "fold", "-")
	if exit.Code(err) != exit.Failure || !strings.Contains(err.Error(), "-: line 2: /command: is missing") {
		t.Errorf("a broken line: %v", err)
	}
	if strings.Count(out, "\n") != 1 {
		t.Errorf("the line before it is decided: %q", out)
	}
	if _, err := command(t, "", "fold", "no-such-file"); exit.Code(err) != exit.Failure {
		t.Errorf("a missing file: %v", err)
	}
}

// The digest of nothing is the digest of no lines.
func TestFoldEmpty(t *testing.T) {
	out, err := command(t, "", "fold", "--state", "--digest", "-")
	if want := `{"stateDigest":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}` + "\n"; err != nil || out != want {
		t.Errorf("%s, %v", out, err)
	}
}
