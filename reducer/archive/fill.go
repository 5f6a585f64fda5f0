package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// errFilled ends the reading of the log behind a hole.
var errFilled = errors.New("filled")

// Fill writes the first hole again. read calls its function for each block of
// the log from a sequence on. A log that has other blocks than the archive had,
// or not all of them, is an integrity error.
func (a *Archive) Fill(read func(from uint64, f func(seq uint64, block []byte) error) error) error {
	hole := a.holes[0]
	w := filler{archive: a, hole: &hole}
	if hole.follows != nil {
		w.follows, w.followsBytes = hole.follows.name, hole.follows.size
	}
	err := read(hole.First, w.add)
	switch {
	case errors.Is(err, errFilled):
		err = w.finish()
	case err == nil:
		err = fmt.Errorf("%w: the archive had block %d, and the log ends at block %d", loop.ErrIntegrity, hole.Last, w.last)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("archive: fill blocks %d to %d: %w", hole.First, hole.Last, err), w.discard())
	}
	if len(a.holes) == 1 && a.file == nil && hole.Last == a.last.seq {
		a.name, a.size = w.follows, w.followsBytes
	}
	a.holes = a.holes[1:]
	a.o.Log.Info("the archive was mended from the log", "archive", a.o.Dir, "firstBlock", hole.First, "lastBlock", hole.Last)
	return nil
}

// filler writes the segments of a hole under other names, and renames them when
// the last block is the one that was there before.
type filler struct {
	archive *Archive
	hole    *Hole
	names   []string // of the segments made

	follows      string
	followsBytes int64

	file *os.File
	size int64
	last uint64 // block written last; 0: none
	hash [sha256.Size]byte
}

func (w *filler) add(seq uint64, block []byte) error {
	h, err := events.ParseHeader(block)
	switch {
	case err != nil:
		return fmt.Errorf("%w: block %d of the log: %w", loop.ErrIntegrity, seq, err)
	case w.last == 0 && seq != w.hole.First, w.last > 0 && seq != w.last+1:
		return fmt.Errorf("%w: block %d of the log is missing", loop.ErrIntegrity, max(w.last+1, w.hole.First))
	case w.last == 0:
		if _, err := hex.Decode(w.hash[:], []byte(h.PrevBlockHash)); err != nil {
			return err
		}
	}
	if _, err := chained(seq, block, w.hash); err != nil {
		return fmt.Errorf("%w: %w", loop.ErrIntegrity, err)
	}
	if err := w.write(seq, block); err != nil {
		return err
	}
	w.last, w.hash = seq, events.BlockHash(block)
	if seq < w.hole.Last {
		return nil
	}
	if w.hash != w.hole.hash {
		return fmt.Errorf("%w: block %d of the log is another one than the archive had", loop.ErrIntegrity, seq)
	}
	return errFilled
}

func (w *filler) write(seq uint64, block []byte) error {
	if w.file != nil && w.size >= w.archive.o.SegmentBytes {
		if err := w.closeSegment(); err != nil {
			return err
		}
	}
	if w.file == nil {
		name := segmentName(seq)
		file, err := os.OpenFile(w.path(name)+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
		if err != nil {
			return err
		}
		w.file, w.names = file, append(w.names, name)
		header := encodeHeader(seq, w.hash, w.follows, w.followsBytes)
		if _, err := file.Write(header); err != nil {
			return err
		}
		w.size = int64(len(header))
	}
	n, err := w.file.Write(appendFrame(make([]byte, 0, len(block)+256), seq, block))
	w.size += int64(n)
	return err
}

func (w *filler) path(name string) string { return filepath.Join(w.archive.o.Dir, name) }

func (w *filler) closeSegment() error {
	err := errors.Join(syncFile(w.file), w.file.Close())
	w.file = nil
	w.follows, w.followsBytes = w.names[len(w.names)-1], w.size
	return err
}

// finish gives the segments their names. If it is cut short, the hole is the
// smaller when the archive is opened again.
func (w *filler) finish() error {
	if err := w.closeSegment(); err != nil {
		return err
	}
	for _, name := range w.names {
		if err := os.Rename(w.path(name)+".new", w.path(name)); err != nil {
			return err
		}
	}
	return syncDir(w.archive.o.Dir)
}

// discard removes what was written for nothing.
func (w *filler) discard() error {
	var err error
	if w.file != nil {
		err = w.file.Close()
	}
	for _, name := range w.names {
		if gone := os.Remove(w.path(name) + ".new"); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
