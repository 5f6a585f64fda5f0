package auth

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// File is one to write.
type File struct {
	Name string // within the directory
	Data []byte
}

// WriteDirectory makes a directory with files that their owner alone may read:
// all of them or, where it fails, none. It puts them into a directory beside it
// first, and gives that its name when they are on disk. A directory that has
// anything in it is left as it is.
func WriteDirectory(dir string, files []File) (err error) {
	dir = filepath.Clean(dir)
	if err := vacant(dir); err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err // it names the directory
	}
	making, err := os.MkdirTemp(parent, ".init-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(making))
		}
	}()
	for _, f := range files {
		if err := writeNew(filepath.Join(making, f.Name), f.Data); err != nil {
			return err
		}
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // it takes an empty one only
		return occupied(dir)
	}
	return os.Rename(making, dir)
}

// vacant: there is nothing of the name, or an empty directory.
func vacant(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return occupied(dir)
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return occupied(dir)
	}
	return err
}

func occupied(dir string) error {
	return fmt.Errorf("%s is there already, and nothing is overwritten; name a new directory", dir)
}

// writeNew writes a file that only its owner may read, and that was not there.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err // it names the file
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
