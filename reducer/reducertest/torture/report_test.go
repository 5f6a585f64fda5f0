package torture

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// figures are what the report says of a world. Clients and faults share those
// before the line.
type figures struct {
	mu            sync.Mutex
	kills         map[string]int // by what was killed
	clientsKilled int
	fenced        int
	sent, resent  int // commands given to an ingest, and given to one again
	ready         []time.Duration

	mode                  string
	took                  time.Duration
	commands              int // with different ids
	answered, duplicates  int
	decisions             int
	storeRows, mirrorRows uint64
}

func newFigures(mode string) *figures { return &figures{mode: mode, kills: map[string]int{}} }

func (f *figures) count(add func(*figures)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	add(f)
}

func (f *figures) kill(kind string) { f.count(func(f *figures) { f.kills[kind]++ }) }

func (f *figures) restarted(took time.Duration) {
	f.count(func(f *figures) { f.ready = append(f.ready, took) })
}

// killed is how many servers were killed; clients come on top.
func (f *figures) killed() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, count := range f.kills {
		n += count
	}
	return n
}

// markdown is the report. A run that lost anything has none.
func markdown(all []*figures, seed uint64) []byte {
	var b bytes.Buffer
	total := 0
	for _, f := range all {
		total += f.killed()
	}
	fmt.Fprintf(&b, `# Torture: the real programs, killed

Written by %[1]smake torture%[1]s, which fails, and writes nothing, where anything below did not hold. What is tried in a world of
its own, in far more orders, is in [Simulation](simulation.md).

    make torture                  # KILLS=100 SEED=1
    make torture KILLS=1000 SEED=7
    go test ./reducer/reducertest/torture -run TestTorture -count=1 -v -torture.kills=20 -torture.seed=7

%[1]sreducer serve%[1]s works for %[2]d clients, each an %[1]singest --wait%[1]s after another with a file of commands of every kind, on %[3]d ledgers.
A quarter of the files is sent by two clients at once, under the same ids, and clients are killed, too; each file is sent again
until all of it is answered. Meanwhile servers are ended with SIGKILL at any moment. It is done once with the NATS server
in the reducer and once with one of its own. There two reducers also start on one log, or one is stopped as it
stands and wakes up after another took over: one of them must end with exit code 5 and say why.

The last run: %[4]d kills with seed %[5]d.

`, "`", clients, ledgers, total, seed)
	figuresTable(&b, all)
	killsTable(&b, all)
	b.WriteString(`## What was compared

- Every answer that a client printed, with the record on the exported log: all bytes.
- Every command that was sent has an answer and a decision, and no id of a principal has two decisions that are no duplicates;
  each duplicate names the one decision.
- The exported log, decided again by ` + "`reducer fold`" + `: all bytes of every record.
- The log, decided again by ` + "`reducer verify --scrub`" + `, with the rows of the store and each row of the KV mirror.
- What the processes said: no panic, and of two reducers on one log one ended with exit code 5 and a sentence.

A run that fails prints its seed and keeps its directory. The seed chooses the faults and their times; what comes of them is up
to the machine.
`)
	return b.Bytes()
}

func figuresTable(b *bytes.Buffer, all []*figures) {
	row := func(name string, value func(f *figures) any) {
		fmt.Fprintf(b, "| %s |", name)
		for _, f := range all {
			fmt.Fprintf(b, " %v |", value(f))
		}
		b.WriteString("\n")
	}
	row("", func(f *figures) any { return f.mode })
	b.WriteString("|---|")
	for range all {
		b.WriteString("---|")
	}
	b.WriteString("\n")
	row("servers killed", func(f *figures) any { return f.killed() })
	row("clients killed", func(f *figures) any { return f.clientsKilled })
	row("reducers fenced, exit code 5", func(f *figures) any { return f.fenced })
	row("commands with an id of their own", func(f *figures) any { return f.commands })
	row("commands sent by clients", func(f *figures) any { return f.sent })
	row("of them again after a client ended without its answers", func(f *figures) any { return f.resent })
	row("answers that clients heard", func(f *figures) any { return f.answered })
	row("decisions on the log", func(f *figures) any { return f.decisions })
	row("of them duplicates", func(f *figures) any { return f.duplicates })
	row("**answers lost or changed**", func(*figures) any { return "**0**" })
	row("**ids decided twice**", func(*figures) any { return "**0**" })
	row("**commands without an answer**", func(*figures) any { return "**0**" })
	row("rows of the store, compared", func(f *figures) any { return f.storeRows })
	row("rows of the KV mirror, compared", func(f *figures) any { return f.mirrorRows })
	row("ready after a kill: half of them within", func(f *figures) any { return f.readyAt(50) })
	row("ready after a kill: all within", func(f *figures) any { return f.readyAt(100) })
	row("time", func(f *figures) any { return f.took.Round(time.Second) })
	b.WriteString("\n")
}

// readyAt is within which time so many percent of the reducers that were killed
// took commands again.
func (f *figures) readyAt(percent int) time.Duration {
	if len(f.ready) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(f.ready))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(time.Millisecond)
}

func killsTable(b *bytes.Buffer, all []*figures) {
	kinds := map[string]int{}
	for _, f := range all {
		for kind, count := range f.kills {
			kinds[kind] += count
		}
	}
	b.WriteString("| killed | times |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		fmt.Fprintf(b, "| %s | %d |\n", kind, kinds[kind])
	}
	b.WriteString("\n")
}
