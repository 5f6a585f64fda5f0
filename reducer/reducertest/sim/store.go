package sim

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// disk is what the store of a machine has written. After a crash it is a prefix
// in the order of the commits, as with Pebble (DESIGN 3).
type disk struct {
	commits []commit
	flushed int // commits that a crash cannot take
	damaged bool
}

type commit struct {
	changes []state.Change
	cursor  state.Cursor
}

func (d *disk) cursor() (seq uint64, hash string) {
	var c state.Cursor
	if n := len(d.commits); n > 0 {
		c = d.commits[n-1].cursor
	}
	return c.LogSeq, hex.EncodeToString(c.BlockHash[:])
}

func (d *disk) generation() string {
	if n := len(d.commits); n > 0 {
		return d.commits[n-1].cursor.Generation
	}
	return ""
}

// close is a proper end: everything is written.
func (d *disk) close() { d.flushed = len(d.commits) }

// crash takes the last n commits that are not flushed.
func (d *disk) crash(n int) {
	d.commits = d.commits[:max(d.flushed, len(d.commits)-n)]
	d.flushed = len(d.commits)
}

var (
	errDisk = errors.New("input/output error")
	errOpen = damagedError{errors.New("the store cannot be opened")}
)

// damagedError asks for a new store (see loop.Damaged).
type damagedError struct{ error }

func (damagedError) Damaged() bool { return true }

// store is the open store of a process.
type store struct {
	p       *process
	rows    *state.MemoryRows
	sum     rowSum
	cursor  state.Cursor
	failing int // reads that fail
}

// Open implements [loop.Stores].
func (p *process) Open() (loop.Store, error) {
	m := p.m
	s, err := call(p, nil, nil, "store open", "", func() (*store, error) {
		switch f := m.w.spoiled("store open"); {
		case f != nil && f.How == "damaged":
			m.disk.damaged = true
		case f != nil:
			return nil, errDisk
		}
		if m.disk.damaged {
			return nil, errOpen
		}
		s := &store{p: p, rows: state.NewMemory()}
		for i := range m.disk.commits {
			s.write(&m.disk.commits[i])
		}
		p.store = s
		m.w.check.stored(s)
		return s, nil
	})
	if err != nil {
		return nil, err // not a nil *store in an interface
	}
	return s, nil
}

// SetAside implements [loop.Stores].
func (p *process) SetAside(error) (string, error) {
	return call(p, nil, nil, "store set aside", "", func() (string, error) {
		p.m.disk = disk{}
		return "aside", nil
	})
}

func (s *store) write(c *commit) {
	for i := range c.changes {
		key := c.changes[i].Key
		old, _ := s.rows.Get(key) // memory has no errors
		s.sum.replace(key, old, c.changes[i].Value)
		s.rows.Commit(c.changes[i : i+1]) // a key may be there for several blocks
	}
	s.cursor = c.cursor
}

// Get implements [state.Rows].
func (s *store) Get(key []byte) ([]byte, error) {
	if s.failing > 0 {
		s.failing--
		return nil, errDisk
	}
	return s.rows.Get(key)
}

// Scan implements [state.Rows].
func (s *store) Scan(lower, upper []byte, reverse bool, f func(key, value []byte) bool) error {
	return s.rows.Scan(lower, upper, reverse, f)
}

// Cursor implements [loop.Store].
func (s *store) Cursor() state.Cursor { return s.cursor }

// Commit implements [loop.Store].
func (s *store) Commit(changes []state.Change, cursor state.Cursor) error {
	m := s.p.m
	c := commit{changes: cloneChanges(changes), cursor: cursor}
	return do(s.p, nil, nil, "store commit", fmt.Sprint(cursor.LogSeq), func() error {
		f := m.w.spoiled("store commit")
		if f != nil && f.How == "lost" {
			return errDisk
		}
		m.disk.commits = append(m.disk.commits, c)
		s.write(&c)
		m.w.check.stored(s)
		switch {
		case f != nil && f.How == "damaged":
			return damagedError{errDisk}
		case f != nil:
			return errDisk // and yet it is written
		case m.w.rng.IntN(8) == 0:
			m.disk.flushed = len(m.disk.commits)
		}
		return nil
	})
}

