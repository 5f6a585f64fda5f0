package loop

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// grown is a world with a log of five blocks and everything folded.
func grown(t *testing.T) *world {
	t.Helper()
	w := newWorld()
	term := w.term(t, w.stepped())
	for i := range 5 {
		w.publish(fmt.Sprint("x", i))
		if err := drain(t, term); err != nil {
			t.Fatal(err)
		}
	}
	w.journal = nil
	return w
}

// stale is a store at block 3 whose rows are not what the log says.
func stale(t *testing.T, w *world) *fakeStore {
	t.Helper()
	store := &fakeStore{rows: state.NewMemory()}
	f := NewFolder(store, 0)
	for i := range 3 {
		if err := f.Fold(uint64(i+1), w.blocks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	store.cursor.StateHash[0] ^= 1
	return store
}

// reseal writes the header of a block again after change, with its checksum right.
func reseal(t *testing.T, data []byte, change func(*events.Header)) []byte {
	t.Helper()
	block, err := events.ParseBlock(data)
	if err != nil {
		t.Fatal(err)
	}
	var hash [32]byte
	h := block.Header
	change(&h)
	copy(hash[:], mustHex(t, h.StateHash))
	b := events.NewBlock(h)
	for i := range block.Entries {
		b.Add(&block.Entries[i].Message, block.Entries[i].Decision)
	}
	out, _ := b.Seal(hash)
	return out
}

func mustHex(t *testing.T, text string) []byte {
	t.Helper()
	var out []byte
	if _, err := fmt.Sscanf(text, "%x", &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRecover: what a new term finds, and what it makes of it.
func TestRecover(t *testing.T) {
	empty := func() *fakeStore { return &fakeStore{rows: state.NewMemory()} }
	for _, c := range []struct {
		name    string
		set     func(t *testing.T, w *world, o *Options)
		want    error
		text    string // in the error
		purge   string // the first thing that happens when all is well
		discard bool
	}{
		{name: "all is well", set: func(*testing.T, *world, *Options) {}, purge: "purge 6"},
		{name: "the store was deleted", set: func(_ *testing.T, w *world, _ *Options) { w.store = empty() }, purge: "commit 5"},
		{name: "the log lost its end", set: func(_ *testing.T, w *world, _ *Options) { w.blocks = w.blocks[:3] },
			want: ErrIntegrity, text: "the store holds block 5, the log ends at block 3"},
		{name: "the log lost its end, under interval", set: func(_ *testing.T, w *world, _ *Options) { w.blocks = w.blocks[:3] },
			discard: true, want: ErrAhead, text: "the store holds block 5"},
		{name: "another log", set: func(t *testing.T, w *world, _ *Options) {
			w.blocks[4] = reseal(t, w.blocks[4], func(h *events.Header) { h.Writer = "another" })
		}, want: ErrIntegrity, text: "another block 5"},
		{name: "the log and the store lost their end", set: func(_ *testing.T, w *world, _ *Options) {
			w.blocks, w.store, w.commands = w.blocks[:3], empty(), nil
		}, want: ErrIntegrity, text: "the inbox begins at command 6, the log ends at command 3"},
		{name: "the same under interval", set: func(_ *testing.T, w *world, _ *Options) {
			w.blocks, w.store, w.commands = w.blocks[:3], empty(), nil
		}, discard: true, purge: "commit 3"},
		{name: "the inbox lost its end", set: func(_ *testing.T, w *world, _ *Options) { w.commands, w.nextSeq = nil, 3 }, purge: "purge 6"},
		{name: "a missing block", set: func(_ *testing.T, w *world, _ *Options) { w.blocks[2], w.store = nil, empty() },
			want: ErrIntegrity, text: "block 4 follows block 2"},
		{name: "the last block cannot be read", set: func(_ *testing.T, w *world, _ *Options) { w.blocks[4], w.store = nil, empty() },
			want: ErrLost, text: "the log grew"},
		{name: "a flipped bit", set: func(_ *testing.T, w *world, _ *Options) {
			w.blocks[2] = bytes.Replace(w.blocks[2], []byte("x2"), []byte("x3"), 1)
			w.store = empty()
		}, want: ErrIntegrity, text: "checksum"},
		{name: "a broken chain", set: func(t *testing.T, w *world, _ *Options) {
			w.blocks[2] = reseal(t, w.blocks[2], func(h *events.Header) { h.PrevBlockHash = events.ZeroHash })
			w.store = empty()
		}, want: ErrIntegrity, text: "block 3 is not chained"},
		{name: "another state", set: func(t *testing.T, w *world, _ *Options) {
			w.blocks[4] = reseal(t, w.blocks[4], func(h *events.Header) { h.StateHash = strings.Repeat("ab", 32) })
			w.store = empty()
		}, want: ErrIntegrity, text: "this build does not agree"},
		{name: "rows that are not what the log says", set: func(t *testing.T, w *world, _ *Options) { w.store = stale(t, w) },
			want: ErrStore, text: "the rows of before are damaged"},
		{name: "newer rules", set: func(t *testing.T, w *world, _ *Options) {
			w.blocks[4] = reseal(t, w.blocks[4], func(h *events.Header) { h.RulesVersion = 2 })
			w.store = empty()
		}, want: ErrConfig, text: "rules version 2"},
		{name: "a block of an earlier generation", set: func(t *testing.T, w *world, _ *Options) {
			w.blocks[4] = reseal(t, w.blocks[4], func(h *events.Header) { h.Generation = "g0" })
			w.store = empty()
		}, want: ErrIntegrity, text: "block 5 is of generation g0, the block before it is of the later g1"},
		{name: "a block of a later generation than the stream", set: func(t *testing.T, w *world, _ *Options) {
			w.blocks[4] = reseal(t, w.blocks[4], func(h *events.Header) { h.Generation = "g2" })
			w.store = empty()
		}, want: ErrIntegrity, text: "block 5 is of generation g2, and the log stream is of the earlier g1"},
		{name: "another shard", set: func(_ *testing.T, w *world, o *Options) { o.Shard, o.Shards, w.store = 1, 2, empty() },
			want: ErrConfig, text: "shard 0 of 1"},
		{name: "a newer format", set: func(_ *testing.T, w *world, _ *Options) {
			w.blocks[4] = bytes.Replace(w.blocks[4], []byte(`"formatVersion":2,"generation":"g1"`), []byte(`"formatVersion":9,"generation":"g2"`), 1)
			w.store = empty()
		}, want: ErrConfig, text: "format 9"},
		{name: "the archive is behind", set: func(_ *testing.T, w *world, o *Options) {
			o.Archive = &fakeArchive{world: w, blocks: slices.Clone(w.blocks[:3])}
		}, purge: "archive 4"},
		{name: "the archive is ahead", set: func(_ *testing.T, w *world, o *Options) {
			o.Archive = &fakeArchive{world: w, blocks: slices.Clone(w.blocks)}
			w.blocks, w.store = w.blocks[:3], empty()
		}, want: ErrIntegrity, text: "restore the log from the archive"},
		{name: "the archive is of another log", set: func(t *testing.T, w *world, o *Options) {
			other := reseal(t, w.blocks[2], func(h *events.Header) { h.Generation = "another" })
			o.Archive = &fakeArchive{world: w, blocks: [][]byte{w.blocks[0], w.blocks[1], other}}
		}, want: ErrIntegrity, text: "the archive holds another block 3"},
		{name: "the archive is behind a damaged block", set: func(t *testing.T, w *world, o *Options) {
			w.blocks[3] = reseal(t, w.blocks[3], func(h *events.Header) { h.Generation = "another" })
			o.Archive = &fakeArchive{world: w, blocks: slices.Clone(w.blocks[:3])}
		}, want: ErrIntegrity, text: "block 4 of the log is not the one"},
		{name: "the mirror is ahead", set: func(_ *testing.T, _ *world, o *Options) { o.Followers = []Follower{&fakeFollower{seq: 6}} },
			want: ErrIntegrity, text: "the mirror holds block 6"},
		{name: "the mirror is ahead, under interval", set: func(_ *testing.T, _ *world, o *Options) { o.Followers = []Follower{&fakeFollower{seq: 6}} },
			discard: true, want: ErrAhead, text: "the mirror holds block 6"},
		{name: "the mirror is behind", set: func(_ *testing.T, _ *world, o *Options) { o.Followers = []Follower{&fakeFollower{seq: 2}} }, purge: "purge 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := grown(t)
			o := w.stepped()
			c.set(t, w, &o)
			o.DiscardAhead = c.discard
			term := w.newTerm(t, o)
			err := term.Recover(t.Context())
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.text) {
				t.Fatalf("got %v, want %v with %q", err, c.want, c.text)
			}
			if c.want != nil {
				if len(w.journal) > 0 && strings.HasPrefix(w.journal[0], "purge") {
					t.Error("purged in spite of the error")
				}
				return
			}
			if err := term.Open(t.Context()); err != nil {
				t.Fatal(err)
			}
			if w.journal[0] != c.purge {
				t.Errorf("first %s, want %s", w.journal[0], c.purge)
			}
			if last := len(w.journal); !strings.HasPrefix(w.journal[last-3], "purge") || w.journal[last-2] != "doors" {
				t.Errorf("%v: want the purge before the doors", w.journal)
			}
			w.publish("next")
			if err := drain(t, term); err != nil {
				t.Fatal(err)
			}
			if got := w.answered(); got[len(got)-1] != "_INBOX.next" {
				t.Errorf("answered %v", got)
			}
		})
	}
}

// TestInboxReused: an inbox that lost its end gives out no sequence twice.
func TestInboxReused(t *testing.T) {
	w := grown(t)
	w.commands, w.nextSeq = nil, 2
	term := w.term(t, w.stepped())
	w.publish("new")
	if w.commands[0].Seq != 6 {
		t.Errorf("the next command got sequence %d", w.commands[0].Seq)
	}
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(w.answered(), "_INBOX.new") {
		t.Error("the next command was passed over")
	}
}

// TestPurgeThatDoesNothing: the doors stay closed when a purge did not do what
// it must.
func TestPurgeThatDoesNothing(t *testing.T) {
	w := grown(t)
	w.commands, w.nextSeq, w.purgeLies = nil, 2, true
	term := w.newTerm(t, w.stepped())
	if err := term.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := term.Open(t.Context()); !errors.Is(err, ErrIntegrity) || slices.Contains(w.journal, "doors") {
		t.Errorf("%v, %v", err, w.journal)
	}
}

// TestRecoverHooks: whoever follows sees every block that is folded again.
func TestRecoverHooks(t *testing.T) {
	w := grown(t)
	w.store = &fakeStore{rows: state.NewMemory()}
	o := w.stepped()
	var seen []uint64
	o.Hooks.Folded = func(f *Folded) {
		seen = append(seen, f.Cursor.LogSeq)
		if !f.Replayed || len(f.Messages) != 1 || len(f.Decisions) != 1 || len(f.Changes) == 0 {
			t.Errorf("block %d: %+v", f.Cursor.LogSeq, f)
		}
	}
	recovered := 0
	o.Hooks.Recovered = func(_ state.Cursor, blocks int) { recovered = blocks }
	w.term(t, o)
	if want := []uint64{1, 2, 3, 4, 5}; !slices.Equal(seen, want) || recovered != 5 {
		t.Errorf("saw %v, recovered %d", seen, recovered)
	}
}
