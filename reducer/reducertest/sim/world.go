package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// began is the time at which every world begins: 1 January 2026.
const began = 1_767_225_600 * int64(time.Second)

// patience is how many steps a world may take to come to rest once its faults
// are over: several times what the slowest run needs.
const patience = 15_000

// world is one run. Its goroutine is the scheduler: it alone changes what is
// not a reducer's memory, draws from rng and moves the time.
type world struct {
	script *Script
	setup  *Setup
	rng    *rand.Rand

	now     int64 // nanoseconds since 1970
	step    int
	healed  int // step at which the faults were over; 0 before
	stopped bool

	server   *server
	machines []*machine
	clients  []*client
	net      []packet
	faults   []Fault // still to come
	armed    []*armed
	damage   *damage // of the log, until the operator repairs it
	check    *checker
	trace    trace
	stats    Stats

	mu     sync.Mutex // guards broken, and what a process shows of itself
	broken *Violation
}

// Violation says which promise a run broke.
type Violation struct {
	Rule string // a short name, the same for the same kind of fault
	Text string
	Step int
}

// Error implements error.
func (v *Violation) Error() string { return fmt.Sprintf("%s at step %d: %s", v.Rule, v.Step, v.Text) }

func newWorld(s *Script) *world {
	w := &world{script: s, setup: &s.World, now: began, faults: slices.Clone(s.Faults)}
	w.rng = rand.New(rand.NewPCG(s.Seed, 2))
	w.check = newChecker(w)
	w.server = &server{w: w, up: s.World.External, doors: s.World.External, generation: "g1", oldest: "g1"}
	for i := range s.World.Reducers {
		w.machines = append(w.machines, &machine{w: w, id: i, restart: 1})
	}
	w.hire(rand.New(rand.NewPCG(s.Seed, 3)))
	return w
}

// violated notes the first promise that is broken; the run ends with it.
func (w *world) violated(rule, format string, args ...any) {
	if rules[rule] == "" {
		panic("sim: no rule " + rule)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken == nil {
		w.broken = &Violation{Rule: rule, Text: fmt.Sprintf(format, args...), Step: w.step}
	}
}

func (w *world) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken != nil
}

// run is the whole story: faults, then peace until all is answered, then an
// orderly stop.
func (w *world) run() {
	for w.advance() && !w.quiet() {
		continue
	}
	w.stopped = true
	for _, m := range w.machines {
		m.restart = 0
		if m.proc != nil {
			m.proc.cancel()
		}
	}
	for w.running() && w.advance() {
		continue
	}
	if !w.isBroken() {
		w.check.final()
	}
	for _, m := range w.machines {
		m.kill("the end")
	}
}

// advance takes one step; false: a promise is broken.
func (w *world) advance() bool {
	w.step++
	w.happen()
	if w.healed > 0 && w.step > w.healed+patience {
		w.violated("liveness", "no rest after %d steps without faults: %s", patience, w.unrest())
	}
	if w.isBroken() {
		return false
	}
	w.act()
	w.settle()
	w.check.step()
	return !w.isBroken()
}

// settle waits until every goroutine has stopped at a port or has nothing to
// do, and takes in what they did on the way.
func (w *world) settle() {
	for {
		synctest.Wait()
		again := false
		for _, m := range w.machines {
			again = m.settle() || again
		}
		if !again {
			return
		}
	}
}

// happen lets everything happen whose step has come.
func (w *world) happen() {
	for len(w.faults) > 0 && w.faults[0].At <= w.step {
		f := w.faults[0]
		w.faults = w.faults[1:]
		w.trace.add(w, "fault: %s", f.String())
		w.stats.Faults++
		findKind(f.Kind).apply(w, &f)
		w.settle()
	}
	if w.healed == 0 && len(w.faults) == 0 && w.step > w.lastFault()+20 {
		w.heal()
	}
	w.server.happen()
	for _, m := range w.machines {
		m.happen()
	}
	w.settle()
}

func (w *world) lastFault() int {
	if n := len(w.script.Faults); n > 0 {
		return w.script.Faults[n-1].At
	}
	return 0
}

