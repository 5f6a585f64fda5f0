package state

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// entry is one cached row.
type entry struct {
	key   string
	row   row // nil: there is no such row
	meta  Meta
	sum   sum256 // what the row as last taken adds to the state hash
	dirty bool   // changed since the last Take
	taken int    // takes of this entry that are not committed yet
}

// cache keeps rows in two generations: a row that is used moves to the young
// one; when that is full the old one is dropped, and with it what was not used
// for a while. Rows that are not in the store yet are never dropped.
type cache struct {
	limit      int
	young, old map[string]*entry
}

func newCache(limit int) cache {
	return cache{limit: limit, young: map[string]*entry{}, old: map[string]*entry{}}
}

func (c *cache) find(key []byte) *entry {
	if e := c.young[string(key)]; e != nil {
		return e
	}
	e := c.old[string(key)]
	if e != nil {
		delete(c.old, e.key)
		c.insert(e)
	}
	return e
}

func (c *cache) insert(e *entry) {
	c.young[e.key] = e
}

// trim drops what was not used lately. It is called between blocks, so that a
// pointer taken while a command is decided stays the one that is cached.
func (c *cache) trim(pinned []*entry) {
	if len(c.young) < c.limit {
		return
	}
	c.old, c.young = c.young, make(map[string]*entry, c.limit)
	for _, e := range pinned {
		delete(c.old, e.key)
		c.young[e.key] = e
	}
}

// load returns the entry of key, read from the store when it is not cached.
// make is called when there is a row to decode.
func load[T any, P interface {
	*T
	row
}](s *State, key []byte,
) *entry {
	if e := s.cache.find(key); e != nil {
		return e
	}
	e := &entry{key: string(key)}
	s.cache.insert(e)
	value, err := s.rows.Get(key)
	if err != nil {
		s.fail(fmt.Errorf("read row %q: %w", key, err))
		return e
	}
	if value == nil {
		return e
	}
	r := P(new(T))
	if err := decodeRow(value, &e.meta, r); err != nil {
		s.fail(fmt.Errorf("row %q: %w", key, err))
		return e
	}
	e.row = r
	e.sum = s.sumOfEntry(e)
	return e
}

// get returns the row of a key for reading, or nil.
func get[T any, P interface {
	*T
	row
}](s *State, kind byte, parts ...string,
) P {
	s.scratch = appendKey(s.scratch[:0], kind, parts...)
	e := load[T, P](s, s.scratch)
	if e.row == nil {
		return nil
	}
	return e.row.(P)
}

// edit returns the row of a key for writing, made if there is none.
func edit[T any, P interface {
	*T
	row
}](s *State, kind byte, parts ...string,
) P {
	s.scratch = appendKey(s.scratch[:0], kind, parts...)
	e := load[T, P](s, s.scratch)
	if e.row == nil {
		e.row = P(new(T))
	}
	s.touch(e)
	return e.row.(P)
}

// create returns a row for writing without reading it first: there is none, as
// the rules made sure, or nothing of it is to be kept. A row of a named
// projection must be new, as the hash of an unread one is not known.
func create[T any, P interface {
	*T
	row
}](s *State, kind byte, parts ...string,
) P {
	r := P(new(T))
	s.overwrite(r, kind, parts...)
	return r
}

// remove deletes the row of a key without reading it.
func (s *State) remove(kind byte, parts ...string) { s.overwrite(nil, kind, parts...) }

func (s *State) overwrite(r row, kind byte, parts ...string) {
	s.scratch = appendKey(s.scratch[:0], kind, parts...)
	e := s.cache.find(s.scratch)
	if e == nil {
		e = &entry{key: string(s.scratch)}
		s.cache.insert(e)
	}
	e.row = r
	s.touch(e)
}

func (s *State) touch(e *entry) {
	e.meta.CommandSeq, e.meta.At = s.now.CommandSeq, s.now.At
	if !e.dirty {
		e.dirty = true
		s.dirty = append(s.dirty, e)
	}
}

// mark is a row that says yes by being there.
type mark struct{}

func (*mark) fields(*coder) {}

// textRow is an immutable canonical JSON text.
type textRow struct {
	Text string
}

func (r *textRow) fields(c *coder) { c.string(&r.Text) }

// decodeText decodes the text of an immutable row into a record.
func (s *State) decodeText(r *textRow, into schema.Record) bool {
	if err := schema.DecodeRecord([]byte(r.Text), into); err != nil {
		s.fail(fmt.Errorf("immutable row: %w", err))
		return false
	}
	return true
}
