package workload_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/bench/workload"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// decided is what came of a worker's commands.
type decided struct {
	commands, bytes int
	codes           map[events.Code]int
	accepted        map[string]int // by type
	duplicates      int
}

// decide opens a ledger and decides the commands of workers in turn.
func decide(t *testing.T, commands int, workers ...*workload.Worker) decided {
	t.Helper()
	s, r := state.New(state.NewMemory(), state.Cursor{}, 0), reducer.New()
	seq := uint64(0)
	send := func(c workload.Command) *events.Decision {
		seq++
		return r.Step(s, &events.Message{Seq: seq, Time: 1_800_000_000_000_000_000, Subject: c.Subject, IDs: []string{c.ID}, Body: c.Body})
	}
	for _, c := range workload.Open(workload.Ledger(0)) {
		if d := send(c); d.Outcome != events.OutcomeAccepted {
			t.Fatalf("%s: %s %s", c.Subject, d.Code, d.Message)
		}
	}
	got := decided{commands: commands, codes: map[events.Code]int{}, accepted: map[string]int{}}
	for i := range commands {
		c := workers[i%len(workers)].Next()
		got.bytes += len(c.Body)
		d := send(c)
		switch d.Outcome {
		case events.OutcomeAccepted:
			got.accepted[d.Type]++
		case events.OutcomeDuplicate:
			got.duplicates++
		default:
			got.codes[d.Code]++
			if !intended[d.Code] {
				t.Fatalf("%s %s: %s %s", c.Subject, c.ID, d.Code, d.Message)
			}
		}
	}
	return got
}

// intended are the refusals that the workload asks for.
var intended = map[events.Code]bool{
	events.CodeAttemptNotPrepared: true, events.CodeGrantNotFound: true,
	events.CodeTransitionNotAllowed: true, events.CodeTriggerNotDue: true,
}

// TestMixed makes sure that what is measured is the real thing: every command
// is accepted now and then, one in ten is refused as intended, and the size.
func TestMixed(t *testing.T) {
	var workers []*workload.Worker
	for number := range 16 {
		workers = append(workers, workload.NewWorker(workload.Ledger(0), number))
	}
	got := decide(t, 16_000, workers...)
	for _, name := range schema.CommandTypes {
		if got.accepted[name] == 0 {
			t.Errorf("no %s was accepted: %v", name, got.accepted)
		}
	}
	refused := 0
	for code := range intended {
		if got.codes[code] == 0 {
			t.Errorf("no refusal %s", code)
		}
		refused += got.codes[code]
	}
	if share := float64(refused) / float64(got.commands); share < 0.09 || share > 0.11 {
		t.Errorf("%.3f of the commands are refused, want 0.1", share)
	}
	if got.duplicates == 0 {
		t.Error("no command was sent twice")
	}
	if mean := got.bytes / got.commands; mean < 650 || mean > 750 {
		t.Errorf("a command has %d bytes on average, want about 700", mean)
	}
}

// TestAttempts: everything is accepted, and an attempt is three commands.
func TestAttempts(t *testing.T) {
	got := decide(t, 62*3, workload.NewAttempts(workload.Ledger(0), 7))
	for _, name := range []string{"admit", "dispatch", "settle"} {
		if got.accepted[name] != 60 {
			t.Errorf("%d %s accepted, want 60: %v", got.accepted[name], name, got.codes)
		}
	}
}

// TestIDs: workers do not meet, and no mark is left.
func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for number := range 3 {
		w := workload.NewWorker(workload.Ledger(number), number)
		for range 500 {
			c := w.Next()
			if bytes.Contains(c.Body, []byte("RRRR")) || bytes.Contains(c.Body, []byte("BBBB")) || bytes.Contains(c.Body, []byte("CCCC")) {
				t.Fatalf("%s has a mark in it: %s", c.ID, c.Body)
			}
			if _, fault := schema.Decode(c.Body); fault != nil {
				t.Fatalf("%s: %v", c.ID, fault)
			}
			seen[c.Subject+" "+c.ID] = true
			if !strings.HasPrefix(c.ID, "w000") {
				t.Fatalf("command id %q", c.ID)
			}
		}
	}
	if len(seen) < 1450 { // a few are sent twice, on purpose
		t.Errorf("%d different command ids of 1500", len(seen))
	}
}
