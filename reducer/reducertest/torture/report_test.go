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
	fenced        []time.Duration // how long two reducers were at work on one log
	sent, resent  int             // commands given to an ingest, and given to one again
	ready         []time.Duration // since the kill

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

func (f *figures) fencedAfter(took time.Duration) {
	f.count(func(f *figures) { f.fenced = append(f.fenced, took) })
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

In the first half of the kills files are damaged, too, and a reducer may find that and make its store again. Then all that may
be damaged is deleted once, and in the second half nothing is: a store that is set aside, a row of the mirror that is wrong, or a
comparison that does not come out right at once fails the run.

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
- In the middle, with damaged files about and clients at work, the log and the rows of the store, as soon as the reducer has mended it.
- What the processes said: no panic, no store set aside that nobody damaged, and of two reducers on one log one ended with exit code 5
  and a sentence.

A reducer is ready when it takes commands. After a kill its mirror is still being compared with its store then; rows that are read
meanwhile are of some moment, and the mirror's cursor, which a reader waits for, comes when all are right. A kill for which there was
no file to damage counts as one without damage. Of two reducers that start, or wake up, one notices when it writes, or after the log
grew three times under its eyes; without commands neither writes and both may stay, which harms nobody.

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
	row("reducers fenced, exit code 5", func(f *figures) any { return len(f.fenced) })
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
	row("ready, counted from the kill: half of them within", func(f *figures) any { return within(f.ready, 50) })
	row("ready, counted from the kill: all within", func(f *figures) any { return within(f.ready, 100) })
	row("fenced, counted from when both could write: half of them within", func(f *figures) any { return within(f.fenced, 50) })
	row("fenced, counted from when both could write: all within", func(f *figures) any { return within(f.fenced, 100) })
	row("time", func(f *figures) any { return f.took.Round(time.Second) })
	b.WriteString("\n")
}

// within is the time that so many percent of the times are within; "-" of none.
func within(times []time.Duration, percent int) string {
	if len(times) == 0 {
		return "-"
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[max(0, (len(sorted)*percent+99)/100-1)].Round(time.Millisecond).String()
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
