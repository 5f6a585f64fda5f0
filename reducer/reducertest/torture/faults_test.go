package torture

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// fault is something that strikes. Each leaves a reducer that serves.
type fault struct {
	name     string
	external bool // is about a NATS server of its own
	damages  bool // files
	strike   func(w *world)
}

var faults = []fault{
	{name: "reducer", strike: func(w *world) {
		w.kill()
		w.figures.kill(atWork)
		w.again()
	}},
	{name: "reducer, as it starts", strike: startingKilled},
	{name: "reducer, store deleted", strike: func(w *world) {
		w.kill()
		w.remove(w.data, "store")
		w.figures.kill(storeDeleted)
		w.again()
	}},
	{name: "reducer, store damaged", damages: true, strike: func(w *world) {
		w.kill()
		w.figures.kill(w.damage("store", atWork, "the reducer, a file of its store damaged"))
		w.again()
	}},
	{name: "reducer, checkpoints deleted", strike: func(w *world) {
		w.kill()
		w.deleteAll(w.data)
		w.figures.kill(allDeleted)
		w.again()
	}},
	{name: "reducer, checkpoint damaged", damages: true, strike: func(w *world) {
		w.kill()
		w.remove(w.data, "store")
		w.figures.kill(w.damage("checkpoints", storeDeleted, "the reducer, its store deleted and a checkpoint damaged"))
		w.again()
	}},
	{name: "server", external: true, strike: func(w *world) {
		w.server.kill()
		w.figures.kill("the NATS server")
		time.Sleep(w.between(0, 500))
		w.startServer()
	}},
	{name: "server and reducer", external: true, strike: func(w *world) {
		w.server.kill()
		w.figures.kill("the NATS server, with its reducer")
		w.kill()
		w.figures.kill("the reducer, with its NATS server")
		w.startServer()
		w.again()
	}},
	{name: "two reducers", external: true, strike: twoReducers},
	{name: "a reducer that sleeps", external: true, strike: sleeper},
}

// Kinds of kills that several faults have.
const (
	atWork       = "the reducer, at work"
	storeDeleted = "the reducer, its store deleted"
	allDeleted   = "the reducer, its store and checkpoints deleted"
)

// choose takes every fault once, and then any.
func (w *world) choose() fault {
	var possible []fault
	for _, f := range faults {
		if (!f.external || w.mode == external) && (!f.damages || !w.calm) {
			possible = append(possible, f)
		}
	}
	if w.mode == external { // those that only this mode has come first
		slices.Reverse(possible)
	}
	for _, f := range possible {
		if !w.struck[f.name] {
			w.struck[f.name] = true
			return f
		}
	}
	return possible[w.rng.IntN(len(possible))]
}

// startingKilled kills the reducer while it starts, up to three times.
func startingKilled(w *world) {
	w.kill()
	w.figures.kill(atWork)
	for range 1 + w.rng.IntN(3) {
		w.reducer = w.start(w.data)
		time.Sleep(w.between(0, 300))
		w.kill()
		w.figures.kill("the reducer, as it started")
	}
	w.again()
}

// twoReducers starts another one beside the first: one of them must find out.
func twoReducers(w *world) {
	other := w.start(w.spare)
	w.figures.fencedAfter(w.oneLeaves(other, time.Now()))
}

// sleeper stops the first one as it stands, and wakes it up after another took
// over.
func sleeper(w *world) {
	if err := w.reducer.signal(syscall.SIGSTOP); err != nil {
		w.t.Fatal(err)
	}
	other := w.start(w.spare)
	w.await(other)
	time.Sleep(w.between(0, 1500))
	if err := w.reducer.signal(syscall.SIGCONT); err != nil {
		w.t.Fatal(err)
	}
	w.figures.fencedAfter(w.oneLeaves(other, time.Now()))
}

// oneLeaves waits until one of two reducers ends, which must say why, and goes
// on with the other one. It returns how long that took since both could write.
func (w *world) oneLeaves(other *process, began time.Time) (took time.Duration) {
	loser := w.reducer
	select {
	case <-w.reducer.ended:
		w.reducer, w.data, w.spare = other, w.spare, w.data
	case <-other.ended:
		loser = other
	case <-time.After(2 * patience): // a late one may take a minute to find its place
		other.kill()
		w.t.Fatalf("two reducers work on one log\n%s\n%s", tail(w.reducer.stderr.String()), tail(other.stderr.String()))
	}
	took = time.Since(began)
	const fenced, sentence = 5, "only one reducer may run on a log"
	if told := loser.stderr.String(); loser.code != fenced || !strings.Contains(told, sentence) {
		w.t.Errorf("%s ended with %d, want %d and %q:\n%s", loser.name, loser.code, fenced, sentence, tail(told))
	}
	w.looked(loser)
	w.await(w.reducer)
	return took
}

// remove deletes a directory of a data directory.
func (w *world) remove(data, name string) {
	if err := os.RemoveAll(filepath.Join(data, name)); err != nil {
		w.t.Fatal(err)
	}
}

// deleteAll deletes what a data directory has beside the log: whatever was
// damaged there is gone.
func (w *world) deleteAll(data string) {
	w.remove(data, "store")
	w.remove(data, "checkpoints")
	w.harmed[data] = false
}

// pristine kills the reducer and takes all away that may be damaged: from here
// on everything has to be right.
func (w *world) pristine() {
	w.kill()
	w.deleteAll(w.data)
	w.deleteAll(w.spare)
	w.figures.kill(allDeleted)
	w.calm = true
	w.again()
}

// damage overwrites some bytes of a file below a directory. It returns the
// second kind of kill, or the first where there was no file.
func (w *world) damage(name, nothing, something string) (kind string) {
	var files []string
	err := filepath.WalkDir(filepath.Join(w.data, name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil // no directory, no files
		}
		if info, err := entry.Info(); err == nil && info.Size() > 0 {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	if len(files) == 0 {
		return nothing
	}
	path := files[w.rng.IntN(len(files))]
	bytes, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	for range 8 {
		bytes[w.rng.IntN(len(bytes))] ^= byte(1 + w.rng.IntN(255))
	}
	// A file of a checkpoint may be a link to one of the store: write another one.
	if err := os.Remove(path); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes, 0o666); err != nil {
		w.t.Fatal(err)
	}
	w.harmed[w.data] = true
	return something
}
