package archive

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// startWriter starts a writer that hurries.
func startWriter(t *testing.T, dir string, log *memoryLog) *Writer {
	t.Helper()
	w, err := StartWriter(WriterOptions{
		Options: Options{Dir: dir, SegmentBytes: small},
		OpenLog: func(context.Context) (loop.Log, func(), error) { return log, func() {}, nil },
		// A block is larger than the queue, so that one waits at a time.
		QueueBytes: 100, SyncEvery: time.Millisecond, CheckEvery: time.Millisecond, Retry: time.Millisecond,
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

// A segment that rots while the archive is written is found and mended.
func TestWriterMends(t *testing.T) {
	log := makeLog(9)
	dir := archived(t, log)
	want := contents(t, dir)
	w := startWriter(t, dir, log)
	path := filepath.Join(dir, segmentName(4))
	rotten := []byte(want[segmentName(4)])
	rotten[len(rotten)/2] ^= 1
	if err := os.WriteFile(path, rotten, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is mended", func() bool {
		text, _ := os.ReadFile(path)
		return string(text) == want[segmentName(4)] && w.Status().Missing == 0
	})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(strings.TrimSuffix(path, segmentSuffix) + ".bad"); string(text) != string(rotten) {
		t.Errorf("the damaged file was not kept: %v", err)
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
