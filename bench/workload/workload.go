// Package workload makes the commands that the benchmarks send: runs as hosts
// drive them, with every command of the rulebook in about the share that a host
// would have, about 700 bytes a command and one refusal in ten.
//
// Who sends commands shares the processors with who decides them, so a command
// must cost its maker next to nothing: bodies are made once, with marks in the
// place of ids, and the ids, all of the same length, are written over the marks.
package workload

import (
	"bytes"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Command is one command to be published.
type Command struct {
	Subject string
	ID      string
	Body    []byte
}

// Ledger is the contract of the ledger with number i, below 10,000.
func Ledger(i int) string { return fmt.Sprintf("ledger-%04d", i) }

// Marks stand in bodies where a worker writes an id of the same length.
const (
	runMark      = "RRRRRRRRRRRR" // id of the run
	baseMark     = "BBBBBBBBBBBB" // id of the worker's run that registered what others use
	contractMark = "CCCCCCCCCCC"  // contract of the ledger
)

// Worker is one host that drives its runs, one after another, in a ledger that
// [Open] opened. Its commands must be decided in order.
type Worker struct {
	contract string
	number   int
	cycles   cycles

	run   int
	id    string // of the run
	base  string
	steps []step
}

// cycles are what a worker does, again and again, and what comes before that.
type cycles struct {
	setup []step
	kinds [][]step // kinds[0] begins with setup by itself
}

// NewWorker returns a worker with a number below 10,000, which makes its ids
// its own. Workers of different numbers are at different places of the cycle.
func NewWorker(contract string, number int) *Worker {
	return &Worker{contract: contract, number: number, cycles: mixed()}
}

// NewAttempts returns a worker that does nothing but attempts: of each run
// attemptsOfRun are admitted, dispatched and settled. It is the work that is
// compared with a database.
func NewAttempts(contract string, number int) *Worker {
	return &Worker{contract: contract, number: number, cycles: attempts()}
}

// Next returns the worker's next command.
func (w *Worker) Next() Command {
	for len(w.steps) == 0 {
		w.begin()
	}
	c := w.steps[0].command(w)
	w.steps = w.steps[1:]
	return c
}

// begin begins the next run.
func (w *Worker) begin() {
	kind := (w.run + w.number) % len(w.cycles.kinds)
	w.id = fmt.Sprintf("w%04d-%06d", w.number, w.run)
	w.steps = w.cycles.kinds[kind]
	if w.run == 0 || kind == 0 {
		w.base = w.id
		w.steps = append(w.cycles.setup[:len(w.cycles.setup):len(w.cycles.setup)], w.steps...)
	}
	w.run++
}

// step is one command with marks.
type step struct {
	principal, kind string
	side            bool   // the command is for a ledger of the run's own
	suffix          string // of the command id, after the id of the run
	body            []byte
	holes           []hole
}

type hole struct {
	at   int
	mark string
}

// newStep makes the step of a command whose ids are marks.
func newStep(principal, suffix string, c schema.Command) step {
	s := step{principal: principal, kind: c.Type(), suffix: suffix, body: schema.AppendRecord(nil, c)}
	for _, mark := range []string{runMark, baseMark, contractMark} {
		for at := 0; ; at += len(mark) {
			next := bytes.Index(s.body[at:], []byte(mark))
			if next < 0 {
				break
			}
			at += next
			s.holes = append(s.holes, hole{at, mark})
		}
	}
	return s
}

func (s *step) command(w *Worker) Command {
	body := bytes.Clone(s.body)
	for _, h := range s.holes {
		copy(body[h.at:h.at+len(h.mark)], w.name(h.mark))
	}
	contract := w.contract
	if s.side {
		contract = w.id
	}
	return Command{
		Subject: "aiws.cmd." + contract + "." + s.principal + "." + s.kind,
		ID:      w.id + s.suffix,
		Body:    body,
	}
}

func (w *Worker) name(mark string) string {
	switch mark {
	case runMark:
		return w.id
	case baseMark:
		return w.base
	}
	return w.contract
}
