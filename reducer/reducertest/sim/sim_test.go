package sim

import (
	"flag"
	"fmt"
	"sync"
	"testing"
)

var (
	seeds = flag.Int("sim.seeds", 300, "how many seeds TestSeeds plays")
	seed  = flag.Uint64("sim.seed", 1, "the first seed of TestSeeds")
	watch = flag.Bool("sim.trace", false, "print the whole trace of the first seed")
)

// players is how many seeds are played at a time.
const players = 4

// TestSeeds plays seeds. The first one that breaks a promise is shortened and
// printed.
func TestSeeds(t *testing.T) {
	var mu sync.Mutex
	var total Stats
	var failed bool
	next := *seed
	if testing.Short() {
		*seeds = min(*seeds, 50)
	}
	t.Run("players", func(t *testing.T) {
		for i := range players {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				for {
					mu.Lock()
					s := next
					next++
					stop := failed || s >= *seed+uint64(*seeds)
					mu.Unlock()
					if stop {
						return
					}
					r := play(t, Generate(s), *watch)
					if *watch {
						for _, line := range r.Trace {
							t.Log(line)
						}
					}
					mu.Lock()
					total.Add(&r.Stats)
					first := r.Violation != nil && !failed
					failed = failed || r.Violation != nil
					mu.Unlock()
					if first {
						t.Error(r.Report(Shrink(t, r)))
					}
				}
			})
		}
	})
	t.Log(total.String())
}
