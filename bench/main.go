// Command bench measures the reducer against the raw limits of the machine, in
// one run, and writes the ratios down (docs/performance.md). Machines are
// noisy: what is compared is measured in turn, and ratios are of medians. Each
// thing measured runs in a process of its own.
//
//	go run ./bench                  all of it, about ten minutes; writes bench/RESULTS.md
//	go run ./bench -quick           under a minute; prints lines "bench <name> ratio=<x> target=<y>"
//	                                and ends with 1 if a ratio misses its target by more than 20 percent
//	go run ./bench -only postgres   compare with PostgreSQL; rewrites that part of bench/RESULTS.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// plan says what is measured, and how long.
type plan struct {
	quick    bool
	rounds   int           // each side of a comparison is measured so often, in turn
	span     time.Duration // of one round of load, after a warm-up
	commands int           // of the measurements without I/O
	log      int           // commands of the log that is replayed and restarted on
	ledger   int           // attempts of the large ledger
	dir      string        // temporary
	reducer  string        // the program
}

func wholePlan() plan {
	return plan{rounds: 3, span: 5 * time.Second, commands: 300_000, log: 1_000_000, ledger: 1_000_000}
}

func quickPlan() plan {
	return plan{quick: true, rounds: 2, span: 1200 * time.Millisecond, commands: 40_000, log: 40_000}
}

// measurement is one part of a run.
type measurement struct {
	name string
	run  func(plan) (*finding, error)
	long bool // left out of a quick run
}

func measurements() []measurement {
	return []measurement{
		{name: "decide", run: measureDecide},
		{name: "decode", run: measureDecode},
		{name: "load", run: measureLoad},
		{name: "stages", run: measureStages, long: true},
		{name: "replay", run: measureReplay},
		{name: "restart", run: measureRestart},
		{name: "ledger", run: measureLedger, long: true},
		{name: "lag", run: measureLag, long: true},
		{name: "idle", run: measureIdle},
		{name: "postgres", run: measurePostgres, long: true},
	}
}

func main() {
	quick := flag.Bool("quick", false, "a short run that fails on a ratio far below its target")
	out := flag.String("out", "bench/RESULTS.md", "the `FILE` for the results of a whole run")
	only := flag.String("only", "", "run one `MEASUREMENT`: "+strings.Join(names(), ", "))
	program := flag.String("reducer", "", "the reducer to measure, a `FILE`; it is built when none is named")
	var t task
	t.flags(flag.CommandLine)
	flag.Parse()
	var err error
	if t.name != "" {
		err = t.run()
	} else {
		err = run(*quick, *out, *only, *program)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func names() []string {
	var list []string
	for _, m := range measurements() {
		list = append(list, m.name)
	}
	return list
}

func run(quick bool, out, only, program string) error {
	if only != "" && !slices.Contains(names(), only) {
		return fmt.Errorf("-only %s: there are %s", only, strings.Join(names(), ", "))
	}
	p := wholePlan()
	if quick {
		p = quickPlan()
	}
	var err error
	if p.dir, err = os.MkdirTemp("", "aiws-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(p.dir) //nolint:errcheck // a temporary directory
	r := report{machine: look(p.dir)}
	if p.reducer, err = reducerProgram(program, p.dir); err != nil {
		return err
	}
	if err := r.measure(p, only); err != nil {
		return err
	}
	switch {
	case only == "postgres" && !quick:
		return r.rewritePostgres(out)
	case only == "" && !quick:
		return r.write(out)
	case only != "":
		text := &strings.Builder{}
		writeResults(text, r.findings)
		fmt.Print("\n", text.String())
	}
	return r.missed()
}

// errSkipped is of a measurement that this machine has no means for.
var errSkipped = errors.New("not measured here")

// measure runs the measurements and prints what they find.
func (r *report) measure(p plan, only string) error {
	for _, m := range measurements() {
		if only != "" && only != m.name || only == "" && m.long && p.quick {
			continue
		}
		fmt.Fprintf(os.Stderr, "measuring %s ...\n", m.name)
		began := time.Now()
		f, err := m.run(p)
		if errors.Is(err, errSkipped) && only == "" {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		for _, result := range f.results {
			fmt.Println(result.line())
		}
		fmt.Fprintf(os.Stderr, "measured %s in %s\n", m.name, time.Since(began).Round(time.Second))
		r.findings = append(r.findings, named{m.name, f})
	}
	return nil
}
