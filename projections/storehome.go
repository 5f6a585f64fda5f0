package projections

import (
	"errors"
	"fmt"
	"io/fs"
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
// damaged, makes it again from a checkpoint, and lets others see the one that is
// open. It is safe for concurrent use.
type Home struct {
	o StoreOptions

	copying     sync.Mutex   // held while checkpoints are used
	checkpoints *Checkpoints // nil: there are none
	restored    *Checkpoint  // that the store was made from; nil: from none, by this process

	mu   sync.Mutex
	open *Store
}

// NewHome returns the home of a store that is not open yet.
func NewHome(o StoreOptions) *Home {
	h := &Home{o: o.withDefaults()}
	if o.Checkpoints != "" {
		h.checkpoints = NewCheckpoints(o.Checkpoints, o)
	}
	return h
}

// Open opens the store, which takes the place of the one opened before. Where
// there is none it is made from the newest good checkpoint, or empty.
func (h *Home) Open() (*Store, error) {
	if err := h.restore(); err != nil {
		return nil, err
	}
	s, err := OpenStore(h.o)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = s
	return s, nil
}

func (h *Home) restore() error {
	if h.checkpoints == nil {
		return nil
	}
	if _, err := os.Stat(h.o.Dir); !errors.Is(err, fs.ErrNotExist) {
		return nil // it is there, or opening it says why not
	}
	h.copying.Lock()
	defer h.copying.Unlock()
	restored, err := h.checkpoints.Restore(h.o.Dir)
	if err != nil || restored == nil {
		return err
	}
	h.restored = restored
	h.o.Log.Warn("the store was restored from a checkpoint; the log's tail is folded now",
		"block", restored.Block, "commandSeq", restored.CommandSeq, "stateHash", restored.StateHash)
	return nil
}

// NewestCheckpoint is the newest checkpoint that there is, or nil.
func (h *Home) NewestCheckpoint() *Checkpoint {
	if h.checkpoints == nil {
		return nil
	}
	h.copying.Lock()
	defer h.copying.Unlock()
	if list := h.checkpoints.List(); len(list) > 0 {
		return list[0]
	}
	return nil
}

// Checkpoint makes a checkpoint of the store that is open.
func (h *Home) Checkpoint() (*Checkpoint, error) {
	if h.checkpoints == nil {
		return nil, errors.New("no checkpoints are kept")
	}
	h.mu.Lock()
	s := h.open
	h.mu.Unlock()
	if s == nil {
		return nil, errors.New("the store is not open yet")
	}
	h.copying.Lock()
	defer h.copying.Unlock()
	return h.checkpoints.Make(s)
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
// that name. Older ones are removed, except a few. The checkpoint that this
// store was made from is not used again.
func (h *Home) SetAside(error) (string, error) {
	h.copying.Lock()
	defer h.copying.Unlock()
	if h.restored != nil {
		if err := h.checkpoints.Remove(h.restored.Block); err != nil {
			return "", fmt.Errorf("remove the checkpoint of block %d: %w", h.restored.Block, err)
		}
		h.restored = nil
	}
	return SetAside(h.o.Dir)
}

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
