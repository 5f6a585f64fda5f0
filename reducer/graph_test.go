package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// TestRegisterGraphOrder: each reason is asked of all nodes before the next, so
// each pair of faults stands in one graph, in nodes of their own.
func TestRegisterGraphOrder(t *testing.T) {
	faults := []struct{ reason, nodes string }{
		{"duplicate-node", "twice TASK\ntwice TASK"},
		{"unknown-dependency", "lost END after=nowhere"},
		{"cycle", "round TASK after=again\nagain TASK after=round"},
		{"end-has-dependents", "stop END\nbeyond END after=stop"},
		{"dead-end", "alone TASK"},
		{"join-arity", "single JOIN after=root\nsingle-end END after=single"},
		{"decision-arity", "forced DECISION\nforced-end END after=forced"},
		{"loop-unbounded", "ever LOOP config={\"maxIterations\":0}\never-end END after=ever"},
		{"config", "odd TASK config={\"effect\":1}\nodd-end END after=odd"},
		{"input-schema", "taking TASK in={\"type\":\"thing\"}\ntaking-end END after=taking"},
		{"output-schema", "giving TASK out={\"$defs\":{}}\ngiving-end END after=giving"},
	}
	try := func(nodes string) string {
		w := reducertest.NewWorld()
		send(t, w, "open-contract", "")
		d, err := w.Do("register-graph g", "root TASK\nroot-end END after=root\n"+nodes)
		if err != nil {
			t.Fatal(err)
		}
		return d.Reason
	}
	for i, a := range faults {
		for _, b := range faults[i:] {
			for _, nodes := range []string{a.nodes + "\n" + b.nodes, b.nodes + "\n" + a.nodes} {
				if a == b {
					nodes = a.nodes
				}
				if got := try(nodes); got != a.reason {
					t.Errorf("%s and %s: %q", a.reason, b.reason, got)
				}
			}
		}
	}
}

// send sends a command that must be accepted.
func send(t *testing.T, w *reducertest.World, line, below string) {
	t.Helper()
	if d, err := w.Do(line, below); err != nil || d.Code != "" {
		t.Fatalf("%s: %v %v", line, d, err)
	}
}

// TestNoEndOrder: a graph without an END has no other fault of the reasons
// behind it, but for those before.
func TestNoEndOrder(t *testing.T) {
	for nodes, want := range map[string]string{
		"a TASK":                         "no-end",
		"a TASK\na TASK":                 "duplicate-node",
		"a TASK after=b":                 "unknown-dependency",
		"a TASK after=b\nb TASK after=a": "cycle",
		"a JOIN":                         "no-end",
	} {
		w := reducertest.NewWorld()
		send(t, w, "open-contract", "")
		if d, err := w.Do("register-graph g", nodes); err != nil || d.Reason != want {
			t.Errorf("%q: %v %v, want %s", nodes, d, err, want)
		}
	}
}

func TestRegisterGraphExistsFirst(t *testing.T) {
	w := reducertest.NewWorld()
	send(t, w, "open-contract", "")
	send(t, w, "register-graph g", "end END")
	if d, err := w.Do("register-graph g", "a TASK"); err != nil || d.Code != "GRAPH_EXISTS" {
		t.Errorf("%v %v", d, err)
	}
}

func TestAttachGraphOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nregister-graph g\n  end END\nregister-graph h\n  end END\ngrant g\nstart-run r",
		Command: "attach-graph g",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "GRAPH_NOT_FOUND", Break: "arg graphId=none"},
			{Code: "GRAPH_ATTACHED", Break: "pre attach-graph h"},
			{
				Code:  "RUN_HAS_OPERATIONS",
				Break: "pre transition RUNNING; pre admit o; pre settle o-1 effect=CONFIRMED_NOT_APPLIED cost=0",
			},
		},
	}.Order(t)
}

func TestCompleteNodeOrder(t *testing.T) {
	reducertest.Guards{
		Setup: `
open-contract
register-graph graph
  first TASK config={"effect":"none"}
  work TASK after=first config={"effect":"none"} out={"required":["total"]}
  end END after=work
grant g
start-run r
attach-graph graph
transition RUNNING
complete-node first
`,
		Command: `complete-node work result={"total":1}`,
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_NOT_RUNNING", Break: "then transition PAUSED"},
			{Code: "NODE_NOT_FOUND", Break: "arg nodeId=none"},
			{Code: "NODE_NOT_PENDING", Break: "arg nodeId=first"},
			{Code: "NODE_NOT_READY", Break: "arg nodeId=end"},
			{Code: "NODE_PROOF_MISSING", Break: "pre admit o; pre dispatch o-1 node=work"},
			{Code: "NODE_OUTPUT_INVALID", Break: "arg result={}"},
		},
	}.Order(t)
	reducertest.Guards{
		Setup:   "open-contract\nregister-graph g\n  end END\nstart-run r\nstart-run s\nattach-graph g run=s\ntransition RUNNING run=s",
		Command: "complete-node end run=s",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_NOT_RUNNING", Break: "then transition PAUSED run=s"},
			{Code: "GRAPH_NOT_ATTACHED", Break: "pre transition RUNNING; arg runId=r", Not: "RUN_NOT_RUNNING RUN_NOT_FOUND"},
			{Code: "NODE_NOT_FOUND", Break: "arg nodeId=none"},
		},
	}.Order(t)
}
