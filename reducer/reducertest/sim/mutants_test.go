//go:build mutants

package sim

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

var mutantSeeds = flag.Uint64("sim.mutantseeds", 4000, "how many seeds TestMutants plays against each mutation at most")

// guards are the rules of the checker that each step is guarded by. A mutation
// may break others too, but it must break this one.
var guards = map[string]string{
	"chain":          "opened",
	"doors first":    "sequence reused",
	"earlier terms":  "exit",
	"end of the log": "opened",
	"fence":          "block",
	"nothing ahead":  "opened",
	"one batch":      "store",
	"pass over":      "block",
	"publish ahead":  "block",
	"purge":          "sequence reused",
	"read back":      "too early",
	"reply early":    "too early",
	"step down":      "fenced",
}

// TestMutants switches off one safety step after the other. A seed must be found
// that notices, by the rule that guards the step: the table of docs/simulation.md.
func TestMutants(t *testing.T) {
	for _, mutant := range slices.Sorted(maps.Keys(loop.Mutants)) {
		t.Run(strings.ReplaceAll(mutant, " ", "-"), func(t *testing.T) {
			loop.Mutant = mutant
			defer func() { loop.Mutant = "" }()
			r := hunt(t, guards[mutant])
			if r == nil {
				t.Fatalf("%d seeds did not notice: %s", *mutantSeeds, loop.Mutants[mutant])
			}
			shrunk := Shrink(t, r)
			t.Logf("%s: rule %q in seed %d, shortened to\n%s\n%v", loop.Mutants[mutant], guards[mutant], r.Script.Seed, &shrunk.Script, shrunk.Violation)
		})
	}
}

// hunt plays seeds until one breaks the rule.
func hunt(t *testing.T, rule string) *Result {
	for seed := uint64(1); seed <= *mutantSeeds; seed++ {
		if r := Run(t, Generate(seed)); r.Violation != nil && r.Violation.Rule == rule {
			return r
		}
	}
	return nil
}

// TestMutantsDocs: docs/simulation.md has every mutation.
func TestMutantsDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, does := range loop.Mutants {
		if line := "| " + name + " | " + does + " | " + guards[name] + " |"; !strings.Contains(string(text), line) {
			t.Errorf("no line %s", line)
		}
	}
}
