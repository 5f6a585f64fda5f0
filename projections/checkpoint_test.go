package projections

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// growing is a store with real rows in a home with checkpoints.
type growing struct {
	t       *testing.T
	home    *Home
	store   *Store
	said    bytes.Buffer
	decider *reducer.Reducer
	seq     uint64
}

func grow(t *testing.T) *growing {
	t.Helper()
	dir := t.TempDir()
	g := &growing{t: t, decider: reducer.New()}
	g.home = NewHome(StoreOptions{
		Dir: filepath.Join(dir, "store"), Checkpoints: filepath.Join(dir, "checkpoints"), FlushEvery: -1,
		Log: slog.New(slog.NewTextHandler(&g.said, nil)),
	})
	g.reopen()
	t.Cleanup(func() { _ = g.store.Close() })
	return g
}

func (g *growing) reopen() {
	g.t.Helper()
	var err error
	if g.store, err = g.home.Open(); err != nil {
		g.t.Fatal(err)
	}
}

// block folds one more block: a ledger with a run.
func (g *growing) block() {
	g.t.Helper()
	g.seq++
	s := state.New(g.store, g.store.Cursor(), 0)
	for i, body := range []string{
		fmt.Sprintf(`{"contract":{"actions":["buy"],"aiwsEdition":"0.4","budget":"1000","criteria":["delivered"],"deadline":"1798761600000","features":[],"id":"c%d","maxAttempts":"3","maxAuthorizationAgeMs":"60000","missionId":"m","profile":"finite-v1","requiresApproval":false,"resources":["shop"]},"type":"openContract"}`, g.seq),
		`{"runId":"r","type":"startRun"}`,
	} {
		kind := []string{"openContract", "startRun"}[i]
		d := g.decider.Step(s, &events.Message{
			Seq: 2*g.seq + uint64(i), Time: 1, Subject: fmt.Sprintf("aiws.cmd.c%d.p.%s", g.seq, kind), Body: []byte(body),
		})
		if d.Outcome != events.OutcomeAccepted {
			g.t.Fatal(d)
		}
	}
	changes := s.Take(g.seq)
	c := state.Cursor{LogSeq: g.seq, CommandSeq: 2*g.seq + 1, Generation: "g1", BlockHash: [32]byte{byte(g.seq)}, StateHash: s.Hash()}
	if err := g.store.Commit(changes, c); err != nil {
		g.t.Fatal(err)
	}
}

func (g *growing) checkpoint() *Checkpoint {
	g.t.Helper()
	made, err := g.home.Checkpoint()
	if err != nil {
		g.t.Fatal(err)
	}
	return made
}

// lose closes the store and removes it.
func (g *growing) lose() {
	g.t.Helper()
	closeStore(g.t, g.store)
	if err := os.RemoveAll(g.home.o.Dir); err != nil {
		g.t.Fatal(err)
	}
}

func TestCheckpoint(t *testing.T) {
	g := grow(t)
	if _, err := g.home.Checkpoint(); err == nil || !strings.Contains(err.Error(), "the store is empty") {
		t.Errorf("of an empty store: %v", err)
	}
	for range 4 {
		g.block()
		made := g.checkpoint()
		if made.Block != g.seq || made.CommandSeq != 2*g.seq+1 || made.StateHash != fmt.Sprintf("%x", g.store.Cursor().StateHash) {
			t.Errorf("block %d: %+v", g.seq, made)
		}
	}
	list := g.home.checkpoints.List()
	if len(list) != 2 || list[0].Block != 4 || list[1].Block != 3 {
		t.Errorf("kept %v", list)
	}
	want := content(t, g.store)
	g.block()
	g.lose()
	g.reopen()
	if c := g.store.Cursor(); c.LogSeq != 4 {
		t.Errorf("restored at block %d", c.LogSeq)
	}
	if got := content(t, g.store); len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	g.seq = 4
	g.block() // and it goes on, without touching the checkpoint
	g.checkpoint()
	if !strings.Contains(g.said.String(), "restored from a checkpoint") {
		t.Errorf("it said: %s", g.said.String())
	}
}

