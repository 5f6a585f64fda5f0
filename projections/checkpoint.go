package projections

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// keptCheckpoints is how many there are; older ones are removed.
const keptCheckpoints = 2

// Checkpoint is a copy of a store as of one block.
type Checkpoint struct {
	Block      uint64    `json:"block"`
	BlockHash  string    `json:"blockHash"`
	CommandSeq uint64    `json:"commandSeq"`
	Generation string    `json:"generation"`
	Made       time.Time `json:"made"`
	StateHash  string    `json:"stateHash"`

	Files []CheckpointFile `json:"files"`
}

// CheckpointFile is a file of a checkpoint.
type CheckpointFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bytes is the size of the checkpoint's files. Most of them it shares with the
// store or with another checkpoint.
func (c *Checkpoint) Bytes() (bytes int64) {
	for _, file := range c.Files {
		bytes += file.Bytes
	}
	return bytes
}

// Checkpoints are the copies of a store in a directory:
//
//	00000000000000000042       the store as of block 42
//	00000000000000000042.json  what it is, and the SHA-256 of that line below it
//
// A checkpoint shares the files that do not change with the store, where the
// disk can do that, so it costs little, and no more safety than its checksums
// give: what is restored is read whole and compared with them first.
//
// It is used by one goroutine at a time.
type Checkpoints struct {
	dir string
	o   StoreOptions
}

// NewCheckpoints are the checkpoints in a directory, made when needed, of a
// store with these options.
func NewCheckpoints(dir string, o StoreOptions) *Checkpoints {
	return &Checkpoints{dir: dir, o: o.withDefaults()}
}

// errDiffers: the rows of a store are not what its cursor says.
type errDiffers struct {
	block     uint64
	got, want [sha256.Size]byte
}

// Error implements error.
func (e *errDiffers) Error() string {
	return fmt.Sprintf("at block %d the rows have the state hash %x, the log says %x", e.block, e.got, e.want)
}

