package reducer_test

import (
	"fmt"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// TestInvalidateManyDependents: one command invalidates 150 assessments, the
// last of which says that there is more; the next command goes on.
func TestInvalidateManyDependents(t *testing.T) {
	w := reducertest.NewWorld()
	send(t, w, "open-contract", "")
	send(t, w, "register-graph g", "part SUBWORKFLOW\nend END after=part")
	send(t, w, "start-run part", "")
	send(t, w, "transition RUNNING run=part", "")
	send(t, w, "transition COMPLETED run=part", "")
	const dependents = 320
	w.Quick = true // the invariants are checked at the end
	for n := range dependents {
		id := fmt.Sprintf("r%03d", n)
		for _, line := range []string{"start-run r", "attach-graph g", "transition RUNNING", `complete-node part result={"runId":"part"}`, "verify v1"} {
			send(t, w, line+" runId="+id, "")
		}
	}
	w.Quick = false
	var seen []string
	for _, want := range []struct {
		count int
		more  bool
	}{{150, true}, {150, true}, {20, false}} {
		d, err := w.Do("invalidate part", "")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Events) != want.count {
			t.Fatalf("%d events, want %d", len(d.Events), want.count)
		}
		for i, e := range d.Events {
			e := e.(*events.AssessmentInvalidated)
			seen = append(seen, e.RunID)
			if last := i == len(d.Events)-1; e.More != (last && want.more) || e.Cause != "part" || e.Reason != "" {
				t.Fatalf("event %d: %s", i, events.Format(e))
			}
		}
	}
	for n, id := range seen {
		if id != fmt.Sprintf("r%03d", n) {
			t.Fatalf("event %d is about run %s", n, id)
		}
	}
	if d, err := w.Do("invalidate part", ""); err != nil || d.Code != events.CodeNothingToInvalidate {
		t.Fatal(d, err)
	}
}

// TestInvalidateWalk: breadth first, each level sorted by run, each run once,
// and through runs that have no live verification.
func TestInvalidateWalk(t *testing.T) {
	w := reducertest.NewWorld()
	send(t, w, "open-contract", "")
	send(t, w, "register-graph two", "x SUBWORKFLOW\ny SUBWORKFLOW\nend END after=(x, y)")
	send(t, w, "register-graph one", "x SUBWORKFLOW\nend END after=x")
	// bottom <- b, a <- silent <- c; top rests on b and c.
	for _, run := range []struct {
		id, graph, x, y string
		verified        bool
	}{
		{"bottom", "", "", "", true},
		{"b", "one", "bottom", "", true},
		{"a", "one", "bottom", "", true},
		{"silent", "one", "a", "", false},
		{"c", "one", "silent", "", true},
		{"top", "two", "b", "c", true},
	} {
		send(t, w, "start-run "+run.id, "")
		if run.graph != "" {
			send(t, w, "attach-graph "+run.graph+" run="+run.id, "")
		}
		send(t, w, "transition RUNNING run="+run.id, "")
		for node, part := range map[string]string{"x": run.x, "y": run.y} {
			if part != "" {
				send(t, w, `complete-node `+node+` run=`+run.id+` result={"runId":"`+part+`"}`, "")
			}
		}
		if run.graph != "" {
			send(t, w, "complete-node end run="+run.id, "")
		}
		send(t, w, "transition COMPLETED run="+run.id, "")
		if run.verified {
			send(t, w, "verify v run="+run.id, "")
		}
	}
	d, err := w.Do("invalidate bottom", "")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range d.Events {
		got = append(got, e.(*events.AssessmentInvalidated).RunID)
	}
	if want := "[bottom a b top c]"; fmt.Sprint(got) != want {
		t.Errorf("invalidated %v, want %s", got, want)
	}
}
