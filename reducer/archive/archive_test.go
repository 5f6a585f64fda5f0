package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func TestMain(m *testing.M) {
	syncFile = func(*os.File) error { return nil }
	goleak.VerifyTestMain(m)
}

// small makes a new segment after about two blocks.
const small = 2 << 10

// makeLog makes a log of n blocks.
func makeLog(n int) *memoryLog {
	log := &memoryLog{}
	prev := events.ZeroHash
	for seq := 1; seq <= n; seq++ {
		m := &events.Message{Seq: uint64(seq), Time: int64(seq), Subject: "aiws.cmd.c.p.startRun", Body: []byte(fmt.Sprintf(`{"runId":"r%d"}`, seq))}
		body := sha256.Sum256(m.Body)
		d := &events.Decision{Contract: "c", BodyHash: hex.EncodeToString(body[:]), CommandSeq: m.Seq, CommandID: fmt.Sprint(seq), Outcome: events.OutcomeRejected, Code: "X", At: schema.DecimalOf(1)}
		d.Seal(events.ZeroHash)
		b := events.NewBlock(events.Header{RulesVersion: 1, Generation: "g1", Writer: "w", Build: "test", Shards: 1, Time: "1", PrevBlockHash: prev})
		b.Add(m, d)
		data, hash := b.Seal([32]byte{byte(seq)})
		log.blocks = append(log.blocks, data)
		prev = hex.EncodeToString(hash[:])
	}
	return log
}

// writtenBy is a block as another writer would have written it.
func writtenBy(t *testing.T, writer string, data []byte) []byte {
	t.Helper()
	block, err := events.ParseBlock(data)
	if err != nil {
		t.Fatal(err)
	}
	block.Header.Writer = writer
	b := events.NewBlock(block.Header)
	for _, e := range block.Entries {
		b.Add(&e.Message, e.Decision)
	}
	again, _ := b.Seal([32]byte{2})
	return again
}

// chainedTo is a block as it would be behind another one.
func chainedTo(t *testing.T, prev [32]byte, data []byte) []byte {
	t.Helper()
	block, err := events.ParseBlock(data)
	if err != nil {
		t.Fatal(err)
	}
	block.Header.PrevBlockHash = hex.EncodeToString(prev[:])
	b := events.NewBlock(block.Header)
	for _, e := range block.Entries {
		b.Add(&e.Message, e.Decision)
	}
	again, _ := b.Seal([32]byte{2})
	return again
}

// memoryLog is a log in memory.
type memoryLog struct {
	loop.Log
	blocks [][]byte
}

func (l *memoryLog) Read(_ context.Context, from uint64, f func(uint64, []byte) error) error {
	for seq := from; seq <= uint64(len(l.blocks)); seq++ {
		if err := f(seq, l.blocks[seq-1]); err != nil {
			return err
		}
	}
	return nil
}

func (l *memoryLog) hash(seq uint64) [sha256.Size]byte { return events.BlockHash(l.blocks[seq-1]) }

func open(t *testing.T, dir string) *Archive {
	t.Helper()
	a, err := Open(Options{Dir: dir, SegmentBytes: small})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// appendUpTo appends what the archive does not have, up to a block.
func appendUpTo(t *testing.T, a *Archive, log *memoryLog, last uint64) {
	t.Helper()
	from, _ := a.Last()
	for seq := from + 1; seq <= last; seq++ {
		if err := a.Append(seq, log.blocks[seq-1]); err != nil {
			t.Fatal(err)
		}
	}
}

func closed(t *testing.T, a *Archive) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

// archived makes an archive of a log.
func archived(t *testing.T, log *memoryLog) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "archive")
	a := open(t, dir)
	appendUpTo(t, a, log, uint64(len(log.blocks)))
	closed(t, a)
	return dir
}

// contents are the files of a directory that make the archive.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if _, ok := segmentFirst(entry.Name()); !ok && entry.Name() != headName {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(text)
	}
	return files
}

// read reads an archive until an error, and fails on a block that the log does
// not have.
func read(t *testing.T, dir string, log *memoryLog) (last uint64, err error) {
	t.Helper()
	r, err := OpenReader(dir)
	if err != nil {
		return 0, err
	}
	err = r.Read(t.Context(), 1, func(seq uint64, block []byte) error {
		if seq != last+1 || !bytes.Equal(block, log.blocks[seq-1]) {
			t.Errorf("block %d is not the log's", seq)
		}
		last = seq
		return nil
	})
	return last, err
}

