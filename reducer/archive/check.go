package archive

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// Check reads one segment that is not being written, the next one at each call,
// and sets it aside when it is damaged: it is in Holes then. more is false when
// it was the last, and the next call begins anew.
func (a *Archive) Check() (more bool, err error) {
	names, err := closedSegments(a.o.Dir, a.name)
	if err != nil {
		return false, fmt.Errorf("archive: %w", err)
	}
	at := slices.IndexFunc(names, func(name string) bool {
		first, _ := segmentFirst(name)
		return first >= a.check
	})
	if at < 0 {
		a.check = 0
		return false, nil
	}
	first, _ := segmentFirst(names[at])
	a.check = first + 1
	damage, err := checkSegment(a.o.Dir, names[at], first)
	if err == nil && damage != nil {
		err = a.lose(damage)
	}
	if err != nil {
		return false, fmt.Errorf("archive: %w", err)
	}
	return true, nil
}

// closedSegments are the names of the segments but for the one that is written.
func closedSegments(dir, written string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if _, ok := segmentFirst(entry.Name()); ok && entry.Name() != written {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// checkSegment reads a segment to its end.
func checkSegment(dir, name string, first uint64) (*Damage, error) {
	path := filepath.Join(dir, name)
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	scan, err := newScanner(file, first)
	for err == nil {
		_, err = scan.next()
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, nil
	case isDisk(err):
		return nil, err
	}
	return &Damage{File: path, Offset: scan.offset, Block: scan.seq + 1, What: err.Error(), Do: doRewrite}, nil
}

// lose sets a damaged segment aside and looks what is missing now.
func (a *Archive) lose(d *Damage) error {
	if err := a.setAside(d); err != nil {
		return err
	}
	l, err := inspect(a.o.Dir)
	if err != nil {
		return err
	}
	a.holes = l.holes
	return nil
}
