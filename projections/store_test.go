package projections

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"go.uber.org/goleak"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// manual is a store that flushes only when told, small so that it also does so
// by itself now and then.
func manual(fs vfs.FS) StoreOptions {
	return StoreOptions{Dir: "store", FS: fs, FlushEvery: -1, MemBytes: 64 << 10}
}

func openStore(t *testing.T, o StoreOptions) *Store {
	t.Helper()
	s, err := OpenStore(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func closeStore(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// rows are what is expected: key to value.
type rows map[string]string

// change is a random commit number seq: some rows set, some deleted.
func (r rows) change(rng *rand.Rand, seq uint64) []state.Change {
	changes := map[string]state.Change{}
	for range 1 + rng.IntN(8) {
		key := fmt.Sprintf("R%03d", rng.IntN(200))
		if rng.IntN(4) == 0 {
			changes[key] = state.Change{Key: []byte(key)}
			delete(r, key)
			continue
		}
		value := fmt.Sprintf("%d:%s", seq, strings.Repeat("x", rng.IntN(400)))
		changes[key] = state.Change{Key: []byte(key), Value: []byte(value)}
		r[key] = value
	}
	return slices.Collect(maps.Values(changes))
}

func cursorOf(seq uint64) state.Cursor {
	return state.Cursor{
		LogSeq: seq, CommandSeq: 10 * seq, Generation: "g1",
		BlockHash: [32]byte{0: byte(seq)}, StateHash: [32]byte{31: byte(seq)},
	}
}

func content(t *testing.T, r state.Rows) rows {
	t.Helper()
	got := rows{}
	err := r.Scan([]byte{'A'}, []byte{'z'}, false, func(key, value []byte) bool {
		got[string(key)] = string(value)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestStore(t *testing.T) {
	s := openStore(t, manual(vfs.NewMem()))
	if got := s.Cursor(); got != (state.Cursor{}) {
		t.Errorf("a new store has the cursor %+v", got)
	}
	set := func(seq uint64, pairs ...string) {
		var changes []state.Change
		for i := 0; i < len(pairs); i += 2 {
			c := state.Change{Key: []byte(pairs[i])}
			if pairs[i+1] != "-" {
				c.Value = []byte(pairs[i+1])
			}
			changes = append(changes, c)
		}
		if err := s.Commit(changes, cursorOf(seq)); err != nil {
			t.Fatal(err)
		}
	}
	set(1, "Ra", "1", "Rb", "2", "Rc", "", "Sa", "4")
	old, err := s.View()
	if err != nil {
		t.Fatal(err)
	}
	set(2, "Ra", "-", "Rd", "5")

	if value, err := s.Get([]byte("Ra")); value != nil || err != nil {
		t.Errorf("a deleted row is %q, %v", value, err)
	}
	if value, err := s.Get([]byte("Rc")); value == nil || len(value) != 0 || err != nil {
		t.Errorf("an empty row is %v, %v; want empty, not absent", value, err)
	}
	if value, err := old.Get([]byte("Ra")); string(value) != "1" || err != nil {
		t.Errorf("the view before has %q, %v", value, err)
	}
	if old.Cursor() != cursorOf(1) || s.Cursor() != cursorOf(2) {
		t.Errorf("cursors: view %+v, store %+v", old.Cursor(), s.Cursor())
	}
	for _, c := range []struct {
		reverse bool
		stop    int
		want    string
	}{{false, 9, "Rb Rc Rd"}, {true, 9, "Rd Rc Rb"}, {false, 1, "Rb"}, {true, 2, "Rd Rc"}} {
		var keys []string
		err := s.Scan([]byte("R"), []byte("S"), c.reverse, func(key, _ []byte) bool {
			keys = append(keys, string(key))
			return len(keys) < c.stop
		})
		if got := strings.Join(keys, " "); got != c.want || err != nil {
			t.Errorf("scan reverse %v: %s, %v; want %s", c.reverse, got, err, c.want)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	if _, err := s.Get([]byte("Rb")); !errors.Is(err, errClosed) {
		t.Errorf("a closed store: %v", err)
	}
	if err := s.Close(); err == nil {
		t.Error("a second close is no error")
	}
}

// TestStoreReopens: Close flushes.
func TestStoreReopens(t *testing.T) {
	o := StoreOptions{Dir: filepath.Join(t.TempDir(), "store"), FlushEvery: time.Hour}
	s := openStore(t, o)
	want, rng := rows{}, rand.New(rand.NewPCG(1, 1))
	for seq := uint64(1); seq <= 50; seq++ {
		if err := s.Commit(want.change(rng, seq), cursorOf(seq)); err != nil {
			t.Fatal(err)
		}
	}
	closeStore(t, s)
	s = openStore(t, o)
	defer closeStore(t, s)
	if s.Cursor() != cursorOf(50) || !maps.Equal(content(t, s), want) {
		t.Errorf("after closing and opening: cursor %+v", s.Cursor())
	}
}

// TestStoreCrash: whatever a crash leaves, rows and cursor are those of one and
// the same commit, and not older than the last flush.
func TestStoreCrash(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		fs := vfs.NewCrashableMem()
		s := openStore(t, manual(fs))
		history, now := []rows{{}}, rows{}
		crash := 1 + rng.Uint64N(400)
		flushed := uint64(0)
		for seq := uint64(1); seq <= crash; seq++ {
			if err := s.Commit(now.change(rng, seq), cursorOf(seq)); err != nil {
				t.Fatal(err)
			}
			history = append(history, maps.Clone(now))
			if rng.IntN(50) == 0 {
				if err := s.Flush(); err != nil {
					t.Fatal(err)
				}
				flushed = seq
			}
		}
		after := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
		closeStore(t, s)

		s = openStore(t, manual(after))
		at := s.Cursor().LogSeq
		if at < flushed || at > crash {
			t.Fatalf("seed %d: at %d, flushed %d, crashed after %d", seed, at, flushed, crash)
		}
		if at > 0 && s.Cursor() != cursorOf(at) {
			t.Errorf("seed %d: cursor %+v", seed, s.Cursor())
		}
		if !maps.Equal(content(t, s), history[at]) {
			t.Errorf("seed %d: the rows are not those of commit %d", seed, at)
		}
		closeStore(t, s)
	}
}

// TestStoreLargeBatch: more than a table in memory holds.
func TestStoreLargeBatch(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := openStore(t, manual(fs))
	var changes []state.Change
	for i := range 100 {
		changes = append(changes, state.Change{Key: fmt.Appendf(nil, "R%03d", i), Value: bytes.Repeat([]byte{'x'}, 10_000)})
	}
	if err := s.Commit(changes, cursorOf(1)); err != nil {
		t.Fatal(err)
	}
	if got := len(content(t, s)); got != 100 {
		t.Errorf("%d rows", got)
	}
	after := fs.CrashClone(vfs.CrashCloneCfg{})
	closeStore(t, s)
	s = openStore(t, manual(after))
	defer closeStore(t, s)
	if at, got := s.Cursor().LogSeq, len(content(t, s)); got != 100*int(at) {
		t.Errorf("after a crash: cursor %d, %d rows", at, got)
	}
}

// TestStoreFlippedBit: damage on the disk is an error that asks for a new
// store, or an older state, never a wrong one and never the process's end.
func TestStoreFlippedBit(t *testing.T) {
	base := t.TempDir()
	origin := filepath.Join(base, "origin")
	s := openStore(t, StoreOptions{Dir: origin, FlushEvery: -1, MemBytes: 64 << 10})
	history, now, rng := []rows{{}}, rows{}, rand.New(rand.NewPCG(3, 3))
	for seq := uint64(1); seq <= 300; seq++ {
		if err := s.Commit(now.change(rng, seq), cursorOf(seq)); err != nil {
			t.Fatal(err)
		}
		history = append(history, maps.Clone(now))
		if seq%60 == 0 {
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	closeStore(t, s)
	files, err := os.ReadDir(origin)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]int{}
	for i := range 120 {
		dir := filepath.Join(base, fmt.Sprint(i))
		if err := os.CopyFS(dir, os.DirFS(origin)); err != nil {
			t.Fatal(err)
		}
		name := files[rng.IntN(len(files))].Name()
		flipBit(t, filepath.Join(dir, name), rng)
		outcomes[readDamaged(t, dir, name, history)]++
	}
	t.Log(outcomes)
	if outcomes["damaged"] == 0 {
		t.Error("no flipped bit was noticed: the test does not test")
	}
}

func flipBit(t *testing.T, name string, rng *rand.Rand) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		return
	}
	data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func readDamaged(t *testing.T, dir, name string, history []rows) string {
	t.Helper()
	damaged := func(err error) string {
		var e *StoreError
		if !errors.As(err, &e) || !e.Damaged() {
			t.Errorf("%s: %v is not called damage", name, err)
		}
		return "damaged"
	}
	s, err := OpenStore(StoreOptions{Dir: dir, FlushEvery: -1})
	if err != nil {
		return damaged(err)
	}
	defer s.Close()
	got := rows{}
	err = s.Scan([]byte{'A'}, []byte{'z'}, false, func(key, value []byte) bool {
		got[string(key)] = string(value)
		return true
	})
	if err != nil {
		return damaged(err)
	}
	if at := s.Cursor().LogSeq; !maps.Equal(got, history[at]) {
		t.Errorf("%s: rows of another commit than %d", name, at)
	} else if at+1 < uint64(len(history)) {
		return "older"
	}
	return "unharmed"
}

// TestStoreInjectedErrors: errors of the disk come out as errors, and the
// process lives.
func TestStoreInjectedErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		op   func(errorfs.OpKind) bool
	}{
		{"create", func(k errorfs.OpKind) bool { return k == errorfs.OpCreate }},
		{"write", func(k errorfs.OpKind) bool { return k == errorfs.OpFileWrite }},
		{"sync", func(k errorfs.OpKind) bool { return k == errorfs.OpFileSync || k == errorfs.OpFileSyncData }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var broken toggle
			mem := vfs.NewMem()
			fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if broken.on.Load() && c.op(op.Kind) {
					return syscall.ENOSPC
				}
				return nil
			}))
			s := openStore(t, manual(fs))
			now, rng := rows{}, rand.New(rand.NewPCG(4, 4))
			if err := s.Commit(now.change(rng, 1), cursorOf(1)); err != nil {
				t.Fatal(err)
			}
			if err := s.Flush(); err != nil {
				t.Fatal(err)
			}
			broken.on.Store(true)
			if err := s.Commit(now.change(rng, 2), cursorOf(2)); err != nil {
				t.Fatal(err) // in memory, so it works
			}
			if err := s.Flush(); err == nil {
				t.Error("the flush succeeded")
			}
			if err := s.Commit(now.change(rng, 3), cursorOf(3)); err == nil {
				t.Error("a commit after a flush that failed succeeded")
			}
			_ = s.Close() // it may say that it failed; it must end
			s = openStore(t, manual(mem))
			defer closeStore(t, s)
			if at := s.Cursor().LogSeq; at < 1 || at > 2 {
				t.Errorf("opened again at %d", at)
			}
		})
	}
}

// TestStoreReadErrors: a row that cannot be read is an error, never "absent".
func TestStoreReadErrors(t *testing.T) {
	var broken toggle
	mem := vfs.NewMem()
	s := openStore(t, manual(mem))
	changes := []state.Change{{Key: []byte("Ra"), Value: []byte("1")}}
	for i := range 100 { // so that the row and the cursor are in different blocks
		changes = append(changes, state.Change{Key: fmt.Appendf(nil, "A%03d", i), Value: bytes.Repeat([]byte{'x'}, 1000)})
	}
	if err := s.Commit(changes, cursorOf(1)); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	o := manual(errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken.on.Load() && (op.Kind == errorfs.OpFileReadAt || op.Kind == errorfs.OpOpen) {
			return syscall.EIO
		}
		return nil
	})))
	s = openStore(t, o)
	defer s.Close()
	broken.on.Store(true)
	if value, err := s.Get([]byte("Ra")); err == nil {
		t.Errorf("got %q from a disk that cannot be read", value)
	}
	if err := s.Scan([]byte("A"), []byte("z"), false, func(_, _ []byte) bool { return true }); err == nil {
		t.Error("scanned a disk that cannot be read")
	}
	broken.on.Store(false)
	// Pebble's own work in the background may have met the broken disk, which
	// ends the store: it must say so then, and never answer with another value.
	if value, err := s.Get([]byte("Ra")); err == nil && string(value) != "1" {
		t.Errorf("afterwards: %q", value)
	}
}