// heal ends all faults: clocks are right, nobody is paused, what is damaged is
// repaired, and nothing that was armed goes off.
func (w *world) heal() {
	w.trace.add(w, "peace")
	w.healed = w.step
	w.armed = nil
	w.now += int64(25 * time.Hour) // later than any stamp of a clock that was ahead
	w.server.heal()
	w.repair()
	for _, m := range w.machines {
		m.heal()
	}
}

// choice is something that could happen now.
type choice struct {
	weight int
	do     func()
}

// act lets one of the possible things happen.
func (w *world) act() {
	var choices []choice
	for _, m := range w.machines {
		choices = m.choices(choices)
	}
	if n := len(w.net); n > 0 {
		choices = append(choices, choice{weight: 3 + n, do: w.deliver})
	}
	due, waiting := w.nextTimer()
	next, coming := w.nextStep()
	switch {
	case len(choices) == 0 && coming && (!waiting || w.content()):
		w.step = max(w.step, next-1)
		return
	case len(choices) == 0 && !waiting:
		if w.healed > 0 && !w.stopped {
			w.violated("liveness", "nothing can happen any more: %s", w.unrest())
		}
		return
	case waiting:
		choices = append(choices, choice{weight: 1, do: func() { w.pass(due) }})
	}
	total := 0
	for i := range choices {
		total += choices[i].weight
	}
	pick := w.rng.IntN(total)
	for i := range choices {
		if pick -= choices[i].weight; pick < 0 {
			choices[i].do()
			return
		}
	}
}

// content says whether every client has its answers.
func (w *world) content() bool {
	return !slices.ContainsFunc(w.clients, func(c *client) bool { return c.unanswered() != "" })
}

// nextStep is the next step at which something is planned.
func (w *world) nextStep() (step int, ok bool) {
	step = int(^uint(0) >> 1)
	if len(w.faults) > 0 {
		step = w.faults[0].At
	}
	step = min(step, w.server.nextStep())
	for _, m := range w.machines {
		step = min(step, m.nextStep())
	}
	if w.healed == 0 && len(w.faults) == 0 {
		step = min(step, w.lastFault()+21)
	}
	return step, step != int(^uint(0)>>1)
}

// nextTimer is the time at which the next timer of anybody is due.
func (w *world) nextTimer() (due int64, ok bool) {
	for _, m := range w.machines {
		if t := m.nextTimer(); t != 0 && (due == 0 || t < due) {
			due = t
		}
	}
	for _, c := range w.clients {
		if t := c.nextTimer(); t != 0 && (due == 0 || t < due) {
			due = t
		}
	}
	return due, due != 0
}

// pass moves the time to due and lets all timers go off that are.
func (w *world) pass(due int64) {
	w.now = max(w.now, due)
	for _, m := range w.machines {
		for m.fireTimer(w.now) {
			w.settle()
		}
	}
	for _, c := range w.clients {
		c.fireTimers(w.now)
	}
}

// quiet says whether the faults are over and everybody has what they wait for.
func (w *world) quiet() bool { return w.healed > 0 && w.unrest() == "" }

// unrest says what is not done yet.
func (w *world) unrest() string {
	for _, c := range w.clients {
		if open := c.unanswered(); open != "" {
			return open
		}
	}
	if len(w.net) > 0 {
		return "messages are on their way"
	}
	leads := false
	for _, m := range w.machines {
		if busy := m.busy(); busy != "" {
			return busy
		}
		leads = leads || m.leads()
	}
	if !leads {
		return "no reducer has folded the whole log"
	}
	return ""
}

func (w *world) running() bool {
	return slices.ContainsFunc(w.machines, func(m *machine) bool { return m.proc != nil })
}

// armed is a fault that waits for the operation that it spoils.
type armed struct {
	op string
	Fault
}

func (w *world) arm(op string, f *Fault) {
	a := &armed{op: op, Fault: *f}
	a.N = max(a.N, 1)
	w.armed = append(w.armed, a)
}

// spoiled returns the fault that is armed for an operation, once for each time
// it was armed.
func (w *world) spoiled(op string) *Fault {
	if w.logIsOlder() && strings.HasPrefix(op, "store ") {
		return nil // the store is what remembers
	}
	for i, a := range w.armed {
		if a.op != op {
			continue
		}
		if a.N--; a.N <= 0 {
			w.armed = slices.Delete(w.armed, i, i+1)
		}
		w.trace.add(w, "spoiled: %s %s", op, a.How)
		return &a.Fault
	}
	return nil
}