// Err implements [loop.Store].
func (s *store) Err() error { return nil }

// Close implements [loop.Store].
func (s *store) Close() error {
	if s.p.isDead() {
		return errGone
	}
	s.p.store = nil
	s.p.m.disk.close()
	return nil
}

func cloneChanges(changes []state.Change) []state.Change {
	out := slices.Clone(changes)
	for i := range out {
		out[i].Value = bytes.Clone(out[i].Value)
	}
	return out
}

// archive is the second copy of the log on a machine.
type archive struct {
	blocks     [][]byte
	generation string // of the last block
}

func (a *archive) last() uint64 { return uint64(len(a.blocks)) }

func (a *archive) crash(n int) { a.blocks = a.blocks[:max(0, len(a.blocks)-n/2)] }

// archivePort is the archive as the loop reaches it.
type archivePort struct{ p *process }

// Last implements [loop.Archive].
func (a archivePort) Last() (seq uint64, hash [32]byte, err error) {
	block, err := call(a.p, nil, nil, "archive last", "", func() ([]byte, error) {
		if a.p.m.w.spoiled("archive") != nil {
			return nil, errDisk
		}
		seq = a.p.m.archive.last()
		if seq == 0 {
			return nil, nil
		}
		return a.p.m.archive.blocks[seq-1], nil
	})
	if seq > 0 && err == nil {
		hash = events.BlockHash(block)
	}
	return seq, hash, err
}

// Append implements [loop.Archive].
func (a archivePort) Append(seq uint64, block []byte) error {
	m := a.p.m
	return do(a.p, nil, nil, "archive append", fmt.Sprint(seq), func() error {
		if m.w.spoiled("archive") != nil {
			return errDisk
		}
		if seq != m.archive.last()+1 {
			return fmt.Errorf("the archive ends at block %d, this is block %d", m.archive.last(), seq)
		}
		h, _, _ := readHeader(block)
		if last := m.archive.last(); last > 0 && h.PrevBlockHash != headerHash(m.archive.blocks[last-1]) {
			return fmt.Errorf("block %d does not follow the archive's last", seq)
		}
		m.archive.blocks, m.archive.generation = append(m.archive.blocks, block), h.Generation
		m.w.check.archived(m, seq, block)
		return nil
	})
}

// mirror is the cursor of the KV mirror, which is on the server.
type mirror struct {
	seq  uint64
	hash string // of that block
}

// mirrorPort is the mirror as the loop reaches it.
type mirrorPort struct{ p *process }

// Name implements [loop.Follower].
func (mirrorPort) Name() string { return "the mirror" }

// LogSeq implements [loop.Follower].
func (f mirrorPort) LogSeq(ctx context.Context) (uint64, error) {
	return call(f.p, f.p.session, ctx, "mirror cursor", "", func() (uint64, error) {
		if f.p.m.w.spoiled("mirror cursor") != nil {
			return 0, errTimeout
		}
		return f.p.m.w.server.mirror.seq, nil
	})
}

// Discard implements [loop.Follower].
func (f mirrorPort) Discard(ctx context.Context) error {
	return do(f.p, nil, ctx, "mirror discard", "", func() error {
		f.p.m.w.server.mirror = mirror{}
		return nil
	})
}

// recovered tells the mirror to compare itself with the store.
func (p *process) recovered(cursor state.Cursor, _ int) { p.derive(cursor) }

func (p *process) folded(f *loop.Folded) {
	if !f.Replayed {
		p.derive(f.Cursor)
	}
}

func (p *process) derive(cursor state.Cursor) {
	p.m.w.mu.Lock()
	defer p.m.w.mu.Unlock()
	if !p.dead && p.m.w.setup.Mirror {
		p.derived = append(p.derived, cursor)
	}
}

// follow writes the next block's rows and its cursor, never to a lower one.
func (p *process) follow() {
	w := p.m.w
	next := p.derived[0]
	p.derived = p.derived[1:]
	if next.LogSeq > w.server.mirror.seq && next.Generation >= w.server.oldest {
		w.server.mirror = mirror{seq: next.LogSeq, hash: hex.EncodeToString(next.BlockHash[:])}
		w.check.mirrored()
	}
}