func TestStoreRowsVersion(t *testing.T) {
	mem := vfs.NewMem()
	s := openStore(t, manual(mem))
	value := encodeCursor(&state.Cursor{LogSeq: 1})
	value[0]++
	if err := s.db.Set(cursorKey, value, nil); err != nil && !strings.Contains(err.Error(), "WAL") {
		t.Fatal(err)
	}
	batch := s.db.NewBatch()
	if err := errors.Join(batch.Set(cursorKey, value, nil), batch.Commit(noSync)); err != nil {
		t.Fatal(err)
	}
	s.dirty.Store(true)
	closeStore(t, s)
	_, err := OpenStore(manual(mem))
	var e *StoreError
	if !errors.As(err, &e) || !e.Damaged() {
		t.Errorf("rows of another version: %v, want damage", err)
	}
}

func TestStoreFree(t *testing.T) {
	s := openStore(t, StoreOptions{Dir: filepath.Join(t.TempDir(), "store"), MinFree: 1})
	defer closeStore(t, s)
	if err := s.Free(); err != nil {
		t.Error(err)
	}
	s.o.MinFree = 1 << 62
	if err := s.Free(); err == nil || !strings.Contains(err.Error(), "nearly full") {
		t.Errorf("too little space: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	h := NewHome(StoreOptions{Dir: dir})
	if _, err := h.View(); err == nil {
		t.Error("a view of a store that is not open")
	}
	for i := 1; i <= 4; i++ {
		s, err := h.Open()
		if err != nil {
			t.Fatal(err)
		}
		v, err := h.View()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		where, err := h.SetAside(nil)
		if err != nil || where != fmt.Sprintf("%s.bad-%d", dir, i) {
			t.Errorf("set aside in %s, %v", where, err)
		}
	}
	numbers, err := asideNumbers(dir)
	if err != nil || !slices.Equal(numbers, []int{3, 4}) {
		t.Errorf("%v were kept, %v", numbers, err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Open(); err == nil {
		t.Error("opened a file")
	}
}

// TestStoreFlushesByItself: what was committed is durable a little later.
func TestStoreFlushesByItself(t *testing.T) {
	fs := vfs.NewCrashableMem()
	o := manual(fs)
	o.FlushEvery = 5 * time.Millisecond
	s := openStore(t, o)
	if err := s.Commit(nil, cursorOf(7)); err != nil {
		t.Fatal(err)
	}
	for range 400 {
		if !s.dirty.Load() {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := s.Flush(); err != nil { // waits for the one under way
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openStore(t, manual(fs.CrashClone(vfs.CrashCloneCfg{})))
	defer closeStore(t, s)
	if s.Cursor() != cursorOf(7) {
		t.Errorf("cursor %+v", s.Cursor())
	}
}
