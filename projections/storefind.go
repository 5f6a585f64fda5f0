package projections

import (
	"bytes"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// finder is an iterator that looks up single keys. The database's own Get does
// not ask the filters of the lowest level, which has most rows, and most
// look-ups are for ids that are not there. The iterator sees what was committed
// before it was made, so it is dropped at each commit.
type finder struct {
	mu sync.Mutex
	it *pebble.Iterator
}

// find is get through the finder.
func (s *Store) find(key []byte) ([]byte, error) {
	s.finder.mu.Lock()
	defer s.finder.mu.Unlock()
	if s.finder.it == nil {
		it, err := s.db.NewIter(&pebble.IterOptions{UseL6Filters: true})
		if err != nil {
			return nil, s.failure("read", err)
		}
		s.finder.it = it
	}
	it := s.finder.it
	if !it.SeekPrefixGE(key) || !bytes.Equal(it.Key(), key) {
		if err := it.Error(); err != nil {
			return nil, s.failure("read", err)
		}
		return nil, s.Err() // a store that failed may not find what is there
	}
	value, err := it.ValueAndErr()
	if err != nil {
		return nil, s.failure("read", err)
	}
	return append(make([]byte, 0, len(value)), value...), s.Err()
}

// forget drops the finder's iterator. What it met was reported when it met it.
func (s *Store) forget() error {
	s.finder.mu.Lock()
	defer s.finder.mu.Unlock()
	it := s.finder.it
	if it == nil {
		return nil
	}
	s.finder.it = nil
	if err := it.Close(); err != nil {
		return s.failure("read", err)
	}
	return nil
}
