package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// running are options for Run, with real goroutines and short waits.
func (w *world) running() Options {
	o := w.stepped()
	o.Clock, o.Go = nil, nil
	o.Status = NewStatus()
	o.Limits = Limits{Append: time.Second, Retry: 2 * time.Millisecond, Grace: 300 * time.Millisecond, Purge: 5 * time.Millisecond}
	o.Connect = func(context.Context) (Session, error) {
		w.mu.Lock()
		w.connected++
		n := w.connected
		w.mu.Unlock()
		if w.connect != nil {
			if err := w.connect(n); err != nil {
				return nil, err
			}
		}
		return w.session(), nil
	}
	return o
}

// run runs until stop is called, which returns what Run returned.
func run(t *testing.T, o Options) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, o) }()
	return func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(10 * time.Second):
			t.Fatal("Run does not end")
			return nil
		}
	}
}

func (w *world) waitAnswers(t *testing.T, count int) {
	t.Helper()
	waitFor(t, fmt.Sprint(count, " answers"), func() bool { return len(w.answered()) >= count })
}

// TestRun: commands that come one after the other and together are answered,
// in order, each once.
func TestRun(t *testing.T) {
	w := newWorld()
	o := w.running()
	stop := run(t, o)
	var want []string
	for i := range 200 {
		body := fmt.Sprint("x", i)
		want = append(want, "_INBOX."+body)
		if i == 0 {
			waitFor(t, "ready", func() bool { return o.Status.Info().Ready() })
		}
		w.publish(body)
		if i%20 == 0 {
			w.waitAnswers(t, i+1)
		}
	}
	w.waitAnswers(t, 200)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(w.answered(), want) {
		t.Error("answers are not those, in that order")
	}
	if info := o.Status.Info(); info.Phase != PhaseStopped || info.Terms != 1 || info.CommandSeq != 200 || info.Generation != "g1" {
		t.Errorf("status %+v", info)
	}
}

// TestRunTerms: a lost connection, an uncertain append and a store that fails
// each end a term; the next one goes on without losing or repeating anything.
func TestRunTerms(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"connection": func(w *world) { w.feed.err = ErrLost; w.feed.signal() },
		"append": func(w *world) {
			tries := w.tries
			w.refuse = func(try int, _ []byte) appendFault {
				return appendFault{stored: try > tries+1, err: failing(try <= tries+3)}
			}
		},
		"unconfirmed append": func(w *world) {
			tries := w.tries
			w.readErr = errNoAnswer
			w.refuse = func(try int, _ []byte) appendFault {
				if try > tries+3 {
					w.mu.Lock()
					w.readErr = nil
					w.mu.Unlock()
				}
				return appendFault{stored: true, err: failing(try <= tries+3)}
			}
		},
		"commit": func(w *world) { w.store.commitErr = damage{} },
		"session": func(w *world) {
			w.sick = errors.New("the inbox takes nothing")
			w.connect = func(int) error {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.sick = nil
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			stop := run(t, w.running())
			waitFor(t, "reading", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.feed != nil })
			w.publish("a", "b")
			w.waitAnswers(t, 2)
			w.mu.Lock()
			spoil(w)
			w.mu.Unlock()
			w.publish("c", "d")
			if name == "unconfirmed append" {
				// Its block is found on the log by the next term, and its answers are lost.
				time.Sleep(50 * time.Millisecond)
				w.mu.Lock()
				w.readErr = nil
				w.mu.Unlock()
			}
			// Answers of blocks that only the next term knows to be stored are lost.
			waitFor(t, "folded", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.store.cursor.CommandSeq == 4 })
			w.publish("e")
			waitFor(t, "the last answer", func() bool { return slices.Contains(w.answered(), "_INBOX.e") })
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			if got := w.answered(); len(slices.Compact(slices.Clone(got))) != len(got) {
				t.Errorf("answered twice: %v", got)
			}
			checkLog(t, w, 5)
			if name == "commit" && (len(w.set) != 1 || !strings.Contains(w.set[0], "flipped bit")) {
				t.Errorf("set aside for %v", w.set)
			}
		})
	}
}

// checkLog replays the log and wants every command up to last, each once.
func checkLog(t *testing.T, w *world, last uint64) {
	t.Helper()
	folder := NewFolder(&fakeStore{rows: state.NewMemory()}, 0)
	var seqs []uint64
	folder.Folded = func(f *Folded) {
		for i := range f.Messages {
			seqs = append(seqs, f.Messages[i].Seq)
		}
	}
	for i, block := range w.blocks {
		if err := folder.Fold(uint64(i+1), block); err != nil {
			t.Fatal(err)
		}
	}
	if err := folder.Commit(); err != nil {
		t.Fatal(err)
	}
	for i, seq := range seqs {
		if seq != uint64(i+1) {
			t.Fatalf("the log decides %v", seqs)
		}
	}
	if uint64(len(seqs)) != last {
		t.Errorf("the log decides %d commands, want %d", len(seqs), last)
	}
}

// TestRunAhead: under --sync interval everything derived is dropped and built again.
func TestRunAhead(t *testing.T) {
	w := grown(t)
	w.blocks, w.commands = w.blocks[:3], nil
	o := w.running()
	follower := &fakeFollower{seq: 5}
	o.DiscardAhead, o.Followers = true, []Follower{follower}
	stop := run(t, o)
	waitFor(t, "ready", func() bool { return o.Status.Info().Ready() })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(w.set) != 1 || !follower.discarded || w.store.cursor.LogSeq != 3 {
		t.Errorf("set aside %v, mirror %+v, store at %d", w.set, follower, w.store.cursor.LogSeq)
	}
}

