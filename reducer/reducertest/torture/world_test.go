package torture

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/internal/proctest"
)

// Modes: where the NATS server runs.
const (
	embedded = "embedded"
	external = "external"
)

// patience is how long anything may take that has to come.
const patience = 3 * time.Minute

// world is one installation under torture. Its faults strike one after another;
// the clients have goroutines of their own and share answers and figures.
type world struct {
	t        *testing.T
	dir      string
	programs programs
	mode     string
	rng      *rand.Rand
	listen   string
	figures  *figures

	reducer *process // that serves now
	data    string   // its directory
	spare   string   // directory of the other reducer, in external mode
	server  *process // nil in embedded mode

	killed time.Time       // when a reducer was killed last
	harmed map[string]bool // data directories with a file that was damaged
	calm   bool            // nothing is damaged any more
	struck map[string]bool // faults, by name

	mu      sync.Mutex
	answers map[uint64]string    // record of a decision by its commandSeq
	asked   map[identity]bool    // commands that clients sent; true once answered
	waiting map[string]time.Time // files that clients send, and since when

	lost map[uint64]bool // answers that are not found on the log; see unheard
}

// identity is what makes two commands the same.
type identity struct{ principal, id string }

func newWorld(t *testing.T, dir string, p programs, mode string, seed uint64) *world {
	w := &world{
		t: t, dir: dir, programs: p, mode: mode, rng: rand.New(rand.NewPCG(seed, 3)), listen: proctest.FreeAddress(t),
		figures: newFigures(mode), data: filepath.Join(dir, "a"), spare: filepath.Join(dir, "b"),
		answers: map[uint64]string{}, asked: map[identity]bool{}, waiting: map[string]time.Time{}, harmed: map[string]bool{}, struck: map[string]bool{},
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range []*process{w.reducer, w.server} {
			if p == nil {
				continue
			}
			p.kill()
			if t.Failed() {
				t.Logf("%s said last:\n%s", p.name, tail(p.stderr.String()))
			}
		}
	})
	return w
}

// starving says that a client has waited for a quarter of its patience. On a slow
// machine a reducer may be killed again each time before it is ready: then it is
// left alone for a while.
func (w *world) starving() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, since := range w.waiting {
		if time.Since(since) > patience/4 {
			return true
		}
	}
	return false
}

// sends notes that a client sends a file, until done.
func (w *world) sends(name string) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[name] = time.Now()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting, name)
	}
}

func tail(text string) string { return text[max(0, len(text)-4000):] }

func (w *world) url() string { return "nats://" + w.listen }

// between is a random time in milliseconds.
func (w *world) between(least, most int) time.Duration {
	return time.Duration(least+w.rng.IntN(most-least)) * time.Millisecond
}

// open starts everything for the first time.
func (w *world) open() {
	if w.mode == external {
		w.startServer()
	}
	w.reducer = w.start(w.data)
	w.await(w.reducer)
}

func (w *world) startServer() {
	p, err := startServer(filepath.Join(w.dir, "nats"), w.listen)
	if err == nil {
		err = awaitReady(p, patience)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.server = p
}

// checkpointBlocks makes checkpoints often enough to be damaged.
const checkpointBlocks = "100"

// start starts a reducer and does not wait for it.
func (w *world) start(data string) *process {
	args := []string{"serve", "--data", data, "--checkpoint-blocks", checkpointBlocks}
	if w.mode == external {
		args = append(args, "--nats", w.url())
	} else {
		args = append(args, "--listen", w.listen)
	}
	p, err := startProcess("the reducer on "+data, exec.Command(w.programs.path("reducer"), args...))
	if err != nil {
		w.t.Fatal(err)
	}
	p.harmed = w.harmed[data]
	return p
}

// await waits until a reducer takes commands.
func (w *world) await(p *process) {
	if err := awaitReady(p, patience); err != nil {
		w.t.Fatal(err)
	}
}

// kill kills the reducer. The report counts it under what killed is told.
func (w *world) kill() {
	if !w.reducer.alive() {
		w.t.Fatalf("%s ended by itself with %d:\n%s", w.reducer.name, w.reducer.code, tail(w.reducer.stderr.String()))
	}
	w.killed = time.Now()
	w.reducer.kill()
	w.looked(w.reducer)
}

// again starts the reducer again. How long it is away counts from the kill.
func (w *world) again() {
	w.reducer = w.start(w.data)
	w.await(w.reducer)
	w.figures.restarted(time.Since(w.killed))
}

// looked fails where a process said what none may say, or none whose files
// nobody damaged.
func (w *world) looked(p *process) {
	bad := []string{"panic:", "DATA RACE", "fatal error:"}
	if !p.harmed {
		bad = append(bad, "the store was set aside", "rows were not those of the store")
	}
	for _, said := range bad {
		if strings.Contains(p.stderr.String(), said) {
			w.t.Errorf("%s: %s\n%s", p.name, said, p.stderr.String())
		}
	}
}

// settle is after the last fault: the clients are done, and the reducer goes on.
func (w *world) settle() {
	if w.t.Failed() {
		w.t.FailNow()
	}
	w.looked(w.reducer)
	if !w.reducer.alive() {
		w.t.Fatalf("%s ended by itself with %d:\n%s", w.reducer.name, w.reducer.code, w.reducer.stderr.String())
	}
}
