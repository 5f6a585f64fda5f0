package daemon

import (
	"fmt"
	"sync"
	"time"
)

// A clock may differ so much from the time that passed between two looks; a
// jump is told for so long.
const (
	jumpLeast = 5 * time.Second
	jumpTold  = 15 * time.Minute
)

// jumps compares a clock with the time that passes, which a computer counts
// apart from it. A machine that slept looks like a clock that jumped forward,
// and is one to everybody else.
type jumps struct {
	clock func() time.Time

	mu    sync.Mutex
	shown time.Time // by the clock, at the last look
	at    time.Time // of the last look, by a clock that never jumps
	said  string
	since time.Time // when it was said first, by that clock
	total time.Duration
}

func newJumps(clock func() time.Time, now time.Time) *jumps {
	return &jumps{clock: clock, shown: clock().Round(0), at: now}
}

// look returns what to say about a jump since the last look, or "".
func (j *jumps) look(now time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	shown := j.clock().Round(0) // without the count of time passed
	moved := shown.Sub(j.shown) - now.Sub(j.at)
	before := j.shown
	j.shown, j.at = shown, now
	if moved.Abs() < jumpLeast {
		return ""
	}
	way, effect := "forward", "what was due in between is due now"
	if moved < 0 {
		way, effect = "back", "the time of a ledger does not go back: it waits until the clock has passed it"
	}
	j.total += moved
	j.said = fmt.Sprintf("the clock jumped %s %s at %s: %s", moved.Abs().Round(time.Second), way, before.UTC().Format(time.RFC3339), effect)
	j.since = now
	return j.said
}

// lately is the last jump, while it is news.
func (j *jumps) lately(now time.Time) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.said == "" || now.Sub(j.since) > jumpTold {
		return ""
	}
	return j.said
}

// sum is how far the clock has jumped since the start, in all: whole seconds
// forward.
func (j *jumps) sum() float64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.total.Round(time.Second).Seconds()
}
