package loop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// stepped are options for a term that is driven on one goroutine.
func (w *world) stepped() Options {
	writers := 0
	return Options{
		Connect:    func(context.Context) (Session, error) { return w.session(), nil },
		Stores:     worldStores{w},
		NewDecider: func() Decider { return refuser{} },
		Clock:      &stillClock{now: time.Unix(1000, 0)},
		NewWriter: func() string {
			writers++
			return fmt.Sprintf("writer-%d", writers)
		},
		Go:           func(f func()) { f() },
		RulesVersion: 1,
	}
}

// term begins a term on the world and opens it.
func (w *world) term(t *testing.T, o Options) *Term {
	t.Helper()
	term := w.newTerm(t, o)
	if err := term.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := term.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return term
}

func (w *world) newTerm(t *testing.T, o Options) *Term {
	t.Helper()
	w.store.world = w
	term, err := NewTerm(t.Context(), o, w.session(), w.store, map[string]bool{"earlier": true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = term.Close() })
	return term
}

// drain steps until nothing is left to do.
func drain(t *testing.T, term *Term) error {
	t.Helper()
	for range 100 {
		worked, err := term.Step(t.Context())
		if err != nil {
			return err
		}
		if !worked {
			return nil
		}
	}
	t.Fatal("a term that never rests")
	return nil
}

// TestOrder: decide, append, fold, archive, reply; purge before anyone comes in.
func TestOrder(t *testing.T) {
	w := newWorld()
	o := w.stepped()
	archive := &fakeArchive{world: w}
	o.Archive = archive
	term := w.term(t, o)
	w.publish("a", "b")
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	w.publish("c")
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"purge 1", "doors", "read 0",
		"stored 1", "commit 1", "archive 1", "reply _INBOX.a false", "reply _INBOX.b false",
		"stored 2", "commit 2", "archive 2", "reply _INBOX.c false",
	}
	if diff := cmp.Diff(want, w.journal); diff != "" {
		t.Errorf("what happened (-want +got):\n%s", diff)
	}
	if len(archive.blocks) != 2 || !bytes.Equal(archive.blocks[1], w.blocks[1]) {
		t.Error("the archive is no copy of the log")
	}
}

// TestChain: blocks name their place, and a new folder agrees with all of them.
func TestChain(t *testing.T) {
	w := newWorld()
	term := w.term(t, w.stepped())
	for i := range 5 {
		w.publish(fmt.Sprint("x", i))
		if err := drain(t, term); err != nil {
			t.Fatal(err)
		}
	}
	empty := &fakeStore{rows: state.NewMemory()}
	folder := NewFolder(empty, 0)
	for i, block := range w.blocks {
		if err := folder.Fold(uint64(i+1), block); err != nil {
			t.Fatal(err)
		}
	}
	if empty.Cursor().LogSeq != 0 {
		t.Error("committed block by block; a replay commits many at once")
	}
	if err := folder.Commit(); err != nil {
		t.Fatal(err)
	}
	if empty.Cursor() != w.store.Cursor() || empty.rows.Len() != w.store.rows.Len() {
		t.Errorf("replayed to %+v with %d rows, live %+v with %d", empty.Cursor(), empty.rows.Len(), w.store.Cursor(), w.store.rows.Len())
	}
}

var errNoAnswer = errors.New("no answer")

