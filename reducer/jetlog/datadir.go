package jetlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked says that another process uses the data directory.
var ErrLocked = errors.New("data directory in use")

// Dir is a data directory, held by this process until Close:
//
//	lock        locked by the process that uses the directory, naming it
//	jetstream/  the embedded server's streams: the decision log is in here
//	store/      rows, derived from the log; may be deleted when nothing runs
//	store.bad-N a damaged store, set aside; may be deleted
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
	name := filepath.Join(path, "lock")
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("data directory: cannot write in %s: %w", path, err)
	}
	held, err := tryLock(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("data directory: lock %s: %w", name, err), file.Close())
	}
	if !held {
		owner, _ := os.ReadFile(name)
		return nil, errors.Join(fmt.Errorf("%w: %s is used by %s; stop it or name another directory",
			ErrLocked, path, ownerName(owner)), file.Close())
	}
	if err := writeOwner(file); err != nil {
		return nil, errors.Join(fmt.Errorf("data directory: cannot write in %s: %w", path, err), file.Close())
	}
	return &Dir{path: path, lock: file}, nil
}

func writeOwner(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintf(file, "process %d\n", os.Getpid())
	return err
}

func ownerName(content []byte) string {
	if name := strings.TrimSpace(string(content)); name != "" {
		return name
	}
	return "another process"
}

// Path is the directory itself.
func (d *Dir) Path() string { return d.path }

// JetStream is the directory of the embedded server.
func (d *Dir) JetStream() string { return filepath.Join(d.path, "jetstream") }

// Store is the directory of the rows.
func (d *Dir) Store() string { return filepath.Join(d.path, "store") }

// Close gives the directory back. The lock file stays: removing it could
// remove the lock of the next process.
func (d *Dir) Close() error { return d.lock.Close() }