// Make makes a checkpoint of an open store and checks it: it opens, and the
// state hash computed from all its rows is the one that the log names. If not,
// the store itself is damaged, which is a *StoreError. Older checkpoints are
// removed, except a few.
func (c *Checkpoints) Make(s *Store) (*Checkpoint, error) {
	made, err := c.make(s)
	var differs *errDiffers
	if errors.As(err, &differs) {
		e := &StoreError{Op: "checkpoint", Err: differs, damaged: true}
		s.fail(e)
		return nil, e
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	return made, nil
}

func (c *Checkpoints) make(s *Store) (*Checkpoint, error) {
	if err := os.MkdirAll(c.dir, 0o750); err != nil {
		return nil, err
	}
	unfinished := filepath.Join(c.dir, "new")
	if err := os.RemoveAll(unfinished); err != nil {
		return nil, err
	}
	if err := s.Checkpoint(unfinished); err != nil {
		return nil, err
	}
	made, err := c.inspect(unfinished)
	if err == nil && made.Block == 0 {
		err = errors.New("the store is empty")
	}
	if err == nil {
		err = c.keep(unfinished, made)
	}
	return made, errors.Join(err, os.RemoveAll(unfinished))
}

// inspect opens a checkpoint that was just made and says what it is.
func (c *Checkpoints) inspect(dir string) (*Checkpoint, error) {
	cursor, err := c.check(dir, true)
	if err != nil {
		return nil, err
	}
	made := describe(cursor)
	made.Made = time.Now().UTC()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	known := c.latest()
	for _, entry := range entries {
		file, err := c.sum(dir, entry.Name(), known)
		if err != nil {
			return nil, err
		}
		made.Files = append(made.Files, file)
	}
	return made, nil
}

func describe(c state.Cursor) *Checkpoint {
	return &Checkpoint{
		Block: c.LogSeq, CommandSeq: c.CommandSeq, Generation: c.Generation,
		BlockHash: hex.EncodeToString(c.BlockHash[:]), StateHash: hex.EncodeToString(c.StateHash[:]),
	}
}

// check opens a copy of a store for reading. With count it computes the state
// hash from the rows.
func (c *Checkpoints) check(dir string, count bool) (cursor state.Cursor, err error) {
	o := c.o
	o.Dir, o.CacheBytes = dir, 4<<20
	s, err := openForReading(o)
	if err != nil {
		return cursor, err
	}
	defer func() { err = errors.Join(err, s.forget(), s.db.Close()) }()
	if cursor = s.Cursor(); !count {
		return cursor, nil
	}
	hash, err := state.HashOf(s)
	if err == nil && hash != cursor.StateHash {
		err = &errDiffers{block: cursor.LogSeq, got: hash, want: cursor.StateHash}
	}
	return cursor, err
}

// openForReading opens a store that nobody writes. Only its database is to be
// closed.
func openForReading(o StoreOptions) (*Store, error) {
	s := newStore(o, pebble.NewCache(o.CacheBytes))
	defer s.cache.Unref() // the database holds it too
	options := s.pebbleOptions()
	options.ReadOnly = true
	db, err := pebble.Open(o.Dir, options)
	if err != nil {
		return nil, openError(err)
	}
	s.db = db
	if err := s.loadCursor(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// latest is the newest checkpoint, for what does not have to be read again.
func (c *Checkpoints) latest() *Checkpoint {
	if list := c.List(); len(list) > 0 {
		return list[0]
	}
	return &Checkpoint{}
}

// sum describes a file. One that is the same file as one of an earlier
// checkpoint has the sum of that.
func (c *Checkpoints) sum(dir, name string, known *Checkpoint) (CheckpointFile, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return CheckpointFile{}, err
	}
	for _, file := range known.Files {
		if file.Name != name || file.Bytes != info.Size() {
			continue
		}
		if before, err := os.Stat(filepath.Join(c.path(known.Block), name)); err == nil && os.SameFile(before, info) {
			return file, nil
		}
	}
	sum, err := sumFile(path)
	return CheckpointFile{Name: name, Bytes: info.Size(), SHA256: sum}, err
}

func sumFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it is only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

const checkpointDigits = 20

func (c *Checkpoints) path(block uint64) string {
	return filepath.Join(c.dir, fmt.Sprintf("%0*d", checkpointDigits, block))
}

// keep gives a checkpoint its name and removes the ones that are too many.
func (c *Checkpoints) keep(dir string, made *Checkpoint) error {
	if err := c.Remove(made.Block); err != nil {
		return err
	}
	path := c.path(made.Block)
	if err := os.Rename(dir, path); err != nil {
		return err
	}
	line, err := json.Marshal(made)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	sum := sha256.Sum256(line)
	if err := writeSynced(path+".json", append(line, hex.EncodeToString(sum[:])+"\n"...)); err != nil {
		return err
	}
	for _, old := range c.names()[min(keptCheckpoints, len(c.names())):] {
		if err := c.removeNamed(old); err != nil {
			return err
		}
	}
	return nil
}

// names are the names of what may be checkpoints, the newest first.
func (c *Checkpoints) names() []string {
	entries, _ := os.ReadDir(c.dir) // no directory has no checkpoints
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() && len(name) == checkpointDigits {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	slices.Reverse(names)
	return names
}

// List gives the checkpoints whose description can be read, the newest first.
func (c *Checkpoints) List() []*Checkpoint {
	var list []*Checkpoint
	for _, name := range c.names() {
		if found, err := c.read(name); err == nil {
			list = append(list, found)
		}
	}
	return list
}

// read reads the description of a checkpoint.
func (c *Checkpoints) read(name string) (*Checkpoint, error) {
	text, err := os.ReadFile(filepath.Join(c.dir, name+".json"))
	if err != nil {
		return nil, err
	}
	line, sum, _ := strings.Cut(string(text), "\n")
	want := sha256.Sum256([]byte(line + "\n"))
	var found Checkpoint
	if sum != hex.EncodeToString(want[:])+"\n" || json.Unmarshal([]byte(line), &found) != nil || c.path(found.Block) != filepath.Join(c.dir, name) {
		return nil, errors.New("its description is not what was written")
	}
	return &found, nil
}

// Check reads all files of all checkpoints and compares them with what was
// written. pace is called for the bytes read. good is how many are in order; an
// error that wraps ErrNotTheLog says what is wrong with the others.
func (c *Checkpoints) Check(pace func(bytes int) error) (good int, err error) {
	var faults []error
	for _, name := range c.names() {
		found, err := c.read(name)
		for i := 0; err == nil && i < len(found.Files); i++ {
			file := &found.Files[i]
			var sum string
			if sum, err = sumFile(filepath.Join(c.dir, name, file.Name)); err == nil && sum != file.SHA256 {
				err = fmt.Errorf("file %s is not what was written", file.Name)
			}
			if paced := pace(int(file.Bytes)); paced != nil {
				return good, paced
			}
		}
		if err == nil {
			good++
			continue
		}
		faults = append(faults, fmt.Errorf("%w: checkpoint %s: %w; it is derived: delete it, and `reducer checkpoint` makes another one",
			ErrNotTheLog, filepath.Join(c.dir, name), err))
	}
	return good, errors.Join(faults...)
}

// Remove removes the checkpoint of a block, if there is one.
func (c *Checkpoints) Remove(block uint64) error {
	return c.removeNamed(filepath.Base(c.path(block)))
}

func (c *Checkpoints) removeNamed(name string) error {
	path := filepath.Join(c.dir, name)
	if err := os.Remove(path + ".json"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(path)
}

// Restore makes a store out of the newest good checkpoint, in a directory that
// is not there, and returns it; nil when there is none. Checkpoints that are not
// good are removed, and said so.
func (c *Checkpoints) Restore(store string) (*Checkpoint, error) {
	for _, name := range c.names() {
		found, err := c.read(name)
		if err == nil {
			err = c.restore(found, store)
		}
		if err == nil {
			return found, nil
		}
		if ours(err) {
			return nil, fmt.Errorf("restore a checkpoint: %w", err)
		}
		c.o.Log.Error("a checkpoint of the store is damaged and was removed", "checkpoint", filepath.Join(c.dir, name), "reason", err)
		if err := c.removeNamed(name); err != nil {
			return nil, fmt.Errorf("remove a damaged checkpoint: %w", err)
		}
	}
	return nil, nil
}

// ours tells a full disk and the like from a checkpoint that is damaged.
func ours(err error) bool {
	var open *StoreError
	return errors.As(openError(err), &open) && !open.damaged
}

func (c *Checkpoints) restore(from *Checkpoint, store string) (err error) {
	building := store + ".new"
	if err := os.RemoveAll(building); err != nil {
		return err
	}
	if err := os.MkdirAll(building, 0o750); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(building)) }() // after the renaming there is none
	for _, file := range from.Files {
		if err := c.restoreFile(from, file, building); err != nil {
			return err
		}
	}
	cursor, err := c.check(building, false)
	if err != nil {
		return err
	}
	if got := describe(cursor); got.Block != from.Block || got.BlockHash != from.BlockHash || got.StateHash != from.StateHash {
		return fmt.Errorf("it holds block %d, its description says %d", got.Block, from.Block)
	}
	return os.Rename(building, store)
}

// restoreFile copies a file of a checkpoint, or shares it where it never changes.
func (c *Checkpoints) restoreFile(from *Checkpoint, file CheckpointFile, into string) error {
	source, target := filepath.Join(c.path(from.Block), file.Name), filepath.Join(into, file.Name)
	sum, err := sumFile(source)
	switch {
	case err != nil:
		return err
	case sum != file.SHA256:
		return fmt.Errorf("file %s is not what was written", file.Name)
	}
	if filepath.Ext(file.Name) == ".sst" && os.Link(source, target) == nil {
		return nil
	}
	text, err := os.ReadFile(source)
	if err != nil {
		return err
	}
	if again := sha256.Sum256(text); hex.EncodeToString(again[:]) != file.SHA256 {
		return fmt.Errorf("file %s is not what was written", file.Name)
	}
	return writeSynced(target, text)
}

// writeSynced writes a file under another name, puts it on disk and names it.
func writeSynced(path string, content []byte) error {
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o640)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, bytes.NewReader(content))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
