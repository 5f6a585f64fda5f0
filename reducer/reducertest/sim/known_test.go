package sim

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// The faults below are those that other systems of this kind have had. Each is a
// story about the rules, in testdata/known, or a script of the world.

// TestKnownStories runs the stories: a decision that is emitted again, a message
// that nobody can read, two timers at once, a week of missed slots, one id from
// two clients, a permission that expires between admitting and dispatching, two
// writers on one run.
func TestKnownStories(t *testing.T) {
	stories, err := filepath.Glob("testdata/known/*.txt")
	if err != nil || len(stories) != 7 {
		t.Fatalf("%d stories, want 7: %v", len(stories), err)
	}
	for _, story := range stories {
		t.Run(strings.TrimSuffix(filepath.Base(story), ".txt"), func(t *testing.T) { reducertest.RunScenario(t, story) })
	}
}

// small is the installation of the scripts below.
const small = "world seed=7 mode=external clients=2 commands=8 block=4 mirror archive"

// plays runs a script that must keep every promise, and whose trace must show
// that what it is about has happened.
func plays(t *testing.T, script string, shows ...string) *Result {
	t.Helper()
	s, err := Parse(script)
	if err != nil {
		t.Fatal(err)
	}
	r := play(t, s, true)
	trace := strings.Join(r.Trace, "\n")
	if r.Violation != nil {
		t.Fatalf("%v\n%s", r.Violation, trace)
	}
	for _, text := range shows {
		if !strings.Contains(trace, text) {
			t.Errorf("nothing of %q in\n%s", text, trace)
		}
	}
	return r
}

// TestKnownSequenceStartsAgain: the inbox comes back empty and counts from 1
// again. The purge makes it count on, and no command is passed over.
func TestKnownSequenceStartsAgain(t *testing.T) {
	plays(t, small+"\nat 150 server how=zero steps=5", "server: down, inbox 1..0")
	plays(t, strings.Replace(small, "external", "embedded", 1)+"\nat 150 crash how=zero n=3 steps=5", "server: down, inbox 1..0")
}

// TestKnownLogStartsAgain: the log comes back shorter or empty under a newer
// store. That is an integrity error, and nothing is appended.
func TestKnownLogStartsAgain(t *testing.T) {
	for _, n := range []string{"0", "1", "2", "3"} {
		r := plays(t, small+"\nat 150 damage how=older n="+n+"\nat 400 clock how=right", "exit 3", "operator: the log is repaired")
		if r.Stats.Integrity == 0 {
			t.Errorf("n=%s: nobody noticed", n)
		}
	}
}

// TestKnownPositionAheadOfStream: a reader's position is beyond the end of its
// stream, so that it would wait for ever. The purge moves the stream's end up to
// the position first, and what is published then is read.
func TestKnownPositionAheadOfStream(t *testing.T) {
	r := plays(t, small+"\nat 200 server how=tail n=8 steps=3\nat 260 server how=zero steps=3")
	if r.Stats.Answered == 0 || r.Stats.Integrity > 0 {
		t.Error(r.Stats.String())
	}
}

// TestKnownErrorForAWriteThatHappened: the log stores a block and answers an
// error, again and again. Reading it back settles it: no term ends, nothing is
// decided twice.
func TestKnownErrorForAWriteThatHappened(t *testing.T) {
	r := plays(t, small+"\nat 60 append how=stored n=50", "spoiled: log append stored")
	if r.Stats.Starts != 1 || r.Stats.Other > 0 {
		t.Error(r.Stats.String())
	}
}

// TestKnownWriteThatHappensLate: an append arrives after its writer gave it up,
// when the same writer has sent it again, or another has written there.
func TestKnownWriteThatHappensLate(t *testing.T) {
	plays(t, small+"\nat 60 append how=late n=3 steps=2\nat 120 append how=late n=3 steps=60\nat 200 append how=late n=9 steps=400",
		"arrives: a late append")
	plays(t, small+" reducers=2\nat 60 append how=late n=9 steps=90\nat 100 crash steps=4", "arrives: a late append")
}

// TestKnownPausedWriterWakesUp: a reducer stands still in the middle of a write,
// another takes over, and the first goes on as if nothing had been.
func TestKnownPausedWriterWakesUp(t *testing.T) {
	for _, at := range []string{"60", "75", "90", "105", "120", "150"} {
		r := plays(t, small+" reducers=2\nat "+at+" pause steps=150\nat "+at+" pause steps=20 who=1")
		if r.Stats.Fenced == 0 {
			t.Errorf("at %s: nobody was fenced: %s", at, &r.Stats)
		}
	}
}

// TestKnownClocksJump: an hour forward and a day back, of the reducer and of the
// server, with a schedule that is due all the time.
func TestKnownClocksJump(t *testing.T) {
	plays(t, small+"\nat 60 clock how=hour\nat 100 clock how=day\nat 140 clock how=server-hour\nat 200 clock how=server-day\nat 260 clock how=right")
}
