package reducer_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// TestEveryGraphEnds: whatever is decided, in whatever order nodes are completed,
// a graph that registerGraph takes leads to an END, and its run can be
// COMPLETED (RULES 11).
func TestEveryGraphEnds(t *testing.T) {
	ended := 0
	rapid.Check(t, func(t *rapid.T) {
		w := reducertest.NewWorld()
		mustDo(t, w, 1, "open-contract")
		m, err := w.Message("register-graph g", anyGraph(t))
		if err != nil {
			t.Fatal(err)
		}
		d, err := w.Step(m)
		if err != nil {
			t.Fatal(err)
		}
		if d.Code != "" {
			return // this one does not hang together
		}
		for _, line := range []string{"start-run r", "attach-graph g", "transition RUNNING"} {
			mustDo(t, w, 1, line)
		}
		graph := w.State.Graph("c", "g")
		for {
			var ready []int
			for i := range graph.Nodes {
				node := w.State.Node("c", "r", graph.Nodes[i].ID)
				if node.Pending() && graph.Ready(i, &node) {
					ready = append(ready, i)
				}
			}
			if len(ready) == 0 {
				break
			}
			i := rapid.SampledFrom(ready).Draw(t, "node")
			mustDo(t, w, 1, "complete-node "+graph.Nodes[i].ID+" result="+chosen(t, graph.Nodes, graph.Dependents(i), graph.Nodes[i].Kind))
		}
		mustDo(t, w, 1, "transition COMPLETED")
		ended++
	})
	if ended < 10 {
		t.Errorf("only %d graphs hung together", ended)
	}
}

// chosen is a result: for a DECISION some of its dependents.
func chosen(t *rapid.T, nodes []schema.Node, dependents []int, kind string) string {
	if kind != events.NodeDecision {
		return "{}"
	}
	var names []string
	for len(names) == 0 {
		for _, j := range dependents {
			if rapid.Bool().Draw(t, "select") {
				names = append(names, `"`+nodes[j].ID+`"`)
			}
		}
	}
	return `{"selected":[` + strings.Join(names, ",") + `]}`
}

// anyGraph is a graph as a scenario writes it; ENDs are where nothing depends on
// a node.
func anyGraph(t *rapid.T) string {
	n := rapid.IntRange(1, 12).Draw(t, "nodes")
	after, led := make([][]string, n), make([]int, n)
	for i := range n {
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				after[i] = append(after[i], fmt.Sprint("n", j))
				led[j]++
			}
		}
	}
	var b strings.Builder
	for i := range n {
		kinds := []string{"TASK", "FORK"}
		if led[i] > 1 {
			kinds = append(kinds, "DECISION", "DECISION")
		}
		if len(after[i]) > 1 {
			kinds = append(kinds, "JOIN")
		}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		config := map[string][]string{
			"TASK": {`{"effect":"none"}`}, "JOIN": {`{}`, `{"mode":"ANY"}`, `{"mode":"ALL"}`}, "FORK": {`{}`}, "DECISION": {`{}`},
		}[kind]
		if led[i] == 0 {
			kind, config = "END", []string{`{}`}
		}
		fmt.Fprintf(&b, "n%d %s config=%s", i, kind, rapid.SampledFrom(config).Draw(t, "config"))
		if len(after[i]) > 0 {
			fmt.Fprintf(&b, " after=(%s)", strings.Join(after[i], ", "))
		}
		b.WriteString("\n")
	}
	return strings.TrimSpace(b.String())
}
