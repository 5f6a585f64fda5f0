package workload_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// TestWorkload makes sure that what is measured is the real thing: runs that
// are accepted in the end, the intended refusals and no others, and the size.
func TestWorkload(t *testing.T) {
	s, r := state.New(state.NewMemory(), state.Cursor{}, 0), reducer.New()
	w := workload.NewWorker("c", "w", 1_800_000_000_000)
	send := func(seq uint64, c workload.Command) *events.Decision {
		return r.Step(s, &events.Message{Seq: seq, Time: 1_800_000_000_000_000_000, Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body})
	}
	seq := uint64(0)
	for _, c := range workload.Open("c") {
		seq++
		if d := send(seq, c); d.Outcome != events.OutcomeAccepted {
			t.Fatalf("%s: %s %s", c.Subject, d.Code, d.Message)
		}
	}
	const commands = 4700 // 200 runs of 23 or 24 commands
	codes, size := map[events.Code]int{}, 0
	for range commands {
		seq++
		c := w.Next()
		size += len(c.Body)
		codes[send(seq, c).Code]++
	}
	want := map[events.Code]int{"": 4200, events.CodeAttemptNotPrepared: 200, events.CodeGrantNotFound: 200, events.CodeTransitionNotAllowed: 100}
	for code, n := range want {
		if codes[code] != n {
			t.Errorf("%q: %d decisions, want %d", code, codes[code], n)
		}
	}
	if len(codes) != len(want) {
		t.Errorf("codes %v", codes)
	}
	if mean := size / commands; mean < 600 || mean > 800 {
		t.Errorf("a command has %d bytes on average, want about 700", mean)
	}
}
