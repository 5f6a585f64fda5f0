package projections

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// keptAside is how many damaged stores are left for whoever wants to look.
const keptAside = 2

// Home is the place of a shard's store: it opens it, sets it aside when it is
// damaged, and lets others see the one that is open. It is safe for concurrent use.
type Home struct {
	o StoreOptions

	mu   sync.Mutex
	open *Store
}

// NewHome returns the home of a store that is not open yet.
func NewHome(o StoreOptions) *Home { return &Home{o: o} }

// Open opens the store, which takes the place of the one opened before.
func (h *Home) Open() (*Store, error) {
	s, err := OpenStore(h.o)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = s
	return s, nil
}

// View returns a view of the store that is open.
func (h *Home) View() (*View, error) {
	h.mu.Lock()
	s := h.open
	h.mu.Unlock()
	if s == nil {
		return nil, errors.New("the store is not open yet")
	}
	return s.View()
}

// Free is [Store.Free] of the store that is open.
func (h *Home) Free() error {
	h.mu.Lock()
	s := h.open
	h.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.Free()
}

// SetAside renames the directory of a closed store to <dir>.bad-N and returns
// that name. Older ones are removed, except a few.
func (h *Home) SetAside(error) (string, error) { return SetAside(h.o.Dir) }

// SetAside renames the directory of a closed store to <dir>.bad-N.
func SetAside(dir string) (string, error) {
	numbers, err := asideNumbers(dir)
	if err != nil {
		return "", fmt.Errorf("set the store aside: %w", err)
	}
	next := 1
	if len(numbers) > 0 {
		next = numbers[len(numbers)-1] + 1
	}
	name := asideName(dir, next)
	if err := os.Rename(dir, name); err != nil {
		return "", fmt.Errorf("set the store aside: %w", err)
	}
	for len(numbers) >= keptAside {
		if err := os.RemoveAll(asideName(dir, numbers[0])); err != nil {
			return name, fmt.Errorf("remove an older damaged store: %w", err)
		}
		numbers = numbers[1:]
	}
	return name, nil
}

func asideName(dir string, number int) string { return fmt.Sprintf("%s.bad-%d", dir, number) }

func asideNumbers(dir string) ([]int, error) {
	entries, err := os.ReadDir(filepath.Dir(dir))
	if err != nil {
		return nil, err
	}
	var numbers []int
	for _, entry := range entries {
		if rest, ok := strings.CutPrefix(entry.Name(), filepath.Base(dir)+".bad-"); ok {
			if n, err := strconv.Atoi(rest); err == nil {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}
