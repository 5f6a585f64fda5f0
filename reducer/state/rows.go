package state

import (
	"bytes"
	"maps"
	"slices"
)

// Rows is the store beneath a State: a sorted map of bytes.
type Rows interface {
	// Get returns the value of key, or nil when there is none. The caller
	// keeps the value; it must not change afterwards.
	Get(key []byte) ([]byte, error)
	// Scan calls f for each key in [lower, upper), ascending, or descending
	// when reverse is set, until f returns false. Key and value are valid
	// during the call only.
	Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error
}

// Change is one row to be written; a nil Value deletes it.
type Change struct {
	Key, Value []byte
}

// Cursor says which block of the decision log the rows hold. It is stored in
// the same batch as the rows (DESIGN 3).
type Cursor struct {
	LogSeq     uint64   // sequence of the block on the log stream; 0 before the first
	CommandSeq uint64   // last command of that block
	Generation string   // of the log
	BlockHash  [32]byte // hash of that block; zero before the first
	StateHash  [32]byte // state hash after it
}

// MemoryRows is a Rows in memory, for fold and for tests. It is not safe for
// concurrent use.
type MemoryRows struct {
	rows [256]map[string][]byte // by kind
	// sorted has the keys of a kind in order, made when a scan first asks and
	// dropped when a key of the kind comes or goes.
	sorted [256][]string
}

// NewMemory returns empty rows.
func NewMemory() *MemoryRows { return &MemoryRows{} }

// Get implements [Rows].
func (r *MemoryRows) Get(key []byte) ([]byte, error) { return r.rows[key[0]][string(key)], nil }

// Scan implements [Rows].
func (r *MemoryRows) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	keys := r.between(string(lower), string(upper))
	for i := range keys {
		key := keys[i]
		if reverse {
			key = keys[len(keys)-1-i]
		}
		if !f([]byte(key), r.rows[key[0]][key]) {
			return nil
		}
	}
	return nil
}

// between returns the keys in [lower, upper), in order.
func (r *MemoryRows) between(lower, upper string) []string {
	var keys []string
	for kind := int(lower[0]); kind <= int(upper[0]) && upper > string([]byte{byte(kind)}); kind++ {
		of := r.keysOf(byte(kind))
		from, _ := slices.BinarySearch(of, lower)
		to, _ := slices.BinarySearch(of, upper)
		if keys == nil {
			keys = of[from:to:to]
			continue
		}
		keys = append(keys, of[from:to]...)
	}
	return keys
}

func (r *MemoryRows) keysOf(kind byte) []string {
	if r.sorted[kind] == nil {
		r.sorted[kind] = append([]string{}, slices.Sorted(maps.Keys(r.rows[kind]))...)
	}
	return r.sorted[kind]
}

// Commit writes changes.
func (r *MemoryRows) Commit(changes []Change) {
	for _, c := range changes {
		key := string(c.Key)
		rows := r.rows[key[0]]
		if rows == nil {
			rows = map[string][]byte{}
			r.rows[key[0]] = rows
		}
		_, there := rows[key]
		if there == (c.Value == nil) {
			r.sorted[key[0]] = nil
		}
		if c.Value == nil {
			delete(rows, key)
			continue
		}
		rows[key] = bytes.Clone(c.Value)
	}
}

// Len is the number of rows.
func (r *MemoryRows) Len() int {
	n := 0
	for _, rows := range r.rows {
		n += len(rows)
	}
	return n
}
