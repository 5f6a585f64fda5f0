package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// segment is a file of blocks.
type segment struct {
	name   string
	first  uint64 // as the name says
	size   int64
	header segmentHeader
	err    error // why the header cannot be read
}

func (s *segment) prev() (hash [sha256.Size]byte) {
	_, _ = hex.Decode(hash[:], []byte(s.header.prev)) // it was decoded strictly
	return hash
}

// Hole is a run of blocks that an archive should have and does not. The hash of
// the last one is known, and pins all of them.
type Hole struct {
	First, Last uint64
	hash        [sha256.Size]byte
	follows     *segment // the segment before; nil: there is none
}

// layout is what an archive has.
type layout struct {
	dir      string
	all      []segment // in order
	segments []segment // those that can be used
	holes    []Hole
	faults   []*Damage // of the files that cannot be used
	head     *head     // nil: there is none that can be read
	headErr  error     // why not

	// The end: what the segments hold, or what HEAD names where that is more.
	end        head
	generation string // of the last block that can be read
	tail       int64  // bytes of the last segment that are whole
	torn       bool   // it has more bytes than that
}

// inspect looks at an archive without changing it. It reads the header of each
// segment, and the last segment whole; others where their sizes do not fit.
func inspect(dir string) (*layout, error) {
	l := &layout{dir: dir}
	all, err := listSegments(dir)
	if err != nil {
		return nil, err
	}
	l.all = all
	if l.head, l.headErr = readHead(dir); l.headErr != nil && !errors.Is(l.headErr, errHead) {
		return nil, l.headErr
	}
	for i := range all {
		if err := l.take(&all[i], following(all[i+1:])); err != nil {
			return nil, err
		}
	}
	if h := l.head; h != nil && h.seq > l.end.seq {
		l.hole(h.seq, h.hash)
		l.end = *h
	}
	return l, nil
}

// listSegments lists the segments in order, with their headers.
func listSegments(dir string) ([]segment, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []segment
	for _, entry := range entries {
		first, ok := segmentFirst(entry.Name())
		if !ok {
			continue
		}
		s := segment{name: entry.Name(), first: first}
		if err := s.readHeader(dir); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b segment) int { return int(int64(a.first - b.first)) })
	return all, nil
}

// readHeader fills in size and header. The error is one of the disk.
func (s *segment) readHeader(dir string) error {
	file, err := os.Open(filepath.Join(dir, s.name))
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	s.size = info.Size()
	scan, err := newScanner(file, s.first)
	if isDisk(err) {
		return err
	}
	s.header, s.err = scan.header, err
	if errors.Is(err, io.EOF) {
		s.err = errors.New("it is empty")
	}
	return nil
}

// isDisk tells an error of the disk from content that is wrong.
func isDisk(err error) bool {
	var path *fs.PathError
	return errors.As(err, &path)
}

// following is the next segment whose header can be read, or nil.
func following(rest []segment) *segment {
	for i := range rest {
		if rest[i].err == nil {
			return &rest[i]
		}
	}
	return nil
}

// take puts a segment into the layout. next is the one after it, nil for the
// last one.
func (l *layout) take(s, next *segment) error {
	switch {
	case s.err != nil && next == nil && l.unnamed(s.first):
		return nil // begun when the process ended: there is nothing in it
	case s.err != nil:
		l.fault(s, 0, s.first, s.err.Error())
		return nil
	case s.first <= l.end.seq:
		l.fault(s, 0, s.first, fmt.Sprintf("blocks up to %d are in the file before it", l.end.seq))
		return nil
	case s.first == l.end.seq+1 && (s.prev() != l.end.hash || !l.followedBy(s)):
		l.fault(s, 0, s.first, "its first line does not name the file before it")
		return nil
	}
	before := l.end
	if s.first > before.seq+1 {
		l.hole(s.first-1, s.prev())
	}
	if next != nil && next.header.follows == s.name && next.header.followsBytes == s.size {
		l.segments = append(l.segments, *s)
		l.end, l.tail, l.torn = head{next.first - 1, next.prev()}, s.size, false
		return nil
	}
	found, err := l.scan(s)
	if isDisk(err) {
		return err
	}
	if err == nil && found.seq < s.first && (next != nil || !l.unnamed(s.first)) {
		err = errors.New("its blocks are missing")
	}
	if err != nil && (next != nil || !l.unnamed(found.seq+1)) {
		l.fault(s, found.offset, found.seq+1, err.Error())
		if s.first > before.seq+1 {
			l.holes = l.holes[:len(l.holes)-1] // it goes on
		}
		return nil
	}
	l.segments = append(l.segments, *s)
	l.end, l.tail, l.torn = head{found.seq, found.hash}, found.offset, err != nil
	if found.generation != "" {
		l.generation = found.generation
	}
	return nil
}

// followedBy says whether a segment's header is about the segment before it. Its
// size may be 0, see encodeHeader.
func (l *layout) followedBy(s *segment) bool {
	n := len(l.segments)
	if n == 0 {
		return s.header.follows == "" && s.header.followsBytes == 0
	}
	before := &l.segments[n-1]
	return s.header.follows == before.name && (s.header.followsBytes == 0 || s.header.followsBytes == before.size)
}

// unnamed says whether HEAD lets a block be missing.
func (l *layout) unnamed(seq uint64) bool { return l.head != nil && l.head.seq < seq }

// scan reads a segment to its end, or to what is wrong in it.
func (l *layout) scan(s *segment) (*scanner, error) {
	file, err := os.Open(filepath.Join(l.dir, s.name))
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	scan, err := newScanner(file, s.first)
	for err == nil {
		if scan.seq == l.named() && scan.hash != l.head.hash {
			return scan, fmt.Errorf("block %d is another one than HEAD names", scan.seq)
		}
		_, err = scan.next()
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return scan, err
}

// named is the block that HEAD names; no block has the number that stands for none.
func (l *layout) named() uint64 {
	if l.head == nil || l.head.seq == 0 {
		return ^uint64(0)
	}
	return l.head.seq
}

func (l *layout) fault(s *segment, offset int64, block uint64, what string) {
	l.faults = append(l.faults, &Damage{File: filepath.Join(l.dir, s.name), Offset: offset, Block: block, What: what, Do: doRewrite})
}

// faultOf is what is wrong with a segment, or nil.
func (l *layout) faultOf(name string) *Damage {
	for _, fault := range l.faults {
		if filepath.Base(fault.File) == name {
			return fault
		}
	}
	return nil
}

// hole says that blocks after the end, up to one with a hash, are missing.
func (l *layout) hole(last uint64, hash [sha256.Size]byte) {
	h := Hole{First: l.end.seq + 1, Last: last, hash: hash}
	if n := len(l.segments); n > 0 {
		before := l.segments[n-1]
		h.follows = &before
	}
	l.holes = append(l.holes, h)
}
