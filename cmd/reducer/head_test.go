package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
)

// writeFile writes a file for a test and returns its name.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Whoever kept yesterday's heads finds out that history was rewritten, cut, or
// neither.
func TestHeads(t *testing.T) {
	data := t.TempDir()
	s := serve(t, data)
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	yesterday := must(t, 0, "reducer", "head", "--nats", s.url)
	if lines := strings.Split(strings.TrimSpace(yesterday), "\n"); len(lines) != 2 || !strings.Contains(lines[0], `"blockHash"`) || !strings.Contains(lines[1], `"ledger":"onboarding"`) {
		t.Errorf("heads:\n%s", yesterday)
	}
	moreRuns(t, s, 0, 2)
	kept := writeFile(t, "heads", yesterday+must(t, 0, "reducer", "head", "--nats", s.url))
	if out := must(t, 0, "reducer", "verify", "--against", kept, "--nats", s.url); !strings.Contains(out, "heads              4  that were kept elsewhere") {
		t.Errorf("verify of the running reducer:\n%s", out)
	}
	s.stop()
	must(t, 0, "reducer", "verify", "--against", kept, "--data", data)

	restored := filepath.Join(t.TempDir(), "restored")
	export := writeFile(t, "export", must(t, 0, "reducer", "export", "--decisions", "--data", data))
	must(t, 0, "reducer", "import", export, "--data", restored)
	var found verified
	if err := json.Unmarshal([]byte(must(t, 0, "reducer", "verify", "--json", "--against", kept, "--data", restored)), &found); err != nil {
		t.Fatal(err)
	}
	if found.Heads != 2 || found.OtherBlocks != 2 {
		t.Errorf("of a log that was imported from a file: %+v", found)
	}

	for _, c := range []struct {
		name, want string
		change     func(bare string) string
	}{
		{"rewritten", "history was rewritten", func(bare string) string { return strings.ReplaceAll(bare, `"1650"`, `"1640"`) }},
		{"cut", "it lost its end, or is another log", func(bare string) string {
			return strings.Join(strings.SplitAfter(bare, "\n")[:10], "")
		}},
	} {
		forged := filepath.Join(t.TempDir(), "forged")
		bare := must(t, 0, "reducer", "export", "--data", data)
		must(t, 0, "reducer", "import", writeFile(t, "bare", c.change(bare)), "--data", forged)
		must(t, 0, "reducer", "verify", "--data", forged) // by itself it is in order
		r := run(t, "", "reducer", "verify", "--data", forged, "--against", kept)
		if r.code != exit.Integrity || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %s", c.name, r)
		}
	}
	if r := run(t, "no head", "reducer", "verify", "--data", data, "--against", "-"); r.code != 1 || !strings.Contains(r.stderr, "line 1: not a head") {
		t.Errorf("no heads: %s", r)
	}
}

// Diff finds the first command on which two logs differ, however they are kept.
func TestDiff(t *testing.T) {
	data, copied, _ := archived19(t)
	export := must(t, 0, "reducer", "export", "--data", data)
	decided := must(t, 0, "reducer", "export", "--decisions", "--data", data)
	s := serve(t, data)
	for _, other := range []string{copied, writeFile(t, "bare", export), writeFile(t, "decided", decided), s.url} {
		if out := must(t, 0, "reducer", "diff", other, copied); out != "the same 19 commands and decisions\n" {
			t.Errorf("diff of %s and the archive: %s", other, out)
		}
	}
	s.stop()
	lines := strings.SplitAfter(export, "\n")
	for _, c := range []struct {
		name, b, want string
		commands      int
	}{
		{"another amount", strings.ReplaceAll(export, `"1650"`, `"1640"`), "the bodies of the commands", 14},
		{"another decision", strings.Replace(decided, `"message":"`, `"message":"not `, 1), "", 19}, // prose is not compared
		{"one missing", strings.Join(append(lines[:5:5], lines[6:]...), ""), "the sequences of the commands", 5},
		{"the end", strings.Join(lines[:7], ""), "ends", 7},
		{"another time", strings.Replace(export, `"at":17`, `"at":16`, 1), "the times of the commands", 0},
	} {
		r := run(t, c.b, "reducer", "diff", "--json", data, "-")
		var f found
		if err := json.Unmarshal([]byte(r.out), &f); err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, r)
		}
		if same := c.want == ""; f.Same != same || r.code != map[bool]int{true: 0, false: exit.Integrity}[same] || !strings.Contains(f.What, c.want) {
			t.Errorf("%s: %s", c.name, r)
		}
		if c.name != "another amount" && f.Commands != c.commands {
			t.Errorf("%s: after %d commands, want %d", c.name, f.Commands, c.commands)
		}
		if c.want == "ends" && (f.B != nil || f.A == nil) {
			t.Errorf("%s: %s", c.name, r.out)
		}
	}
	r := run(t, lines[0], "reducer", "diff", copied, "-")
	if r.code != exit.Integrity || !strings.Contains(r.out, "- has no further command") || !strings.Contains(r.out, ", command 2:\n  {") {
		t.Errorf("for people: %s", r)
	}
	if r := run(t, "", "reducer", "diff", data, filepath.Join(data, "none")); r.code != 1 {
		t.Errorf("one that is not there: %s", r)
	}
}
