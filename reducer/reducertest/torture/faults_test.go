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
	strike   func(w *world)
}

var faults = []fault{
	{"reducer", false, func(w *world) {
		w.kill("the reducer, at work")
		w.again()
	}},
	{"reducer, as it starts", false, startingKilled},
	{"reducer, store deleted", false, func(w *world) {
		w.kill("the reducer, its store deleted")
		w.remove("store")
		w.again()
	}},
	{"reducer, store damaged", false, func(w *world) {
		w.kill("the reducer, a file of its store damaged")
		w.damage("store")
		w.again()
	}},
	{"reducer, checkpoints deleted", false, func(w *world) {
		w.kill("the reducer, its store and checkpoints deleted")
		w.remove("store")
		w.remove("checkpoints")
		w.again()
	}},
	{"reducer, checkpoint damaged", false, func(w *world) {
		w.kill("the reducer, its store deleted and a checkpoint damaged")
		w.remove("store")
		w.damage("checkpoints")
		w.again()
	}},
	{"server", true, func(w *world) {
		w.killServer("the NATS server")
		time.Sleep(w.between(0, 500))
		w.startServer()
	}},
	{"server and reducer", true, func(w *world) {
		w.killServer("the NATS server, with its reducer")
		w.kill("the reducer, with its NATS server")
		w.startServer()
		w.again()
	}},
	{"two reducers", true, twoReducers},
	{"a reducer that sleeps", true, sleeper},
}

// choose takes every fault once, and then any.
func (w *world) choose(n int) fault {
	var possible []fault
	for _, f := range faults {
		if !f.external || w.mode == external {
			possible = append(possible, f)
		}
	}
	if w.mode == external { // those that only this mode has come first
		slices.Reverse(possible)
	}
	if n < len(possible) {
		return possible[n]
	}
	return possible[w.rng.IntN(len(possible))]
}

// startingKilled kills the reducer while it starts, up to three times.
func startingKilled(w *world) {
	w.kill("the reducer, at work")
	for range 1 + w.rng.IntN(3) {
		w.reducer = w.start(w.data)
		time.Sleep(w.between(0, 300))
		w.kill("the reducer, as it started")
	}
	w.again()
}

func (w *world) killServer(kind string) {
	w.server.kill()
	w.figures.kill(kind)
}

// twoReducers starts another one beside the first: one of them must find out.
func twoReducers(w *world) {
	other := w.start(w.spare)
	w.oneLeaves(other)
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
	w.oneLeaves(other)
}

// oneLeaves waits until one of two reducers ends, which must say why, and goes
// on with the other one.
func (w *world) oneLeaves(other *process) {
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
	const fenced, sentence = 5, "only one reducer may run on a log"
	if told := loser.stderr.String(); loser.code != fenced || !strings.Contains(told, sentence) {
		w.t.Errorf("%s ended with %d, want %d and %q:\n%s", loser.name, loser.code, fenced, sentence, tail(told))
	}
	w.looked(loser)
	w.figures.count(func(f *figures) { f.fenced++ })
	w.await(w.reducer)
}

// remove deletes a directory of the data directory.
func (w *world) remove(name string) {
	if err := os.RemoveAll(filepath.Join(w.data, name)); err != nil {
		w.t.Fatal(err)
	}
}

// damage overwrites some bytes of a file below a directory, where there is one.
func (w *world) damage(name string) {
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
		return
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
}
