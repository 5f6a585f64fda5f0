package archive

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Reader reads an archive as a log, up to the end that it had when it was
// opened, and checks all that it reads. It may do so beside the process that
// writes it. What cannot be read is a *Damage.
type Reader struct {
	layout *layout
}

var _ loop.Log = (*Reader)(nil)

// OpenReader opens an archive for reading.
func OpenReader(dir string) (*Reader, error) {
	l, err := inspect(dir)
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	switch {
	case l.headErr != nil:
		return nil, &Damage{File: filepath.Join(dir, headName), What: l.headErr.Error(), Do: doHead}
	case l.end.seq == 0 && len(l.faults) == 0:
		return nil, fmt.Errorf("archive: %s has no blocks: it is no archive, or nothing was written to it yet", dir)
	}
	return &Reader{layout: l}, nil
}

// IsArchive says whether a directory looks like an archive.
func IsArchive(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, headName)); err == nil {
		return true
	}
	entries, _ := os.ReadDir(dir) // what is no directory has none
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		_, ok := segmentFirst(entry.Name())
		return ok
	})
}

// HasHead says whether the archive says where it ends. Without that, blocks
// that are missing at the end are not noticed.
func (r *Reader) HasHead() bool { return r.layout.head != nil }

// Info implements [loop.Log].
func (r *Reader) Info(context.Context) (loop.LogInfo, error) {
	l := r.layout
	info := loop.LogInfo{FirstSeq: 1, LastSeq: l.end.seq, Generation: l.generation}
	if len(l.faults) > 0 && l.end.seq == 0 {
		return info, l.faults[0]
	}
	return info, nil
}

// LastHash is the hash of the last block.
func (r *Reader) LastHash() [sha256.Size]byte { return r.layout.end.hash }

// Append implements [loop.Log]: a reader writes nothing.
func (r *Reader) Append(context.Context, uint64, []byte) error {
	return errors.New("archive: it was opened for reading")
}

// errEnd ends a reading that has all it wants.
var errEnd = errors.New("end")

// Get implements [loop.Log].
func (r *Reader) Get(ctx context.Context, seq uint64) (block []byte, err error) {
	if seq == 0 || seq > r.layout.end.seq {
		return nil, fmt.Errorf("archive: block %d: %w", seq, loop.ErrAbsent)
	}
	err = r.Read(ctx, seq, func(_ uint64, data []byte) error {
		block = data
		return errEnd
	})
	if errors.Is(err, errEnd) {
		err = nil
	}
	return block, err
}

// Read implements [loop.Log]. Of a damaged segment it gives what comes before
// the damage.
func (r *Reader) Read(ctx context.Context, from uint64, f func(seq uint64, block []byte) error) error {
	l := r.layout
	next := max(from, 1)
	for i := range l.all {
		s := &l.all[i]
		fault := l.faultOf(s.name)
		switch {
		case i+1 < len(l.all) && l.all[i+1].first <= next, s.first > l.end.seq && fault == nil:
			continue
		case s.first > next:
			return l.missing(next)
		case fault != nil && fault.Offset == 0:
			return fault
		}
		until := l.end.seq
		if fault != nil {
			until = math.MaxUint64
		}
		last, err := r.readSegment(ctx, s, next, until, f)
		if err != nil {
			return err
		}
		if next = max(next, last+1); fault != nil {
			return fault
		}
	}
	if next <= l.end.seq {
		return l.missing(next)
	}
	return nil
}

func (l *layout) missing(seq uint64) error {
	return &Damage{File: l.dir, Block: seq, What: "the file that has it is missing", Do: doRewrite}
}

// readSegment calls f for the blocks of a segment from one on, and returns the
// last block that it has, or until.
func (r *Reader) readSegment(ctx context.Context, s *segment, from, until uint64, f func(seq uint64, block []byte) error) (uint64, error) {
	path := filepath.Join(r.layout.dir, s.name)
	file, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("archive: %w", err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	scan, err := newScanner(file, s.first)
	for err == nil && scan.seq < until {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var block *frame
		if block, err = scan.next(); err != nil || block.seq < from {
			continue
		}
		if err := f(block.seq, block.block); err != nil {
			return 0, err
		}
	}
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return scan.seq, nil
	case isDisk(err):
		return 0, fmt.Errorf("archive: %w", err)
	}
	return 0, &Damage{File: path, Offset: scan.offset, Block: scan.seq + 1, What: err.Error(), Do: doRewrite}
}
