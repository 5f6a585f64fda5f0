package outlook_test

import (
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/outlook"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// told runs a story, a command a line; each must be accepted. Lines that begin
// with a blank stand below the command before them.
func told(t *testing.T, w *reducertest.World, story string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(story), "\n")
	for i := 0; i < len(lines); i++ {
		line, below := lines[i], ""
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ") {
			i++
			below += strings.TrimSpace(lines[i]) + "\n"
		}
		if d, err := w.Do(line, below); err != nil || d.Outcome != events.OutcomeAccepted {
			t.Fatalf("%s: %s, %v", line, d, err)
		}
	}
}

const plain = `
open-contract max-attempts=9 requires-approval=true budget=1000
grant top subject=lead
start-run r
transition RUNNING
`

const graph = `
open-contract requires-approval=false
register-graph graph
 gate DECISION
 buy TASK after=gate
 other TASK after=gate
 end END after=(buy, other)
grant g
start-run r
attach-graph graph
transition RUNNING
admit o approval=
`

// What an attempt waits for is what dispatch would be answered, for every kind
// of thing that may stand in its way.
func TestAttempt(t *testing.T) {
	one := plain + "grant g\napprove ok\nadmit o approval=ok\n"
	for _, c := range []struct {
		name, story string
		now         int64
		want        string // for, code, node
		message     string
	}{
		{"ready", one, 1500, "dispatch", `"agent" may dispatch it now`},
		{"grant revoked", one + "revoke-grant g", 1500, "change GRANT_REVOKED", "revoked"},
		{"grant expired", plain + "grant g expires=2000\napprove ok\nadmit o approval=ok", 2000, "change GRANT_EXPIRED", "ended at 2000"},
		{"approval withdrawn", one + "withdraw-approval ok", 1500, "change APPROVAL_WITHDRAWN", "withdrawn"},
		{"approval expired", plain + "grant g\napprove ok expires=2000\nadmit o approval=ok", 2000, "change APPROVAL_EXPIRED", "ended at 2000"},
		{"mission suspended", one + "mission-state SUSPENDED", 1500, "change MISSION_NOT_OPEN", "SUSPENDED"},
		{"deadline", one, 100000, "change CONTRACT_EXPIRED", "deadline"},
		{"run paused", one + "transition PAUSED", 1500, "change RUN_NOT_RUNNING", "PAUSED"},
		{"epoch", one + "continue-run s2", 1500, "change EPOCH_STALE", "epoch 0"},
		{"dispatched", one + "dispatch o-1", 1500, "settle", "nobody has settled"},
		{"unknown", one + "dispatch o-1\nsettle o-1 effect=UNKNOWN cost=0", 1500, "settle", "not known"},
		{"same effect", one + "grant g2\napprove ok2\nadmit p approval=ok2 grant=g2\ndispatch p-1", 1500, "change EFFECT_UNRESOLVED", `"p"`},
		{"listed only", strings.Replace(one, "requires-approval=true", "requires-approval=true allow.dispatch=(adapter)", 1), 1500, "dispatch", `"adapter" may`},
		{"acting for it", strings.Replace(one, "requires-approval=true", "requires-approval=true act-for.agent=(helper) allow.dispatch=(helper)", 1), 1500, "dispatch", `"helper" may`},
		{"nobody may", strings.Replace(one, "requires-approval=true", "requires-approval=true act-for.agent=(helper) allow.dispatch=(adapter)", 1), 1500, "change PRINCIPAL_NOT_ALLOWED", "agent"},
		{"node not ready", strings.ReplaceAll(graph, " approval=", ""), 1500, "change NODE_NOT_READY", `no node of graph "graph" takes it; "buy"`},
		{"node ready", strings.ReplaceAll(graph, " approval=", "") + `complete-node gate result={"selected":["other"]}`, 1500, "dispatch other", "may dispatch"},
		{"clock behind the log", one, 0, "dispatch", "may dispatch"},
		{"no such attempt", plain, 1500, "change", "no such attempt"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reducertest.NewWorld()
			told(t, w, c.story)
			w.Commit()
			before := w.State.Hash()
			got, err := outlook.Attempt(state.NewReader(w.Rows).State(), "c", "o-1", c.now)
			if err != nil {
				t.Fatal(err)
			}
			if is := strings.TrimSpace(strings.TrimSpace(got.For+" "+got.Code) + " " + got.NodeID); is != c.want || !strings.Contains(got.Message, c.message) {
				t.Errorf("%s: %s, want %s: %s", is, got.Message, c.want, c.message)
			}
			if changes := w.Commit(); len(changes) > 0 || w.State.Hash() != before {
				t.Error("asking changed the state")
			}
		})
	}
}
