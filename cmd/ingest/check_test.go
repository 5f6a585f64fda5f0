package main

import (
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
)

func newChecker(file string, unchecked bool) *checker {
	return &checker{reader: logfile.NewReader(strings.NewReader(file)), unchecked: unchecked}
}

const (
	addressed = `{"contract":"c","principal":"p",`
	started   = `"command":{"type":"startRun","runId":"r"}}`
)

func TestCheckNamesLineAndPlace(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{addressed + `"command":{"type":"startRun"}}`, `line 1: /command`},
		{addressed + `"command":{"type":"startRun","runId":"r","RunId":"r"}}`, `line 1: /command/RunId: SCHEMA_INVALID`},
		{addressed + `"command":{"type":"startRun","runId":"` + strings.Repeat("x", 257) + `"}}`, `line 1: /command/runId: SCHEMA_INVALID`},
		{addressed + `"command":{"type":"startRun","runId":["x"]}}`, `line 1: /command/runId: SCHEMA_INVALID`},
		{addressed + `"command":{"type":"dance"}}`, `line 1: /type: SUBJECT_INVALID`},
		{addressed + `"type":"settle",` + started, `line 1: /type: SUBJECT_MISMATCH`},
		{addressed + `"type":"startRun","raw":"{"}`, `line 1: /raw: JSON_INVALID`},
		{addressed + `"type":"startRun","raw":"` + strings.Repeat("[", 10_000) + `"}`, `line 1: /raw`},
		{addressed + `"id":"",` + started, `line 1: /id: COMMAND_ID_INVALID`},
		{addressed + `"id":"seq-1",` + started, `line 1: /id: COMMAND_ID_INVALID`},
		{addressed + `"ids":["a","b"],` + started, `line 1: /id: COMMAND_ID_INVALID`},
		{`{"contract":"_unrouted","principal":"p",` + started, `line 1: /contract: SUBJECT_INVALID`},
		{`{"contract":"c","principal":"` + strings.Repeat("x", 257) + `",` + started, `line 1: /principal: SUBJECT_INVALID`},
		{`{"subject":"aiws.cmd.c",` + started, `line 1: /subject: SUBJECT_INVALID`},
		{addressed + `"type":"startRun","raw":"` + strings.Repeat(" ", 384<<10) + `{}"}`, `line 1: /raw: BODY_TOO_LARGE`},
	} {
		count, err := newChecker(c.line, false).checkFile()
		if err == nil || count != 0 || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.120s:\n got %v\nwant %s", c.line, err, c.want)
		}
	}
}

// A file's faults are told together, and not without end.
func TestCheckCollects(t *testing.T) {
	_, err := newChecker("{}\n"+addressed+started+"\n[]\n", false).checkFile()
	if got := len(strings.Split(err.Error(), "\n")); got != 2 {
		t.Errorf("%d faults told, want 2: %v", got, err)
	}
	_, err = newChecker(strings.Repeat("{}\n", 1000), false).checkFile()
	if got := strings.Count(err.Error(), "/command: is missing"); got != maxFaults {
		t.Errorf("%d faults told, want %d", got, maxFaults)
	}
}

func TestUnchecked(t *testing.T) {
	fine := []string{
		addressed + `"type":"startRun","raw":"{"}`,
		addressed + `"id":"",` + started,
		`{"subject":"aiws.cmd.c","raw":""}`,
		`{"contract":"_unrouted","principal":"p","type":"t","raw":""}`,
	}
	if count, err := newChecker(strings.Join(fine, "\n"), true).checkFile(); err != nil || count != len(fine) {
		t.Errorf("%d lines, %v", count, err)
	}
	for _, line := range []string{
		`{"subject":"aiws.cmd","raw":""}`,
		`{"subject":"aiws.log.0","raw":""}`,
		`{"subject":"aiws.cmd.a b","raw":""}`,
		`{"subject":"aiws.cmd.a\r\nPUB x 0","raw":""}`,
		`{"subject":"aiws.cmd.*","raw":""}`,
		`{"subject":"aiws.cmd.>","raw":""}`,
		`{"subject":"aiws.cmd..x","raw":""}`,
		addressed + `"id":"a\r\nb",` + started,
	} {
		if _, err := newChecker(line, true).checkFile(); err == nil {
			t.Errorf("%s can be published?", line)
		}
	}
}

func TestIDs(t *testing.T) {
	c := newChecker(addressed+started+"\n"+addressed+started+"\n"+addressed+`"id":"mine",`+started, false)
	seen := map[string]bool{}
	for range 3 {
		command, err := c.next()
		if err != nil || len(command.IDs) != 1 || seen[command.IDs[0]] {
			t.Fatalf("%+v, %v", command, err)
		}
		seen[command.IDs[0]] = true
	}
	if !seen["mine"] {
		t.Error("an id that was given is kept")
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(addressed+started), false)
	f.Add([]byte(`{"subject":"aiws.cmd.c","ids":[],"rawBase64":"/w=="}`), true)
	f.Fuzz(func(_ *testing.T, file []byte, unchecked bool) {
		_, _ = newChecker(string(file), unchecked).checkFile()
	})
}