// TestReadBack: the rule of DESIGN 3 after an append that was not confirmed.
func TestReadBack(t *testing.T) {
	foreign := func(writer string) []byte {
		b := events.NewBlock(events.Header{Writer: writer, Shards: 1, PrevBlockHash: events.ZeroHash})
		m := &events.Message{Seq: 1, Body: []byte("other")}
		b.Add(m, refuser{}.Step(state.New(state.NewMemory(), state.Cursor{}, 0), m))
		data, _ := b.Seal([32]byte{})
		return data
	}
	for _, c := range []struct {
		name    string
		refuse  func(try int, block []byte) appendFault
		readErr error
		want    error
		replies int
		tries   int
	}{
		{name: "stored, and the answer was lost",
			refuse:  func(int, []byte) appendFault { return appendFault{stored: true, err: errNoAnswer} },
			replies: 1, tries: 1},
		{name: "not stored, then stored",
			refuse:  func(try int, _ []byte) appendFault { return appendFault{stored: try == 2, err: failing(try == 1)} },
			replies: 1, tries: 2},
		{name: "never stored",
			refuse: func(int, []byte) appendFault { return appendFault{err: errNoAnswer} },
			want:   ErrUncertain, tries: 3},
		{name: "another writer was faster",
			refuse: func(int, []byte) appendFault {
				return appendFault{foreign: foreign("someone else"), stored: true, err: errNoAnswer}
			},
			want: ErrFenced, tries: 1},
		{name: "an append of an earlier term arrived late",
			refuse: func(int, []byte) appendFault {
				return appendFault{foreign: foreign("earlier"), stored: true, err: errNoAnswer}
			},
			want: ErrLost, tries: 1},
		{name: "rubbish is there",
			refuse: func(int, []byte) appendFault {
				return appendFault{foreign: []byte("rubbish"), stored: true, err: errNoAnswer}
			},
			want: ErrIntegrity, tries: 1},
		{name: "reading back fails too",
			refuse:  func(int, []byte) appendFault { return appendFault{stored: true, err: errNoAnswer} },
			readErr: errNoAnswer,
			want:    ErrUncertain, tries: 3},
		{name: "the connection is gone",
			refuse: func(int, []byte) appendFault { return appendFault{stored: true, err: ErrLost} }, readErr: ErrLost,
			want: ErrUncertain, tries: 1},
		{name: "one command that is too large",
			refuse: func(int, []byte) appendFault { return appendFault{err: ErrTooLarge} },
			want:   ErrTooLarge, tries: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld()
			w.refuse, w.readErr = c.refuse, c.readErr
			term := w.term(t, w.stepped())
			w.publish("a")
			err := drain(t, term)
			if c.want == nil && err != nil || !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if len(w.answered()) != c.replies || w.tries != c.tries {
				t.Errorf("%d replies after %d tries, want %d after %d", len(w.answered()), w.tries, c.replies, c.tries)
			}
			if c.replies == 0 && w.store.Cursor().LogSeq != 0 {
				t.Error("folded what is not known to be stored")
			}
		})
	}
}

func failing(yes bool) error {
	if yes {
		return errNoAnswer
	}
	return nil
}

// TestSameBytesAgain: what is sent again within a term is the same block.
func TestSameBytesAgain(t *testing.T) {
	w := newWorld()
	var sent [][]byte
	w.refuse = func(try int, block []byte) appendFault {
		sent = append(sent, bytes.Clone(block))
		w.publish(fmt.Sprint("more", try)) // arrives meanwhile, and must not slip in
		return appendFault{stored: try == 3, err: failing(try < 3)}
	}
	term := w.term(t, w.stepped())
	w.publish("a")
	for range 2 {
		if _, err := term.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(sent) != 3 || !bytes.Equal(sent[0], sent[1]) || !bytes.Equal(sent[0], sent[2]) {
		t.Errorf("%d tries, not all alike", len(sent))
	}
}

// TestNeverPublishAhead: while a block is being written the next is decided,
// but nothing of it is sent or answered until the one before is known stored.
func TestNeverPublishAhead(t *testing.T) {
	for _, stored := range []bool{true, false} {
		t.Run(fmt.Sprint("stored ", stored), func(t *testing.T) {
			w := newWorld()
			began, release := make(chan struct{}), make(chan struct{})
			w.refuse = func(try int, _ []byte) appendFault {
				if try == 1 {
					close(began)
					<-release
					return appendFault{stored: stored, err: failing(!stored)}
				}
				return appendFault{stored: stored, err: failing(!stored)}
			}
			o := w.stepped()
			o.Go = func(f func()) { go f() }
			term := w.term(t, o)
			w.publish("a")
			if _, err := term.Step(t.Context()); err != nil { // decides
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := term.Step(t.Context()) // writes, and decides what comes
				ended <- err
			}()
			<-began
			w.publish("b", "c")
			waitFor(t, "the feed is empty", func() bool {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.feed.last == 3
			})
			w.mu.Lock()
			tries, replies := w.tries, len(w.replies)
			w.mu.Unlock()
			if tries != 1 || replies != 0 {
				t.Errorf("%d appends and %d replies while the first is under way", tries, replies)
			}
			close(release)
			err := <-ended
			if stored {
				if err != nil {
					t.Fatal(err)
				}
				if err := drain(t, term); err != nil {
					t.Fatal(err)
				}
				if len(w.blocks) != 2 || len(w.answered()) != 3 {
					t.Errorf("%d blocks, %d replies; want 2 (b and c together) and 3", len(w.blocks), len(w.answered()))
				}
				return
			}
			if !errors.Is(err, ErrUncertain) || len(w.blocks) != 0 || len(w.answered()) != 0 {
				t.Errorf("after a refusal: %v, %d blocks, %d replies", err, len(w.blocks), len(w.answered()))
			}
		})
	}
}

func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 2000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it did not come to this:", what)
}

