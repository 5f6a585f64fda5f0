package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/scheduler"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// world decides what the scheduler publishes, at a clock of its own.
type world struct {
	t         *testing.T
	seq       uint64
	now       time.Time
	reducer   *reducer.Reducer
	rows      *state.MemoryRows
	state     *state.State
	decisions []*events.Decision
}

func newWorld(t *testing.T) *world {
	rows := state.NewMemory()
	return &world{t: t, now: time.UnixMilli(1000), reducer: reducer.New(), rows: rows, state: state.New(rows, state.Cursor{}, 0)}
}

func (w *world) send(subject, id, body string) *events.Decision {
	w.seq++
	m := &events.Message{Seq: w.seq, Time: w.now.UnixNano(), Subject: subject, Body: []byte(body)}
	if id != "" {
		m.IDs = []string{id}
	}
	d := w.reducer.Step(w.state, m)
	w.rows.Commit(w.state.Take(w.seq))
	w.state.Committed()
	return d
}

func (w *world) must(subject, body string) {
	w.t.Helper()
	if d := w.send(subject, "", body); d.Outcome != events.OutcomeAccepted {
		w.t.Fatalf("%s: %s %s", subject, d.Code, d.Message)
	}
}

func (w *world) round(at int64) []*events.Decision {
	w.t.Helper()
	w.now = time.UnixMilli(at)
	w.decisions = nil
	s := scheduler.Scheduler{
		View: func(f func(*state.Reader) error) error { return f(state.NewReader(w.rows)) },
		Now:  func() time.Time { return w.now },
		Publish: func(_ context.Context, subject, id string, body []byte) error {
			w.decisions = append(w.decisions, w.send(subject, id, string(body)))
			return nil
		},
	}
	if err := s.Round(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	return w.decisions
}

const (
	open   = `{"type":"openContract","contract":{"id":"c","missionId":"m","aiwsEdition":"0.4","profile":"finite-v1","budget":"10","deadline":"9000000","criteria":[],"actions":[],"resources":[],"requiresApproval":false,"maxAttempts":"1","maxAuthorizationAgeMs":"1","features":["triggers"]}}`
	hourly = `{"type":"registerTrigger","trigger":{"id":"t","revision":"1","kind":"SCHEDULED","source":"s","eventType":"e","contractId":"c","action":"START_RUN","enabled":true,"notBefore":"0","expiresAt":"8000000","maxAgeMs":"100000","maxConcurrent":"1","rateLimit":"1","rateWindowMs":"1","maxDepth":"1","schedule":{"startMs":"10000","intervalMs":"10000","catchUp":"ALL","maxCatchUp":"1"}}}`
)

func TestTriggerTicksOncePerSlot(t *testing.T) {
	w := newWorld(t)
	w.must("aiws.cmd.c.owner.openContract", open)
	w.must("aiws.cmd.c.owner.registerTrigger", hourly)
	if got := w.round(9_999); len(got) != 0 {
		t.Fatalf("published %d commands before anything was due", len(got))
	}
	if got := w.round(10_000); len(got) != 1 || got[0].Outcome != events.OutcomeAccepted {
		t.Fatalf("slot 10000: %v", got)
	}
	if got := w.round(10_500); len(got) != 0 {
		t.Fatalf("published %d commands after the slot was taken", len(got))
	}
}

func TestLimitedTickIsTriedAgainUnderNewIDs(t *testing.T) {
	w := newWorld(t)
	w.must("aiws.cmd.c.owner.openContract", open)
	w.must("aiws.cmd.c.owner.registerTrigger", hourly)
	w.round(10_000) // one run lives, at most one may
	if got := w.round(20_000); len(got) != 1 || got[0].Code != events.CodeConcurrencyLimited {
		t.Fatalf("limited: %v", got)
	}
	if got := w.round(20_100); len(got) != 1 || got[0].Outcome != events.OutcomeDuplicate {
		t.Fatalf("the same round again: %v", got)
	}
	w.must("aiws.cmd.c.owner.transition", `{"type":"transition","runId":"t@10000","to":"FAILED"}`)
	if got := w.round(21_000); len(got) != 1 || got[0].Outcome != events.OutcomeAccepted {
		t.Fatalf("a second later: %v", got)
	}
}

func TestTimerIsResumedWhileItsRunLives(t *testing.T) {
	w := newWorld(t)
	w.must("aiws.cmd.c.owner.openContract", open)
	for _, id := range []string{"live", "over"} {
		w.must("aiws.cmd.c.owner.startRun", `{"type":"startRun","runId":"`+id+`"}`)
		w.must("aiws.cmd.c.owner.wait", `{"type":"wait","runId":"`+id+`","waitId":"w-`+id+`","correlation":"k","deadline":"5000","kind":"TIMER"}`)
	}
	w.must("aiws.cmd.c.owner.transition", `{"type":"transition","runId":"over","to":"FAILED"}`)
	got := w.round(5_000)
	if len(got) != 1 || got[0].Outcome != events.OutcomeAccepted || !strings.Contains(string(got[0].Append(nil)), "w-live") {
		t.Fatalf("due at 5000: %v", got)
	}
}

func TestSuspendedMissionDoesNotTick(t *testing.T) {
	w := newWorld(t)
	w.must("aiws.cmd.c.owner.openContract", open)
	w.must("aiws.cmd.c.owner.registerTrigger", hourly)
	w.must("aiws.cmd.c.owner.missionState", `{"type":"missionState","state":"SUSPENDED"}`)
	if got := w.round(10_000); len(got) != 0 {
		t.Fatalf("ticked while suspended: %v", got)
	}
	w.must("aiws.cmd.c.owner.missionState", `{"type":"missionState","state":"OPEN"}`)
	if got := w.round(10_001); len(got) != 1 {
		t.Fatalf("after opening: %v", got)
	}
}
