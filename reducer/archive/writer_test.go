package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// startWriter starts a writer that hurries.
func startWriter(t *testing.T, dir string, log *memoryLog) *Writer {
	t.Helper()
	w, err := StartWriter(WriterOptions{
		Options: Options{Dir: dir, SegmentBytes: small},
		OpenLog: func(context.Context) (loop.Log, func(), error) { return log, func() {}, nil },
		// A block is larger than the queue, so that one waits at a time.
		QueueBytes: 100, SyncEvery: time.Millisecond, Retry: time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came true that %s", what)
		}
	}
}

func TestWriter(t *testing.T) {
	log := makeLog(9)
	dir := filepath.Join(t.TempDir(), "archive")
	w := startWriter(t, dir, log)
	for seq := uint64(1); seq <= 5; seq++ {
		if err := w.Append(seq, log.blocks[seq-1]); err != nil {
			t.Fatal(err)
		}
	}
	if seq, hash, err := w.Last(); seq != 5 || hash != log.hash(5) || err != nil {
		t.Errorf("it ends with block %d, %v", seq, err)
	}
	if err := w.Append(4, log.blocks[3]); err != nil {
		t.Errorf("a block that it has: %v", err)
	}
	eventually(t, "block 5 is on disk", func() bool { s := w.Status(); return s.Block == 5 && s.Lag == 0 && s.Err == nil })
	for seq := uint64(6); seq <= 9; seq++ {
		if err := w.Append(seq, log.blocks[seq-1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(10, nil); err == nil {
		t.Error("a closed archive takes blocks")
	}
	if last, err := read(t, dir, log); last != 9 || err != nil {
		t.Errorf("reads up to block %d: %v", last, err)
	}
}

// While the archive cannot be written, decisions go on; afterwards it reads
// what it has missed from the log.
func TestWriterFails(t *testing.T) {
	log := makeLog(12)
	dir := filepath.Join(t.TempDir(), "archive")
	w := startWriter(t, dir, log)
	obstacle := filepath.Join(dir, segmentName(4)) // where the second segment is to be made
	if err := os.Mkdir(obstacle, 0o750); err != nil {
		t.Fatal(err)
	}
	for seq := uint64(1); seq <= 9; seq++ {
		if err := w.Append(seq, log.blocks[seq-1]); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it says so", func() bool { s := w.Status(); return s.Err != nil && s.Lag >= 6 })
	if seq, _, err := w.Last(); seq != 9 || err != nil {
		t.Errorf("Last does not wait for it: %d, %v", seq, err)
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it has caught up", func() bool { s := w.Status(); return s.Err == nil && s.Lag == 0 })
	for seq := uint64(10); seq <= 12; seq++ {
		if err := w.Append(seq, log.blocks[seq-1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, archived(t, log)), contents(t, dir)); diff != "" {
		t.Errorf("it has other files (-want +got):\n%s", diff)
	}
}

// A file that rots while the archive is written is found by reading it again,
// set aside, and written again from the log.
func TestScrub(t *testing.T) {
	log := makeLog(9)
	flip := func(text []byte) []byte { text[len(text)/2] ^= 1; return text }
	cut := func(text []byte) []byte { return text[:len(text)/2] }
	first := func(text []byte) []byte { text[20] ^= 1; return text }
	for _, c := range []struct {
		name, file string
		change     func([]byte) []byte // nil deletes it
		kept       string              // the file that was damaged, "" where none is kept
	}{
		{"the first segment flipped", segmentName(1), flip, "00000000000000000001.bad"},
		{"the first line of the first segment", segmentName(1), first, "00000000000000000001.bad"},
		{"the first segment deleted", segmentName(1), nil, ""},
		{"a segment flipped", segmentName(4), flip, "00000000000000000004.bad"},
		{"a segment cut", segmentName(4), cut, "00000000000000000004.bad"},
		{"a segment emptied", segmentName(4), func([]byte) []byte { return nil }, "00000000000000000004.bad"},
		{"a segment deleted", segmentName(4), nil, ""},
		{"the segment that is written flipped", segmentName(7), flip, "00000000000000000007.bad"},
		{"the segment that is written cut", segmentName(7), cut, "00000000000000000007.bad"},
		{"the segment that is written deleted", segmentName(7), nil, ""},
		{"HEAD flipped", headName, flip, ""},
		{"HEAD deleted", headName, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := archived(t, log)
			want := contents(t, dir)
			w := startWriter(t, dir, log)
			scrubbed(t, w, 0)
			path := filepath.Join(dir, c.file)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if c.change != nil {
				if err := os.WriteFile(path, c.change([]byte(want[c.file])), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			scrubbed(t, w, 1)
			if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
				t.Errorf("it has other files (-want +got):\n%s", diff)
			}
			if _, err := os.Stat(filepath.Join(dir, c.kept)); err != nil {
				t.Errorf("the damaged file was not kept: %v", err)
			}
			longer := makeLog(12)
			for seq := uint64(10); seq <= 12; seq++ {
				if err := w.Append(seq, longer.blocks[seq-1]); err != nil {
					t.Fatal(err)
				}
			}
			scrubbed(t, w, 0)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if last, err := read(t, dir, longer); last != 12 || err != nil {
				t.Errorf("reads up to block %d: %v", last, err)
			}
		})
	}
}

func scrubbed(t *testing.T, w *Writer, want int) {
	t.Helper()
	size := 0
	if mended, err := w.Scrub(t.Context(), func(n int) error { size += n; return nil }); mended != want || err != nil || size == 0 {
		t.Errorf("%d files were mended, want %d; %d bytes were read: %v", mended, want, size, err)
	}
}

// A segment of another log, whole in itself, does not have the hash that the
// next one names.
func TestScrubForeign(t *testing.T) {
	log := makeLog(9)
	other := &memoryLog{blocks: [][]byte{writtenBy(t, "x", log.blocks[0])}}
	prev := events.BlockHash(other.blocks[0])
	for _, data := range log.blocks[1:] {
		other.blocks = append(other.blocks, chainedTo(t, prev, data))
		prev = events.BlockHash(other.blocks[len(other.blocks)-1])
	}
	dir, foreign := archived(t, log), archived(t, other)
	want := contents(t, dir)
	w := startWriter(t, dir, log)
	for _, name := range []string{segmentName(1), segmentName(4)} {
		text := contents(t, foreign)[name]
		if len(text) != len(want[name]) {
			t.Fatalf("%s: the sizes differ, so anybody would notice", name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scrubbed(t, w, 2)
	if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
		t.Errorf("it has other files (-want +got):\n%s", diff)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A scrub ends with who asked for it, and with the writer.
func TestScrubEnds(t *testing.T) {
	log := makeLog(9)
	w := startWriter(t, archived(t, log), log)
	full := errors.New("enough")
	if _, err := w.Scrub(t.Context(), func(int) error { return full }); !errors.Is(err, full) {
		t.Errorf("the reader's error: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Scrub(t.Context(), func(int) error { return nil }); !errors.Is(err, errClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A log that lacks what the archive had is damaged too, and must not be extended.
func TestWriterFault(t *testing.T) {
	log := makeLog(9)
	dir := archived(t, log)
	if err := os.Remove(filepath.Join(dir, segmentName(4))); err != nil {
		t.Fatal(err)
	}
	short := &memoryLog{blocks: log.blocks[:5]}
	w := startWriter(t, dir, short)
	if _, err := w.Scrub(t.Context(), func(int) error { return nil }); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("a scrub says %v", err)
	}
	eventually(t, "it is said", func() bool { return errors.Is(w.Append(10, makeLog(10).blocks[9]), loop.ErrIntegrity) })
	if _, _, err := w.Last(); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("the next term hears nothing of it: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Many appends beside many questions.
func TestWriterConcurrency(t *testing.T) {
	log := makeLog(60)
	w := startWriter(t, filepath.Join(t.TempDir(), "archive"), log)
	var asking sync.WaitGroup
	stop := make(chan struct{})
	asking.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				w.Status()
				w.Last()
			}
		}
	})
	for seq := uint64(1); seq <= 60; seq++ {
		if err := w.Append(seq, log.blocks[seq-1]); err != nil {
			t.Fatal(err)
		}
	}
	if seq, _, err := w.Last(); seq != 60 || err != nil {
		t.Errorf("%d, %v", seq, err)
	}
	close(stop)
	asking.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
