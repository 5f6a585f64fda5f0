package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"time"
)

// task is a measurement in a process of its own, whose processor time and
// memory are nobody else's.
type task struct {
	name     string
	commands int
	path     string
}

func (t *task) flags(f *flag.FlagSet) {
	f.StringVar(&t.name, "task", "", "used by this program itself, which starts a process for each measurement")
	f.IntVar(&t.commands, "commands", 0, "of the task")
	f.StringVar(&t.path, "path", "", "of the task's data")
}

// figures are what a task found, and what it took.
type figures struct {
	Values map[string]float64
	Peak   float64 // MiB of resident memory
	CPU    time.Duration
}

func (f figures) cost(name string) cost { return cost{name, f.CPU, f.Peak} }

// The garbage collector of the reducer's own program.
const (
	gcPercent   = 300
	memoryLimit = 384 << 20
)

// tasks by name. Those that keep their input in memory have no memory limit.
var tasks = map[string]struct {
	run     func(task) (map[string]float64, error)
	limited bool
}{
	"decide": {run: decideTask},
	"decode": {run: decodeTask},
	"write":  {run: writeTask, limited: true},
	"replay": {run: replayTask, limited: true},
	"ledger": {run: ledgerTask, limited: true},
}

const emptyTask = "empty"

// run runs the task in this process and prints what it found.
func (t *task) run() error {
	debug.SetGCPercent(gcPercent)
	switch t.name {
	case emptyTask:
		debug.SetMemoryLimit(memoryLimit)
		return runEmpty(t.path)
	case rulesTask: // keeps its rows in memory
		return runPart(t.name, t.path)
	case storeTask:
		debug.SetMemoryLimit(memoryLimit)
		return runPart(t.name, t.path)
	}
	known, ok := tasks[t.name]
	if !ok {
		return fmt.Errorf("-task %s: there is no such task", t.name)
	}
	if known.limited {
		debug.SetMemoryLimit(memoryLimit)
	}
	values, err := known.run(*t)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(figures{Values: values, Peak: usageOf(os.Getpid()).peak, CPU: processorTime()})
}

// start runs the task in a process of its own.
func (t task) start() (figures, error) {
	var f figures
	c, err := self("-task", t.name, "-commands", strconv.Itoa(t.commands), "-path", t.path)
	if err != nil {
		return f, err
	}
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err == nil {
		err = json.Unmarshal(out, &f)
	}
	if err != nil {
		return f, fmt.Errorf("task %s: %w", t.name, err)
	}
	return f, nil
}

// rounds runs the task some times and returns the medians.
func (t task) rounds(n int) (figures, error) {
	lists := map[string][]float64{}
	var peaks []float64
	var cpu []time.Duration
	for range n {
		f, err := t.start()
		if err != nil {
			return f, err
		}
		peaks, cpu = append(peaks, f.Peak), append(cpu, f.CPU)
		for name, value := range f.Values {
			lists[name] = append(lists[name], value)
		}
	}
	if len(peaks) == 0 {
		return figures{}, errors.New("no rounds")
	}
	all := figures{Values: map[string]float64{}, Peak: median(peaks), CPU: median(cpu)}
	for name, list := range lists {
		all.Values[name] = median(list)
	}
	return all, nil
}
