package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/internal/filelock"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// DefaultSegmentBytes is the size at which a new segment is begun.
const DefaultSegmentBytes = 64 << 20

// Options say where an archive is.
type Options struct {
	Dir          string
	SegmentBytes int64        // DefaultSegmentBytes when 0
	Log          *slog.Logger // optional; hears of damage
}

// Archive is an archive that this process writes. It is used by one goroutine.
type Archive struct {
	o     Options
	lock  *os.File
	last  head // the end; blocks up to it are there or are in holes
	holes []Hole
	disk  head // what HEAD names

	file  *os.File // of the segment that is written; nil: the next block begins one
	name  string   // of that segment, or of the last one
	size  int64    // bytes of it that are whole; 0 where that is not known
	torn  bool     // it may have more bytes than that
	named bool     // the directory was synced since the file was made
}

// Open takes the lock of an archive, made when missing, cuts off what a crash
// left, and sets aside what is damaged. What is missing then is in Holes.
func Open(o Options) (*Archive, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = DefaultSegmentBytes
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	lock, err := filelock.Take(filepath.Join(o.Dir, "lock"))
	if errors.Is(err, filelock.ErrHeld) {
		return nil, fmt.Errorf("archive: %s is %w; each reducer needs an archive of its own", o.Dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("archive: %w", err)
	}
	a := &Archive{o: o, lock: lock}
	if err := a.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("archive: %w", err), lock.Close())
	}
	return a, nil
}

func (a *Archive) open() error {
	if err := removeUnfinished(a.o.Dir); err != nil {
		return err
	}
	l, err := inspect(a.o.Dir)
	if err != nil {
		return err
	}
	if l.headErr != nil {
		a.sayHead()
	}
	for _, fault := range l.faults {
		if err := a.setAside(fault); err != nil {
			return err
		}
	}
	a.last, a.holes = l.end, l.holes
	if l.head != nil {
		a.disk = *l.head
	}
	if n := len(l.segments); n > 0 {
		a.name, a.size = l.segments[n-1].name, l.segments[n-1].size
		if len(l.holes) == 0 || l.holes[len(l.holes)-1].Last < l.segments[n-1].first {
			return a.resume(l)
		}
	}
	if n := len(a.holes); n > 0 && a.holes[n-1].Last == a.last.seq { // the file before the next block is to be made
		a.name, a.size = segmentName(a.holes[n-1].First), 0
	}
	return nil
}

// resume opens the last segment for writing and cuts off what is torn.
func (a *Archive) resume(l *layout) error {
	file, err := os.OpenFile(filepath.Join(a.o.Dir, a.name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	a.file, a.size, a.named = file, l.tail, true
	if l.torn {
		return file.Truncate(a.size)
	}
	return nil
}

// removeUnfinished removes files that were being written when a process ended.
func removeUnfinished(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.new"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// setAside renames a damaged file. An earlier one of that name is replaced.
func (a *Archive) setAside(d *Damage) error {
	kept := strings.TrimSuffix(d.File, segmentSuffix) + ".bad"
	if err := os.Rename(d.File, kept); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	a.o.Log.Error("a file of the archive is damaged: it was set aside and is written again from the log",
		"file", d.File, "kept", kept, "block", d.Block, "offset", d.Offset, "reason", d.What)
	return nil
}

func (a *Archive) sayHead() {
	a.o.Log.Error("HEAD of the archive was damaged and is written anew", "archive", a.o.Dir)
}

// Last is the block that the archive ends with, 0 when it is empty, and its hash.
func (a *Archive) Last() (uint64, [sha256.Size]byte) { return a.last.seq, a.last.hash }

// Synced is the last block that is known to be on disk.
func (a *Archive) Synced() uint64 { return a.disk.seq }

// Holes are the blocks that are missing, see [Archive.Fill].
func (a *Archive) Holes() []Hole { return a.holes }

// Append writes the block after the last one. It is on disk after the next
// Sync. After an error the same block may be tried again.
func (a *Archive) Append(seq uint64, block []byte) error {
	if seq != a.last.seq+1 {
		return fmt.Errorf("archive: block %d does not follow block %d", seq, a.last.seq)
	}
	if _, err := chained(seq, block, a.last.hash); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	if err := a.append(seq, block); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	a.last = head{seq, events.BlockHash(block)}
	return nil
}

func (a *Archive) append(seq uint64, block []byte) error {
	if a.file != nil && a.size >= a.o.SegmentBytes {
		if err := a.closeSegment(); err != nil {
			return err
		}
	}
	if a.file == nil {
		if err := a.begin(seq); err != nil {
			return err
		}
	}
	if a.torn {
		if err := a.file.Truncate(a.size); err != nil {
			return err
		}
		a.torn = false
	}
	framed := appendFrame(make([]byte, 0, len(block)+256), seq, block)
	if _, err := a.file.WriteAt(framed, a.size); err != nil {
		a.torn = true
		return err
	}
	a.size += int64(len(framed))
	return nil
}

// begin makes a new segment.
func (a *Archive) begin(first uint64) error {
	header := encodeHeader(first, a.last.hash, a.name, a.size)
	name := segmentName(first)
	file, err := os.OpenFile(filepath.Join(a.o.Dir, name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	if _, err := file.Write(header); err != nil {
		return errors.Join(err, file.Close())
	}
	a.file, a.name, a.size, a.torn, a.named = file, name, int64(len(header)), false, false
	return nil
}

// encodeHeader is the first line of a segment. A size of 0 says that the size
// of the one before is not known.
func encodeHeader(first uint64, prev [sha256.Size]byte, follows string, bytes int64) []byte {
	h := segmentHeader{version: formatVersion, first: int64(first), follows: follows, followsBytes: bytes, prev: hex.EncodeToString(prev[:])}
	return append(schema.AppendRecord(nil, &h), '\n')
}

func (a *Archive) closeSegment() error {
	if err := a.syncFile(); err != nil {
		return err
	}
	err := a.file.Close()
	a.file = nil
	return err
}

func (a *Archive) syncFile() error {
	if err := syncFile(a.file); err != nil {
		return err
	}
	if a.named {
		return nil
	}
	a.named = true
	return syncDir(a.o.Dir)
}

// Sync puts everything appended so far on disk and moves HEAD.
func (a *Archive) Sync() error {
	if a.file != nil {
		if err := a.syncFile(); err != nil {
			return fmt.Errorf("archive: %w", err)
		}
	}
	if a.disk == a.last {
		return nil
	}
	if err := a.last.write(a.o.Dir); err != nil {
		return fmt.Errorf("archive: %w", err)
	}
	a.disk = a.last
	return nil
}

// Close syncs the archive and gives it back.
func (a *Archive) Close() error {
	err := a.Sync()
	if a.file != nil {
		err = errors.Join(err, a.file.Close())
	}
	return errors.Join(err, a.lock.Close())
}
