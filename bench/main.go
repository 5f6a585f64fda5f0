// Command bench measures the reducer against the raw limits of the machine, in
// one run, and writes the ratios down (DESIGN 6). Machines are noisy: what is
// compared was measured in turn, and ratios are of medians.
//
//	go run ./bench              all of it, about ten minutes; writes bench/RESULTS.md
//	go run ./bench -quick       under a minute; prints lines "bench <name> ratio=<x> target=<y>"
//	                            and ends with 1 if a ratio misses its target by more than 20 percent
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// result is one measured ratio. A ratio of 1 or more always is at least as good
// as the target where more is better; for times and memory the ratio is
// target / measured.
type result struct {
	name   string
	what   string // what was measured, with its figures
	ratio  float64
	target float64
}

// plan says how long each measurement takes.
type plan struct {
	quick    bool
	rounds   int           // each side of a comparison is measured so often, in turn
	span     time.Duration // of one round of load
	commands int           // of the measurements without I/O
	ledger   int           // attempts of the large ledger
	dir      string
}

func main() {
	quick := flag.Bool("quick", false, "a short run that fails on a ratio far below its target")
	out := flag.String("out", "bench/RESULTS.md", "the file for the results of a whole run")
	only := flag.String("only", "", "run one measurement: load, pure, decode, replay, ledger, restart")
	flag.Parse()
	debug.SetGCPercent(300) // as the reducer does
	if err := run(*quick, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(quick bool, out, only string) error {
	dir, err := os.MkdirTemp("", "aiws-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
	p := plan{rounds: 5, span: 6 * time.Second, commands: 300_000, ledger: 1_000_000, dir: dir}
	if quick {
		p = plan{quick: true, rounds: 3, span: 1500 * time.Millisecond, commands: 60_000, ledger: 50_000, dir: dir}
	}
	measurements := []struct {
		name string
		run  func(plan) ([]result, error)
	}{
		{"pure", measurePure}, {"decode", measureDecode}, {"load", measureLoad},
		{"replay", measureReplay}, {"ledger", measureLedger},
	}
	var results []result
	for _, m := range measurements {
		if only != "" && only != m.name {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s ...\n", m.name)
		found, err := m.run(p)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		results = append(results, found...)
		for _, r := range found {
			fmt.Printf("bench %s ratio=%.2f target=%.2f  # %s\n", r.name, r.ratio, r.target, r.what)
		}
	}
	if !quick && only == "" {
		return write(out, results)
	}
	return missed(results)
}

// missed is an error when a ratio is more than 20 percent below its target.
func missed(results []result) error {
	var names []string
	for _, r := range results {
		if r.ratio < 0.8*r.target {
			names = append(names, r.name)
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("more than 20 percent below target: %v", names)
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// quiet runs the garbage collector, so that one measurement does not pay for
// the one before.
func quiet() { runtime.GC() }
