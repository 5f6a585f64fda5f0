package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// extent is what an archive has on disk at one moment. It can be checked while
// the archive is written on: what is in it does not change any more.
type extent struct {
	dir  string
	last string // segment that is written, of which bytes are in the extent
	size int64
	end  head // what HEAD names: all of it is in the extent
}

// errMending: what is missing is being written again, so there is nothing to
// check yet.
var errMending = errors.New("blocks of it are being written again")

// extent puts what was appended on disk and says what that is.
func (a *Archive) extent() (*extent, error) {
	if len(a.holes) > 0 {
		return nil, errMending
	}
	if err := a.Sync(); err != nil {
		return nil, err
	}
	e := &extent{dir: a.o.Dir, size: math.MaxInt64, end: a.disk}
	if a.file != nil {
		e.last, e.size = a.name, a.size
	}
	return e, nil
}

// check reads all of an extent: the checksum and the chain of each block, that
// each segment goes on where the one before it ends, and HEAD. The last block is
// the log's, and names all before it by their hashes, so the rest is the log's
// too. read is called for the bytes read, and ends it with its error. It returns
// the first damage; an error is one of the disk, or read's.
func (e *extent) check(read func(bytes int) error) (*Damage, error) {
	names, err := segmentNames(e.dir)
	if err != nil {
		return nil, err
	}
	var before segment
	var end head
	for _, name := range names {
		if e.last != "" && name > e.last || end == e.end && e.end.seq > 0 {
			break // begun since
		}
		s, found, damage, err := e.checkSegment(name, read)
		if err != nil || damage != nil {
			return damage, err
		}
		if damage := e.follows(s, &before, end); damage != nil {
			return damage, nil
		}
		before, end = *s, found
	}
	if end != e.end {
		return e.damage(cmp.Or(e.last, before.name, segmentName(1)), 0, end.seq+1, fmt.Sprintf("it ends with block %d, and block %d was written", end.seq, e.end.seq)), nil
	}
	return e.checkHead()
}

// segmentNames are the names of all segments, in order.
func segmentNames(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if _, ok := segmentFirst(entry.Name()); ok {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// checkSegment reads a segment to its end, and returns its last block.
func (e *extent) checkSegment(name string, read func(bytes int) error) (*segment, head, *Damage, error) {
	first, _ := segmentFirst(name)
	file, err := os.Open(filepath.Join(e.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, head{}, e.damage(name, 0, first, "it is missing"), nil
	}
	if err != nil {
		return nil, head{}, nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	size := int64(math.MaxInt64)
	if name == e.last {
		size = e.size
	}
	scan, err := newScanner(io.LimitReader(file, size), first)
	for err == nil {
		var f *frame
		if f, err = scan.next(); err == nil {
			if stop := read(len(f.block)); stop != nil {
				return nil, head{}, nil, stop
			}
		}
	}
	switch {
	case isDisk(err):
		return nil, head{}, nil, err
	case !errors.Is(err, io.EOF):
		return nil, head{}, e.damage(name, scan.offset, scan.seq+1, err.Error()), nil
	case scan.offset == 0:
		return nil, head{}, e.damage(name, 0, first, "it is empty"), nil
	}
	return &segment{name: name, first: first, size: scan.offset, header: scan.header}, head{scan.seq, scan.hash}, nil, nil
}

// follows checks that a segment goes on where the one before it ends.
func (e *extent) follows(s, before *segment, end head) *Damage {
	h := &s.header
	switch {
	case s.first > end.seq+1:
		return e.damage(segmentName(end.seq+1), 0, end.seq+1, "the file that has it is missing")
	case s.first <= end.seq:
		return e.damage(s.name, 0, s.first, fmt.Sprintf("blocks up to %d are in the file before it", end.seq))
	case s.prev() != end.hash && before.name != "":
		return e.damage(before.name, 0, end.seq, "it does not have the hash that the next block names")
	case s.prev() != end.hash, h.follows != before.name, h.followsBytes != before.size && h.followsBytes != 0:
		return e.damage(s.name, 0, s.first, "its first line does not name the file before it")
	}
	return nil
}

// checkHead reads HEAD, which may have moved on meanwhile.
func (e *extent) checkHead() (*Damage, error) {
	h, err := readHead(e.dir)
	if err != nil && !errors.Is(err, errHead) {
		return nil, err
	}
	if err == nil && (h == nil && e.end.seq > 0 || h != nil && (h.seq < e.end.seq || h.seq == e.end.seq && *h != e.end)) {
		err = fmt.Errorf("it does not name block %d", e.end.seq)
	}
	if err != nil {
		return &Damage{File: filepath.Join(e.dir, headName), What: err.Error(), Do: doHead}, nil
	}
	return nil, nil
}

func (e *extent) damage(name string, offset int64, block uint64, what string) *Damage {
	return &Damage{File: filepath.Join(e.dir, name), Offset: offset, Block: block, What: what, Do: doRewrite}
}

// lose lets go of a file that is damaged, while the archive is written, and
// begins anew with the others: what is missing then is in Holes. HEAD is written
// anew.
func (a *Archive) lose(d *Damage) error {
	if filepath.Base(d.File) == headName {
		a.sayHead()
		a.disk = head{}
		return a.Sync()
	}
	if err := a.Sync(); err != nil {
		return err
	}
	if err := a.setAside(d); err != nil {
		return err
	}
	if a.file != nil {
		if err := a.file.Close(); err != nil {
			return err
		}
	}
	a.file, a.torn = nil, false
	return a.open()
}
