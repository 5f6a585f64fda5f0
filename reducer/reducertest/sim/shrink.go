package sim

import (
	"slices"
	"testing"
)

// Shrink takes faults out of a failing script, and then whatever else the world
// can do without, for as long as it breaks the same promise.
func Shrink(t *testing.T, failing *Result) *Result {
	t.Helper()
	k := &shrinker{t: t, best: failing}
	k.faults()
	for k.simpler() {
		continue
	}
	k.faults()
	return k.best
}

type shrinker struct {
	t    *testing.T
	best *Result
}

// try keeps a script if it fails in the same way.
func (k *shrinker) try(s Script) bool {
	r := Run(k.t, s)
	if r.Violation == nil || r.Violation.Rule != k.best.Violation.Rule {
		return false
	}
	k.best = r
	return true
}

// faults takes out faults, many at a time at first.
func (k *shrinker) faults() {
	for size := len(k.best.Script.Faults); size > 0; size /= 2 {
		for from := 0; from < len(k.best.Script.Faults); {
			s := k.best.Script
			s.Faults = slices.Delete(slices.Clone(s.Faults), from, min(from+size, len(s.Faults)))
			if !k.try(s) {
				from += size
			}
		}
	}
}

// simpler makes the world one step simpler, if it can.
func (k *shrinker) simpler() bool {
	for _, simplify := range []func(*Setup){
		func(w *Setup) { w.Clients = max(1, w.Clients-1) },
		func(w *Setup) { w.Commands = max(1, w.Commands-1) },
		func(w *Setup) { w.Reducers = 1 },
		func(w *Setup) { w.Archive = false },
		func(w *Setup) { w.Mirror = false },
		func(w *Setup) { w.MaxBytes = 0 },
		func(w *Setup) { w.Cap = 0 },
		func(w *Setup) { w.Cache = 0 },
		func(w *Setup) { w.Interval = false },
	} {
		s := k.best.Script
		simplify(&s.World)
		if s.World != k.best.Script.World && k.try(s) {
			return true
		}
	}
	return false
}
