package reducertest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

const perLog = 250

// TestRandomLogs makes up logs, checks RULES 11 after each command, and goes
// through each log again in other ways: the same decisions, digests and rows.
func TestRandomLogs(t *testing.T) {
	seen := tally{}
	for seed := range logs(40) {
		w := reducertest.NewWorld()
		if err := w.Random(reducertest.NewGenerator(seed, w.State), perLog, seed); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := w.Replay(reducertest.Variants...); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		seen.add(w.Log)
	}
	seen.report(t)
}

// TestRate says how many commands go through decide, evolve and all invariants.
// The aim is 100,000 a minute.
func TestRate(t *testing.T) {
	start, commands := time.Now(), 0
	for seed := range logs(40) {
		w := reducertest.NewWorld()
		if err := w.Random(reducertest.NewGenerator(seed+1000, w.State), perLog, seed); err != nil {
			t.Fatalf("seed %d: %v", seed+1000, err)
		}
		commands += len(w.Log)
	}
	rate := float64(commands) / time.Since(start).Minutes()
	t.Logf("%d commands, %.0f a minute", commands, rate)
}

// TestAnyLogAnyWay lets rapid choose the log and the way through it; it shortens
// a log that fails.
func TestAnyLogAnyWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		commands := rapid.IntRange(1, 200).Draw(t, "commands")
		w := reducertest.NewWorld()
		g := reducertest.NewGenerator(seed, w.State)
		g.Noise = rapid.IntRange(0, 60).Draw(t, "noise")
		if err := w.Random(g, commands, seed); err != nil {
			t.Fatal(err)
		}
		variant := reducertest.Variant{
			Block: rapid.IntRange(1, 50).Draw(t, "block"), Cache: rapid.IntRange(0, 9).Draw(t, "cache"),
			Restart: rapid.IntRange(0, 5).Draw(t, "restart"), Lag: rapid.IntRange(0, 4).Draw(t, "lag"),
			Decide: rapid.Bool().Draw(t, "decide"),
		}
		if err := w.Replay(variant); err != nil {
			t.Fatal(err)
		}
	})
}

// logs is how many logs a test makes up.
func logs(n uint64) uint64 {
	if testing.Short() {
		return n / 4
	}
	return n
}

// tally counts what came of the commands of many logs.
type tally map[string]map[string]int

func (c tally) add(log []reducertest.Entry) {
	for _, e := range log {
		result := string(e.Decision.Outcome)
		if e.Decision.Code != "" {
			result = string(e.Decision.Code)
		}
		if c[e.Decision.Type] == nil {
			c[e.Decision.Type] = map[string]int{}
		}
		c[e.Decision.Type][result]++
	}
}

// report shows the counts with -v, and fails where a command was never accepted:
// such a generator goes nowhere.
func (c tally) report(t *testing.T) {
	codes := map[string]bool{}
	for _, command := range schema.CommandTypes {
		var line strings.Builder
		for _, result := range slices.SortedFunc(maps.Keys(c[command]), func(a, b string) int { return c[command][b] - c[command][a] }) {
			fmt.Fprintf(&line, " %s=%d", result, c[command][result])
			codes[result] = true
		}
		t.Logf("%-16s%s", command, line.String())
		if c[command]["accepted"] == 0 && !testing.Short() {
			t.Errorf("%s was never accepted", command)
		}
	}
	var missing []string
	for _, info := range events.Codes {
		if !codes[string(info.Code)] {
			missing = append(missing, string(info.Code))
		}
	}
	t.Logf("%d codes of %d; never: %s", len(events.Codes)-len(missing), len(events.Codes), strings.Join(missing, " "))
}