// mend opens an archive for writing, as serve does, and brings it up to the log.
func mend(t *testing.T, dir string, log *memoryLog) {
	t.Helper()
	a := open(t, dir)
	appendUpTo(t, a, log, uint64(len(log.blocks)))
	fill(t, a, log)
	for damage := checked(t, a); damage != nil; damage = checked(t, a) {
		if err := a.lose(damage); err != nil {
			t.Fatal(err)
		}
		fill(t, a, log)
	}
	closed(t, a)
	if last, err := read(t, dir, log); err != nil || last != uint64(len(log.blocks)) {
		t.Errorf("after mending it reads up to block %d: %v", last, err)
	}
}

func fill(t *testing.T, a *Archive, log *memoryLog) {
	t.Helper()
	for len(a.Holes()) > 0 {
		if err := a.Fill(func(from uint64, f func(uint64, []byte) error) error { return log.Read(t.Context(), from, f) }); err != nil {
			t.Fatal(err)
		}
	}
}

// checked reads all of an archive that is open for writing.
func checked(t *testing.T, a *Archive) *Damage {
	t.Helper()
	e, err := a.extent()
	if err != nil {
		t.Fatal(err)
	}
	damage, err := e.check(func(int) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return damage
}

func TestArchive(t *testing.T) {
	log := makeLog(9)
	dir := filepath.Join(t.TempDir(), "archive")
	for _, last := range []uint64{0, 1, 1, 4, 9} {
		a := open(t, dir)
		appendUpTo(t, a, log, last)
		seq, hash := a.Last()
		if seq != last || last > 0 && hash != log.hash(last) {
			t.Errorf("it ends with block %d", seq)
		}
		closed(t, a)
		if last == 0 {
			continue
		}
		if got, err := read(t, dir, log); got != last || err != nil {
			t.Errorf("read up to block %d, want %d: %v", got, last, err)
		}
	}
	if diff := cmp.Diff(contents(t, archived(t, log)), contents(t, dir)); diff != "" {
		t.Errorf("written in pieces it has other files (-at once +in pieces):\n%s", diff)
	}
	r, err := OpenReader(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := r.Info(t.Context()); err != nil || info.LastSeq != 9 || info.FirstSeq != 1 || info.Generation != "g1" {
		t.Errorf("info: %+v, %v", info, err)
	}
	if block, err := r.Get(t.Context(), 5); err != nil || !bytes.Equal(block, log.blocks[4]) {
		t.Errorf("block 5: %v", err)
	}
	if _, err := r.Get(t.Context(), 10); !errors.Is(err, loop.ErrAbsent) {
		t.Errorf("block 10: %v", err)
	}
	if !IsArchive(dir) || IsArchive(t.TempDir()) {
		t.Error("IsArchive is wrong")
	}
}

// Only the next block of the same log gets in.
func TestAppendRefuses(t *testing.T) {
	log, other := makeLog(3), makeLog(3)
	other.blocks[1] = writtenBy(t, "x", log.blocks[1])
	a := open(t, filepath.Join(t.TempDir(), "archive"))
	appendUpTo(t, a, log, 1)
	for name, err := range map[string]error{
		"a gap":          a.Append(3, log.blocks[2]),
		"the same again": a.Append(1, log.blocks[0]),
		"not chained":    a.Append(2, log.blocks[2]),
		"cut":            a.Append(2, log.blocks[1][:len(log.blocks[1])-1]),
		"no block":       a.Append(2, nil),
	} {
		if err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if err := a.Append(2, other.blocks[1]); err != nil {
		t.Fatal(err)
	}
	if err := a.Append(3, log.blocks[2]); err == nil {
		t.Error("a block after another one was taken")
	}
	closed(t, a)
	if _, err := OpenReader(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that is not there was opened")
	}
}

func TestOneWriter(t *testing.T) {
	dir := archived(t, makeLog(1))
	a := open(t, dir)
	defer a.Close()
	if _, err := Open(Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "in use by process") {
		t.Errorf("a second writer: %v", err)
	}
	if _, err := OpenReader(dir); err != nil {
		t.Errorf("a reader beside the writer: %v", err)
	}
}

// What a crash leaves after HEAD is cut off and written again.
func TestTornTail(t *testing.T) {
	log := makeLog(5)
	dir := archived(t, makeLog(3))
	before := contents(t, dir)
	a := open(t, dir)
	appendUpTo(t, a, log, 5)
	a.file.Close()
	a.lock.Close() // without a sync
	after := contents(t, dir)
	want := contents(t, archived(t, log))
	name := slices.Max(slices.DeleteFunc(slices.Collect(func(yield func(string) bool) {
		for name := range after {
			if !yield(name) {
				return
			}
		}
	}), func(name string) bool { return name == headName }))
	for cut := len(before[name]); cut <= len(after[name]); cut += 11 {
		for _, rubbish := range []string{"", "\x00\x00\x00", "{\"block\":"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(after[name][:cut]+rubbish), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, headName), []byte(before[headName]), 0o600); err != nil {
				t.Fatal(err)
			}
			if last, err := read(t, dir, log); err != nil || last < 3 {
				t.Fatalf("cut at %d: reads up to block %d: %v", cut, last, err)
			}
			mend(t, dir, log)
			if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
				t.Fatalf("cut at %d: (-want +got):\n%s", cut, diff)
			}
		}
	}
}