// TestTooLarge: the batch is halved until it fits; nothing is lost, and order
// and chain hold.
func TestTooLarge(t *testing.T) {
	w := newWorld()
	var sizes []int
	w.refuse = func(_ int, block []byte) appendFault {
		commands := bytes.Count(block, []byte("\n")) / 2
		sizes = append(sizes, commands)
		if commands > 3 {
			return appendFault{err: fmt.Errorf("%w: so they say", ErrTooLarge)}
		}
		return appendFault{stored: true}
	}
	term := w.term(t, w.stepped())
	var want []string
	for i := range 10 {
		body := fmt.Sprint("x", i)
		w.publish(body)
		want = append(want, "_INBOX."+body)
	}
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, w.answered()); diff != "" {
		t.Errorf("answers after %v (-want +got):\n%s", sizes, diff)
	}
	if sizes[0] != 10 || sizes[1] != 5 || sizes[2] != 2 {
		t.Errorf("sizes %v, want halves", sizes)
	}
	again := w.newTerm(t, w.stepped())
	w.store = &fakeStore{rows: state.NewMemory()}
	again.store = w.store
	if err := again.Recover(t.Context()); err != nil {
		t.Errorf("the log does not replay: %v", err)
	}
}

// TestBlockLimits: a block takes at most so many commands and about so many
// bytes; a large command forms a block alone.
func TestBlockLimits(t *testing.T) {
	w := newWorld()
	o := w.stepped()
	o.Limits = Limits{BlockCommands: 4, BlockBytes: 50_000}
	term := w.term(t, o)
	for range 9 {
		w.publish("s")
	}
	w.publish(strings.Repeat("L", 100_000), "s", strings.Repeat("m", 15_000), strings.Repeat("m", 15_000))
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	var sizes []int64
	for _, data := range w.blocks {
		h, err := events.ParseHeader(data)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, h.Commands)
	}
	if want := []int64{4, 4, 1, 1, 2, 1}; !slices.Equal(sizes, want) {
		t.Errorf("blocks of %v commands, want %v", sizes, want)
	}
}

// TestRedelivered: commands at or below the cursor are passed over, gaps are legal.
func TestRedelivered(t *testing.T) {
	w := newWorld()
	term := w.term(t, w.stepped())
	w.publish("a", "b", "c", "d", "e")
	w.commands = slices.Delete(w.commands, 1, 3)
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	w.feed.last = 0 // delivers everything again
	w.publish("f")
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if want := []string{"_INBOX.a", "_INBOX.d", "_INBOX.e", "_INBOX.f"}; !slices.Equal(w.answered(), want) {
		t.Errorf("answered %v, want %v", w.answered(), want)
	}
	if w.store.Cursor().CommandSeq != 6 {
		t.Errorf("cursor %+v", w.store.Cursor())
	}
}