// Whatever is wrong with a file of the newest checkpoint, the one before is used.
func TestCheckpointDamaged(t *testing.T) {
	g := grow(t)
	g.block()
	g.checkpoint()
	g.block()
	made := g.checkpoint()
	g.lose()
	whole := filepath.Join(t.TempDir(), "whole")
	if err := os.CopyFS(whole, os.DirFS(g.home.checkpoints.dir)); err != nil {
		t.Fatal(err)
	}
	names := []string{"00000000000000000002.json"}
	for _, file := range made.Files {
		names = append(names, filepath.Join("00000000000000000002", file.Name))
	}
	tried := 0
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(text); at += max(1, len(text)/5) {
			flipped := bytes.Clone(text)
			flipped[at] ^= 1 << (at % 8)
			for what, bad := range map[string][]byte{"flipped": flipped, "cut": text[:at], "gone": nil} {
				tried++
				_ = os.RemoveAll(g.home.checkpoints.dir)
				_ = os.RemoveAll(g.home.o.Dir)
				if err := os.CopyFS(g.home.checkpoints.dir, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(g.home.checkpoints.dir, name)
				if err := os.WriteFile(path, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				if bad == nil {
					_ = os.Remove(path)
				}
				g.reopen()
				if got := g.store.Cursor().LogSeq; got != 1 {
					t.Errorf("%s %s at %d: restored block %d", name, what, at, got)
				}
				closeStore(t, g.store)
			}
		}
	}
	t.Logf("%d damaged checkpoints", tried)
	_ = os.RemoveAll(g.home.checkpoints.dir)
	_ = os.RemoveAll(g.home.o.Dir)
	g.reopen()
	if g.store.Cursor().LogSeq != 0 {
		t.Error("a store out of nothing")
	}
}

// Rows that turn out damaged only when a new checkpoint is read are an error of
// the checkpoint, and not the end of the process.
func TestCheckpointOfDamagedRows(t *testing.T) {
	g := grow(t)
	g.block()
	made := g.checkpoint()
	g.lose()
	found := 0
	for _, file := range made.Files {
		if filepath.Ext(file.Name) != ".sst" {
			continue
		}
		path := filepath.Join(g.home.checkpoints.dir, "00000000000000000001", file.Name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < len(text); at += max(1, len(text)/40) {
			flipped := bytes.Clone(text)
			flipped[at] ^= 0x10
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := g.home.checkpoints.check(filepath.Dir(path), true); err != nil && strings.Contains(err.Error(), "checksum mismatch") {
				found++
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no damaged row was found")
	}
}

// A store that was made from a checkpoint and is set aside again is not made
// from the same one once more.
func TestCheckpointTriedOnce(t *testing.T) {
	g := grow(t)
	for range 2 {
		g.block()
		g.checkpoint()
	}
	for _, want := range []uint64{2, 1, 0} {
		closeStore(t, g.store)
		if _, err := g.home.SetAside(nil); err != nil {
			t.Fatal(err)
		}
		g.reopen()
		if got := g.store.Cursor().LogSeq; got != want {
			t.Errorf("restored block %d, want %d", got, want)
		}
	}
}

// A store whose rows are not what its cursor says makes no checkpoint: it is
// damaged, and says so.
func TestCheckpointOfWrongRows(t *testing.T) {
	g := grow(t)
	g.block()
	key := []byte(nil)
	err := g.store.Scan([]byte{'R'}, []byte{'S'}, false, func(k, _ []byte) bool {
		key = bytes.Clone(k)
		return false
	})
	if err != nil || key == nil {
		t.Fatal(err)
	}
	if err := g.store.Commit([]state.Change{{Key: key}}, g.store.Cursor()); err != nil {
		t.Fatal(err)
	}
	_, err = g.home.Checkpoint()
	var e *StoreError
	if !errors.As(err, &e) || !e.Damaged() || !strings.Contains(err.Error(), "the log says") {
		t.Errorf("got %v", err)
	}
	if g.store.Err() == nil {
		t.Error("the store does not know")
	}
	if list := g.home.checkpoints.List(); len(list) > 0 {
		t.Errorf("it was kept: %v", list)
	}
}
