// Package filelock holds a directory for one process: by the exclusive lock of
// a file in it, which the operating system gives back when the process ends.
package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// ErrHeld says that another process holds the lock.
var ErrHeld = errors.New("in use")

// Take opens the file, made when missing, and takes its lock without waiting.
// The process is named in it. Closing the file gives the lock back; the file
// must stay, since removing it could remove the lock of the next process. When
// the lock is held the error is ErrHeld, with what the holder wrote.
func Take(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	held, err := tryLock(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", name, err), file.Close())
	}
	if !held {
		owner, _ := os.ReadFile(name) // nothing to read is nobody's name
		return nil, errors.Join(fmt.Errorf("%w by %s", ErrHeld, ownerName(owner)), file.Close())
	}
	if err := writeOwner(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
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
