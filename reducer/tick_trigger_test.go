package reducer_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// schedule is a trigger of small numbers, and a naive reading of RULES 9: it
// looks at every slot.
type schedule struct {
	start, every, notBefore, expires, maxAge  int64
	catchUp                                   string
	maxCatchUp, rateLimit, rateWindow, maxRun int64

	cursor  int64 // -1: none
	firings []int64
	live    []string
}

// tick is what a tick at now comes to: the slots admitted and the refusal.
func (s *schedule) tick(now int64) (admitted []int64, skipped int64, code events.Code) {
	var due []int64
	for slot := s.start; slot <= now; slot += s.every {
		if slot > s.cursor && slot >= s.notBefore && slot < s.expires {
			due = append(due, slot)
		}
	}
	if len(due) == 0 {
		return nil, 0, events.CodeTriggerNotDue
	}
	fresh := slices.DeleteFunc(slices.Clone(due), func(slot int64) bool { return now-slot > s.maxAge })
	chosen := fresh
	switch s.catchUp {
	case events.CatchUpSkip:
		if len(due) != 1 {
			chosen = nil
		}
	case events.CatchUpLatest:
		chosen = fresh[max(0, len(fresh)-1):]
	case events.CatchUpAll:
		chosen = fresh[:min(len(fresh), int(s.maxCatchUp))]
	}
	moved, stop := due[len(due)-1], events.Code("")
	if s.catchUp == events.CatchUpAll && len(fresh) > 0 {
		moved = -1
		for _, slot := range due {
			if slot < fresh[0] {
				moved = slot
			}
		}
	}
	for _, slot := range chosen {
		if code := s.limited(now); code != "" {
			if s.catchUp == events.CatchUpAll {
				stop = code
				break
			}
			continue
		}
		admitted = append(admitted, slot)
		s.firings = append(s.firings, now)
		s.live = append(s.live, fmt.Sprintf("t@%d", slot))
		if s.catchUp == events.CatchUpAll {
			moved = slot
		}
	}
	if moved < 0 {
		return nil, 0, stop
	}
	for _, slot := range due {
		if slot <= moved && !slices.Contains(admitted, slot) {
			skipped++
		}
	}
	s.cursor = moved
	return admitted, skipped, ""
}

func (s *schedule) limited(now int64) events.Code {
	var recent int64
	for _, at := range s.firings {
		if now-at < s.rateWindow {
			recent++
		}
	}
	switch {
	case recent >= s.rateLimit:
		return events.CodeRateLimited
	case int64(len(s.live)) >= s.maxRun:
		return events.CodeConcurrencyLimited
	}
	return ""
}

// TestTickBySlots compares the arithmetic of tickTrigger with that reading, over
// schedules of every kind and ticks at any time.
func TestTickBySlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := func(name string, low, high int64) int64 { return rapid.Int64Range(low, high).Draw(t, name) }
		s := &schedule{
			start: small("start", 0, 400), every: small("every", 1, 60), notBefore: small("notBefore", 0, 400),
			maxAge: small("maxAge", 0, 200), catchUp: rapid.SampledFrom(schema.CatchUps).Draw(t, "catchUp"),
			maxCatchUp: small("maxCatchUp", 1, 6), rateLimit: small("rateLimit", 1, 5), rateWindow: small("rateWindow", 1, 200),
			maxRun: small("maxConcurrent", 1, 8), cursor: -1,
		}
		s.expires = s.notBefore + small("window", 1, 600)
		w := reducertest.NewWorld()
		mustDo(t, w, 0, "open-contract")
		mustDo(t, w, 0, fmt.Sprintf("register-trigger t every=%d start=%d not-before=%d expires=%d max-age=%d catch-up=%s max-catch-up=%d rate-limit=%d rate-window=%d max-concurrent=%d",
			s.every, s.start, s.notBefore, s.expires, s.maxAge, s.catchUp, s.maxCatchUp, s.rateLimit, s.rateWindow, s.maxRun))
		var now int64
		for range rapid.IntRange(1, 12).Draw(t, "ticks") {
			now += small("later", 0, 150)
			if len(s.live) > 0 && rapid.Bool().Draw(t, "end a run") {
				mustDo(t, w, now, "transition FAILED run="+s.live[0])
				s.live = s.live[1:]
			}
			admitted, skipped, code := s.tick(now)
			d := do(t, w, now, "tick-trigger t")
			if d.Code != code {
				t.Fatalf("at %d: %s, want %q", now, d, code)
			}
			if code == "" {
				compareTick(t, d, admitted, skipped, s.cursor)
			}
		}
	})
}

func compareTick(t *rapid.T, d *events.Decision, admitted []int64, skipped, cursor int64) {
	var got []int64
	for _, e := range d.Events {
		switch e := e.(type) {
		case *events.TriggerFired:
			slot, _ := e.Slot.Uint64()
			got = append(got, int64(slot))
		case *events.TriggerCursorMoved:
			moved, _ := e.Cursor.Uint64()
			if e.Admitted != int64(len(admitted)) || e.Skipped != skipped || int64(moved) != cursor {
				t.Fatalf("%s, want admitted=%d cursor=%d skipped=%d", events.Format(e), len(admitted), cursor, skipped)
			}
		}
	}
	if !slices.Equal(got, admitted) {
		t.Fatalf("admitted %v, want %v", got, admitted)
	}
}

func do(t *rapid.T, w *reducertest.World, now int64, line string) *events.Decision {
	m, err := w.Message(line, "")
	if err != nil {
		t.Fatal(err)
	}
	m.Time = now * events.NanosPerMilli
	d, err := w.Step(m)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustDo(t *rapid.T, w *reducertest.World, now int64, line string) {
	if d := do(t, w, now, line); d.Code != "" {
		t.Fatalf("%s: %s", line, d)
	}
}
