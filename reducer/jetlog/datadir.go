package jetlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aiws-reducer/aiws-reducer/internal/filelock"
)

// ErrLocked says that another process uses the data directory.
var ErrLocked = errors.New("data directory in use")

// Dir is a data directory, held by this process until Close:
//
//	lock         locked by the process that uses the directory, naming it
//	jetstream/   the embedded server's streams: the decision log is in here
//	store/       rows, derived from the log; may be deleted when nothing runs
//	store.bad-N  a damaged store, set aside; may be deleted
//	checkpoints/ copies of the store, from which a damaged one is made again
//
// The server itself takes no lock: two of them on one directory destroy it.
type Dir struct {
	path string
	lock *os.File
}

// OpenDir takes the lock of a data directory, which is made when missing.
func OpenDir(path string) (*Dir, error) {
	if err := os.MkdirAll(path, 0o750); err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return lockDir(path)
}

// OpenExistingDir takes the lock of a data directory that was used before.
func OpenExistingDir(path string) (*Dir, error) {
	if _, err := os.Stat(filepath.Join(path, "lock")); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("%s is no data directory: no reducer has run there", path)
		}
		return nil, fmt.Errorf("data directory: %w", err)
	}
	return lockDir(path)
}

func lockDir(path string) (*Dir, error) {
	file, err := filelock.Take(filepath.Join(path, "lock"))
	switch {
	case errors.Is(err, filelock.ErrHeld):
		return nil, fmt.Errorf("%w: %s is %w; stop it or name another directory", ErrLocked, path, err)
	case err != nil:
		return nil, fmt.Errorf("data directory: cannot write in %s: %w", path, err)
	}
	return &Dir{path: path, lock: file}, nil
}

// Path is the directory itself.
func (d *Dir) Path() string { return d.path }

// JetStream is the directory of the embedded server.
func (d *Dir) JetStream() string { return filepath.Join(d.path, "jetstream") }

// Store is the directory of the rows.
func (d *Dir) Store() string { return filepath.Join(d.path, "store") }

// Checkpoints is the directory of the copies of the store.
func (d *Dir) Checkpoints() string { return filepath.Join(d.path, "checkpoints") }

// Close gives the directory back. The lock file stays: removing it could
// remove the lock of the next process.
func (d *Dir) Close() error { return d.lock.Close() }
