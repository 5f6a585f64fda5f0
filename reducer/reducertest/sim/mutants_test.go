//go:build mutants

package sim

import (
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

var mutantSeeds = flag.Uint64("sim.mutantseeds", 4000, "how many seeds TestMutants plays against each mutation at most")

// caughtBy are the rules of the checker that a mutation breaks: one of them must
// be the first that is noticed.
var caughtBy = map[string][]string{
	"chain":          {"opened"},
	"doors first":    {"sequence reused"},
	"earlier terms":  {"exit"},
	"end of the log": {"opened", "exit"},
	"fence":          {"block"},
	"nothing ahead":  {"opened", "liveness"},
	"one batch":      {"store"},
	"pass over":      {"block"},
	"publish ahead":  {"block", "other bytes"},
	"purge":          {"sequence reused", "dropped"},
	"read back":      {"too early", "store", "block"},
	"reply early":    {"too early"},
}

// TestMutants switches off one safety step after the other. A seed must be found
// that notices, by the rule that guards the step; the table goes into
// docs/simulation.md.
func TestMutants(t *testing.T) {
	for _, mutant := range slices.Sorted(maps.Keys(loop.Mutants)) {
		t.Run(strings.ReplaceAll(mutant, " ", "-"), func(t *testing.T) {
			loop.Mutant = mutant
			defer func() { loop.Mutant = "" }()
			for seed := uint64(1); seed <= *mutantSeeds; seed++ {
				r := Run(t, Generate(seed))
				if r.Violation == nil {
					continue
				}
				if !slices.Contains(caughtBy[mutant], r.Violation.Rule) {
					t.Errorf("seed %d notices something else: %v\n%s", seed, r.Violation, strings.Join(r.Trace, "\n"))
				}
				shrunk := Shrink(t, r)
				t.Logf("%s: seed %d, rule %q; shortened to\n%s\n%v", loop.Mutants[mutant], seed, r.Violation.Rule, shrunk.Script.String(), shrunk.Violation)
				return
			}
			t.Errorf("%d seeds noticed nothing: %s", *mutantSeeds, loop.Mutants[mutant])
		})
	}
}