// damaged calls f for copies of an archive, each with one thing wrong.
func damaged(t *testing.T, dir string, f func(dir, what string)) {
	files := contents(t, dir)
	copied := filepath.Join(t.TempDir(), "copy")
	with := func(what, name string, content []byte) {
		if err := os.RemoveAll(copied); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(copied, name)
		err := os.Remove(path)
		if content != nil {
			err = os.WriteFile(path, content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		f(copied, what)
	}
	for name, text := range files {
		if name != headName {
			with(name+" removed", name, nil)
		}
		for at := range len(text) {
			if at%23 != 0 && at > 150 { // enough of the long blocks
				continue
			}
			flipped := []byte(text)
			flipped[at] ^= 1 << (at % 8)
			with(fmt.Sprintf("%s flipped at %d", name, at), name, flipped)
			with(fmt.Sprintf("%s cut at %d", name, at), name, append([]byte{}, text[:at]...))
		}
	}
}

// Whatever happens to a file, no block is given that the log does not have,
// nothing that HEAD names is forgotten without a word, and serving mends it.
func TestDamage(t *testing.T) {
	log := makeLog(6)
	dir := archived(t, log)
	n := 0
	damaged(t, dir, func(copied, what string) {
		n++
		if _, err := read(t, copied, log); !errors.Is(err, loop.ErrIntegrity) {
			t.Errorf("%s: %v", what, err)
		}
		mend(t, copied, log)
		if t.Failed() {
			t.Fatal(what)
		}
	})
	t.Logf("%d damaged copies", n)
}

// Without HEAD the end cannot be checked, and that is said.
func TestWithoutHead(t *testing.T) {
	log := makeLog(4)
	dir := archived(t, log)
	if err := os.Remove(filepath.Join(dir, headName)); err != nil {
		t.Fatal(err)
	}
	r, err := OpenReader(dir)
	if err != nil || r.HasHead() {
		t.Errorf("head: %v, %v", r, err)
	}
	path := filepath.Join(dir, segmentName(4))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, whole[:len(whole)-1], 0o600); err != nil {
		t.Fatal(err)
	}
	if last, err := read(t, dir, log); last != 3 || !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("and damaged: reads up to block %d: %v", last, err)
	}
	mend(t, dir, log)
	if r, err := OpenReader(dir); err != nil || !r.HasHead() {
		t.Errorf("HEAD is not there again: %v", err)
	}
}

// A hole is filled only with the blocks that were there.
func TestFillRefuses(t *testing.T) {
	log := makeLog(6)
	dir := archived(t, log)
	if err := os.Remove(filepath.Join(dir, segmentName(1))); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func([][]byte) [][]byte{
		"another block": func(b [][]byte) [][]byte {
			b[1] = bytes.Replace(b[1], []byte(`"writer":"w"`), []byte(`"writer":"x"`), 1)
			return b
		},
		"a block missing": func(b [][]byte) [][]byte { return slices.Delete(b, 0, 1) },
		"a shorter log":   func(b [][]byte) [][]byte { return b[:1] },
		"a damaged block": func(b [][]byte) [][]byte { b[0] = b[0][:100]; return b },
	} {
		bad := &memoryLog{blocks: change(slices.Clone(log.blocks))}
		a := open(t, dir)
		err := a.Fill(func(from uint64, f func(uint64, []byte) error) error { return bad.Read(t.Context(), from, f) })
		if !errors.Is(err, loop.ErrIntegrity) {
			t.Errorf("%s: %v", name, err)
		}
		if len(a.Holes()) != 1 {
			t.Errorf("%s: the hole is gone", name)
		}
		closed(t, a)
	}
	mend(t, dir, log)
}
