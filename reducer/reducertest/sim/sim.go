package sim

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Result is how a run ended.
type Result struct {
	Script    Script
	Violation *Violation // nil: every promise was kept
	Digest    string     // of the trace; the same for the same script
	Trace     []string   // its end
	Stats     Stats
}

// Stats are what happened in one run, or in many.
type Stats struct {
	Runs, Steps, Faults       int
	Sent, Answered, Decisions int
	Blocks, Starts, Fenced    int
	Integrity, Orderly, Other int
}

func (s *Stats) exit(err error) {
	switch {
	case errors.Is(err, loop.ErrFenced):
		s.Fenced++
	case errors.Is(err, loop.ErrIntegrity):
		s.Integrity++
	case err == nil:
		s.Orderly++
	default:
		s.Other++
	}
}

// Add adds the figures of another run.
func (s *Stats) Add(o *Stats) {
	s.Runs += o.Runs
	s.Steps += o.Steps
	s.Faults += o.Faults
	s.Sent += o.Sent
	s.Answered += o.Answered
	s.Decisions += o.Decisions
	s.Blocks += o.Blocks
	s.Starts += o.Starts
	s.Fenced += o.Fenced
	s.Integrity += o.Integrity
	s.Orderly += o.Orderly
	s.Other += o.Other
}

// String is the figures in a sentence.
func (s *Stats) String() string {
	return fmt.Sprintf("%d runs, %d steps, %d faults; %d commands sent for %d answered; %d decisions in %d blocks; "+
		"%d processes: %d ended fenced, %d with an integrity error, %d in order, %d otherwise",
		s.Runs, s.Steps, s.Faults, s.Sent, s.Answered, s.Decisions, s.Blocks, s.Starts, s.Fenced, s.Integrity, s.Orderly, s.Other)
}

// Run plays a script. It never fails t; t is what a bubble needs.
func Run(t *testing.T, s Script) *Result { return play(t, s, false) }

func play(t *testing.T, s Script, whole bool) *Result {
	t.Helper()
	result := &Result{Script: s}
	synctest.Test(t, func(*testing.T) {
		w := newWorld(&s)
		w.trace.whole = whole
		w.run()
		w.stats.Runs, w.stats.Steps = 1, w.step
		w.stats.Blocks, w.stats.Decisions = len(w.server.log), len(w.check.model.entries)
		result.Violation, result.Digest, result.Trace, result.Stats = w.broken, w.trace.digest(), w.trace.tail(), w.stats
	})
	return result
}

// Report tells what failed and how to see it again.
func (r *Result) Report(shrunk *Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %v\n", r.Script.Seed, r.Violation)
	fmt.Fprintf(&b, "again: make sim SEED=%d SEEDS=1\n", r.Script.Seed)
	fmt.Fprintf(&b, "shortened from %d faults to %d (put it into testdata/found and it is a test):\n\n%s\n\n%v\n\nthe end of its trace:\n%s\n",
		len(r.Script.Faults), len(shrunk.Script.Faults), shrunk.Script.String(), shrunk.Violation, strings.Join(shrunk.Trace, "\n"))
	return b.String()
}

func hexOf(hash [32]byte) string { return hex.EncodeToString(hash[:]) }