// TestRunStale: a store whose rows are not what the log says is built again; a
// log that no store agrees with ends it.
func TestRunStale(t *testing.T) {
	w := grown(t)
	w.store = stale(t, w)
	o := w.running()
	stop := run(t, o)
	waitFor(t, "ready", func() bool { return o.Status.Info().Ready() })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if len(w.set) != 1 || w.store.cursor.LogSeq != 5 {
		t.Errorf("set aside %v, store at %d", w.set, w.store.cursor.LogSeq)
	}
	w.set, w.store = nil, stale(t, w)
	w.blocks[4] = reseal(t, w.blocks[4], func(h *events.Header) { h.StateHash = strings.Repeat("ab", 32) })
	if err := Run(t.Context(), w.running()); !errors.Is(err, ErrIntegrity) || len(w.set) != 1 {
		t.Errorf("got %v after %v", err, w.set)
	}
}

// TestRunEnds: what another term cannot help ends it, with its exit code.
func TestRunEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(w *world, o *Options)
		code int
		text string
	}{
		{"nobody there", func(w *world, _ *Options) { w.connect = func(int) error { return errors.New("no server at x") } }, 1, "no server at x"},
		{"integrity", func(w *world, _ *Options) { w.blocks = w.blocks[:3] }, 3, "integrity"},
		{"all blocks lost", func(w *world, _ *Options) { w.emptied = true }, 3, "lost all its blocks"},
		{"shards", func(w *world, o *Options) { o.Shards, w.store = 2, &fakeStore{rows: state.NewMemory()} }, 1, "shard"},
		{"fenced", func(w *world, _ *Options) {
			w.refuse = func(_ int, block []byte) appendFault {
				return appendFault{foreign: reseal(t, block, func(h *events.Header) { h.Writer = "another" }), err: errNoAnswer}
			}
			w.publish("a")
		}, 5, "another"},
		{"no options", func(_ *world, o *Options) { o.Connect = nil }, 1, "Connect"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := grown(t)
			o := w.running()
			c.set(w, &o)
			err := Run(t.Context(), o)
			if ExitCode(err) != c.code || !strings.Contains(fmt.Sprint(err), c.text) {
				t.Errorf("got %v (exit code %d), want %q (%d)", err, ExitCode(err), c.text, c.code)
			}
		})
	}
	if ExitCode(nil) != 0 {
		t.Error("no error has an exit code")
	}
}

// TestRunWaitsForServer: after the first term a server that is away is waited for.
func TestRunWaitsForServer(t *testing.T) {
	w := newWorld()
	w.connect = func(n int) error {
		if n > 1 && n < 5 {
			return errors.New("connection refused")
		}
		return nil
	}
	o := w.running()
	stop := run(t, o)
	waitFor(t, "reading", func() bool { return o.Status.Info().Ready() })
	w.mu.Lock()
	w.feed.err = ErrLost
	w.feed.signal()
	w.mu.Unlock()
	w.publish("a")
	w.waitAnswers(t, 1)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if w.connected != 5 {
		t.Errorf("connected %d times", w.connected)
	}
}

// TestRunStops: a stop while a block is being written answers it if it is
// stored in time, and gives up otherwise; nothing is lost either way.
func TestRunStops(t *testing.T) {
	for _, inTime := range []bool{true, false} {
		t.Run(fmt.Sprint("in time ", inTime), func(t *testing.T) {
			w := newWorld()
			o := w.running()
			o.Limits.Append = 50 * time.Millisecond
			began, release := make(chan struct{}), make(chan struct{})
			w.refuse = func(try int, _ []byte) appendFault {
				if try == 1 {
					close(began)
				}
				if inTime {
					<-release
					return appendFault{stored: true}
				}
				time.Sleep(o.Limits.Append)
				return appendFault{err: errNoAnswer}
			}
			o.Limits.AppendTries = 1000
			stop := run(t, o)
			w.publish("a")
			<-began
			if inTime {
				time.AfterFunc(20*time.Millisecond, func() { close(release) })
			}
			start := time.Now()
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 2*time.Second {
				t.Errorf("stopping took %s", took)
			}
			want := 0
			if inTime {
				want = 1
			}
			if len(w.answered()) != want || len(w.blocks) != want || len(w.commands)+len(w.blocks) == 0 {
				t.Errorf("%d answers, %d blocks, %d commands left", len(w.answered()), len(w.blocks), len(w.commands))
			}
		})
	}
}

// TestStatusSlow: a commit that hangs shows in the status.
func TestStatusSlow(t *testing.T) {
	s := NewStatus()
	now := time.Unix(0, 0)
	s.now, s.slow = func() time.Time { return now }, time.Second
	s.set(PhaseReady, "")
	end := s.begin("a commit of the store")
	now = now.Add(3 * time.Second)
	if info := s.Info(); info.Ready() || info.Reason != "a commit of the store takes 3s" {
		t.Errorf("while it hangs: %+v", info)
	}
	end()
	if !s.Info().Ready() {
		t.Errorf("afterwards: %+v", s.Info())
	}
}

// TestOutrun: a log that grows whenever it is read has another writer. A block
// or two of a writer that is going are no reason to stop.
func TestOutrun(t *testing.T) {
	var r runner
	for range 2 {
		for n := 1; n < maxGrew; n++ {
			if err := r.outrun(fmt.Errorf("recover: %w", errGrew)); err != nil {
				t.Fatalf("time %d: %v", n, err)
			}
		}
		if err := r.outrun(ErrLost); err != nil {
			t.Fatal(err)
		}
	}
	for range maxGrew - 1 {
		_ = r.outrun(errGrew)
	}
	if err := r.outrun(errGrew); !errors.Is(err, ErrFenced) || !final(err) || ExitCode(err) != 5 {
		t.Errorf("%v", err)
	}
}
