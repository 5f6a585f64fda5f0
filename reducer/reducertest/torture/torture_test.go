package torture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var (
	kills  = flag.Int("torture.kills", 6, "how many processes are killed, half of them with a NATS server of its own")
	seed   = flag.Uint64("torture.seed", 1, "which faults strike, and when")
	report = flag.String("torture.report", "", "write the report to this `FILE`")
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(serverDir); dir != "" {
		if err := runServer(dir, os.Getenv(serverListen)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestTorture: whatever is killed, each command has one decision, and what a
// client was told is on the log, byte for byte.
func TestTorture(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes")
	}
	dir, err := os.MkdirTemp("", "torture-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d, kept in %s", *seed, dir)
			return
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	programs := build(t, dir)
	var all []*figures
	for i, mode := range []string{embedded, external} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, filepath.Join(dir, mode), programs, mode, *seed+uint64(i))
			w.open()
			w.torture((*kills + 1) / 2)
			w.settle()
			w.check()
			all = append(all, w.figures)
		})
	}
	if t.Failed() || *report == "" {
		return
	}
	if err := os.WriteFile(*report, markdown(all, *seed), 0o666); err != nil {
		t.Fatal(err)
	}
}

// torture lets faults strike while clients work, until enough was killed. In the
// second half no file is damaged: whatever is set aside, made again or found to
// differ from then on was wrong by itself.
func (w *world) torture(kills int) {
	began := time.Now()
	stop := w.startClients()
	for (w.figures.killed() < kills || !w.calm) && !w.t.Failed() {
		time.Sleep(w.between(50, 1500))
		if w.starving() {
			continue
		}
		if !w.calm && w.figures.killed() >= kills/2 {
			w.mended()
			w.pristine()
			continue
		}
		f := w.choose()
		w.t.Logf("%7s %s", time.Since(began).Truncate(time.Millisecond), f.name)
		f.strike(w)
	}
	stop()
	w.figures.took = time.Since(began)
}