// TestStamp: a command from the future stalls the shard until the clock is there.
func TestStamp(t *testing.T) {
	w := newWorld()
	o := w.stepped()
	clock := &stillClock{now: time.Unix(1000, 0)}
	o.Clock, o.Status = clock, NewStatus()
	term := w.term(t, o)
	w.publish("a", "b", "c")
	w.commands[1].Time = time.Unix(1000+601, 0).UnixNano()
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	info := o.Status.Info()
	if info.Phase != PhaseStalled || !strings.Contains(info.Reason, "command 2") || info.Ready() {
		t.Errorf("status %+v", info)
	}
	if want := []string{"_INBOX.a"}; !slices.Equal(w.answered(), want) {
		t.Errorf("answered %v, want %v", w.answered(), want)
	}
	clock.now = time.Unix(1001, 0)
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if len(w.answered()) != 3 || !o.Status.Info().Ready() {
		t.Errorf("answered %v, status %+v", w.answered(), o.Status.Info())
	}
}

// TestGate: while the gate objects nothing is sent, and readiness says why.
func TestGate(t *testing.T) {
	w := newWorld()
	o := w.stepped()
	o.Status = NewStatus()
	objections := 0
	o.Gate = func() error {
		if objections > 0 {
			objections--
			if info := o.Status.Info(); objections < 2 && (info.Phase != PhaseHolding || info.Reason != "no space") {
				t.Errorf("status %+v", info)
			}
			return errors.New("no space")
		}
		return nil
	}
	term := w.term(t, o)
	w.publish("a")
	objections = 3
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if !o.Status.Info().Ready() || len(w.answered()) != 1 {
		t.Errorf("afterwards %+v", o.Status.Info())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	objections = 1000
	w.publish("b")
	if _, err := term.Step(ctx); err != nil || len(w.answered()) != 1 {
		t.Errorf("a stop while the gate objects: %v, %v", err, w.answered())
	}
}

// TestPurge: only what is folded is dropped, about every second or at half the cap.
func TestPurge(t *testing.T) {
	w := newWorld()
	o := w.stepped()
	clock := &stillClock{now: time.Unix(1000, 0)}
	o.Clock = clock
	term := w.term(t, o)
	w.publish("a")
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if len(w.commands) != 1 {
		t.Error("purged at once")
	}
	clock.now = clock.now.Add(time.Second)
	w.publish("b")
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if len(w.commands) != 1 || w.commands[0].Seq != 2 {
		t.Errorf("%d commands are left after a second", len(w.commands))
	}
	term.inbox.limits = InboxLimits{PerSubject: 4}
	w.publish("c")
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if len(w.commands) != 0 {
		t.Errorf("%d commands are left at half the cap", len(w.commands))
	}
	term.inbox.limits = InboxLimits{Bytes: 1000}
	w.publish(strings.Repeat("x", 500))
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if len(w.commands) != 0 {
		t.Errorf("%d commands are left at half the bytes", len(w.commands))
	}
}

// TestStoreFails: nothing is answered that was not folded.
func TestStoreFails(t *testing.T) {
	for name, spoil := range map[string]func(*fakeStore){
		"commit":     func(s *fakeStore) { s.commitErr = errors.New("broken") },
		"background": func(s *fakeStore) { s.found = damage{} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			term := w.term(t, w.stepped())
			w.publish("a")
			spoil(w.store)
			if err := drain(t, term); !errors.Is(err, ErrStore) || len(w.answered()) > 0 {
				t.Errorf("%v, answered %v", err, w.answered())
			}
		})
	}
}

// TestFinish: a stop answers what is stored and drops what is only decided.
func TestFinish(t *testing.T) {
	w := newWorld()
	term := w.term(t, w.stepped())
	w.publish("a")
	for range 2 { // decided, then stored
		if _, err := term.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.publish("b")
	if _, err := term.takeAll(); err != nil {
		t.Fatal(err)
	}
	if err := term.Finish(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"_INBOX.a"}; !slices.Equal(w.answered(), want) || len(w.blocks) != 1 {
		t.Errorf("answered %v, %d blocks", w.answered(), len(w.blocks))
	}
}
