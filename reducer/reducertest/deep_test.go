package reducertest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// TestDeepValues sends every member that may hold any JSON as deep as a body may
// be. What is accepted must be read again from the log and from its row, where
// it stands deeper.
func TestDeepValues(t *testing.T) {
	for _, c := range []struct {
		name, setup, line, body string
		level                   int // of the value in the body
	}{
		{"payload", "", "admit", `"action":{"capability":"buy","preconditions":{},"payload":{"a":%s},"resource":"shop"}`, 3},
		{"preconditions", "", "admit", `"action":{"capability":"buy","preconditions":{"a":%s},"payload":{},"resource":"shop"}`, 3},
		{"document", "", "pin-plan p", `"document":%s`, 1},
		{"equals", "", "register-trigger t", "", 3},
		{"data", "register-trigger t", "fire-trigger t run=s", "", 3},
		{"result", "", "complete-node work", `"result":{"a":%s}`, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reducertest.NewWorld()
			for _, line := range []string{"open-contract", "grant g", "start-run r"} {
				send(t, w, line, "")
			}
			send(t, w, "register-graph graph", "work TASK config={\"effect\":\"none\"}\nend END after=work")
			send(t, w, "attach-graph graph", "")
			send(t, w, "transition RUNNING", "")
			if c.setup != "" {
				send(t, w, c.setup, "")
			}
			const deepest = 512
			value := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
			line, below := c.line, ""
			switch c.name {
			case "equals":
				line += " field=f equals=" + value(deepest-c.level)
			case "data":
				line += ` data={"a":` + value(deepest-c.level) + `}`
			default:
				below = "{" + fmt.Sprintf(c.body, value(deepest-c.level)) + "}"
			}
			send(t, w, line, below)
			if err := w.Replay(reducertest.Variants...); err != nil {
				t.Fatalf("%.300s", err.Error())
			}
		})
	}
}

// send sends a command that must be accepted.
func send(t *testing.T, w *reducertest.World, line, below string) {
	t.Helper()
	d, err := w.Do(line, below)
	if err != nil {
		t.Fatalf("%.300s", err.Error())
	}
	if d.Outcome != events.OutcomeAccepted {
		t.Fatalf("%.60s: %.300s", line, d)
	}
}
