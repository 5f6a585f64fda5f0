package reducertest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Variant is one way of going through a log. Whatever it is, the outcome is the
// same.
type Variant struct {
	Block   int  // commands in a block
	Cache   int  // rows that the state keeps, 0 for plenty
	Restart int  // blocks after which the state is dropped and read from its rows; 0: never
	Decide  bool // decide each command again, and do not only fold
	Lag     int  // blocks that are taken and not yet committed
}

// Variants are those that every scenario goes through.
var Variants = []Variant{
	{Block: 1, Cache: 1},
	{Block: 3, Cache: 1, Restart: 1},
	{Block: 1000},
	{Block: 1, Decide: true, Restart: 1},
	{Block: 7, Cache: 1, Decide: true, Lag: 2},
	{Block: 1000, Decide: true},
}

// Outcome is what a log comes to.
type Outcome struct {
	Hash   string // state hash
	Digest string // of all documents of all projections
	Rows   string // of all rows, the sequence of their block left out
}

// Replay goes through the log of w again, from encoded blocks, and compares the
// outcome with that of w.
func (w *World) Replay(variants ...Variant) error {
	w.Commit()
	want, err := outcome(w.State, w.Rows)
	if err != nil {
		return err
	}
	for _, v := range variants {
		got, err := v.run(w.Log)
		if err != nil {
			return fmt.Errorf("replay %+v: %w", v, err)
		}
		if got != want {
			return fmt.Errorf("replay %+v: it comes to %+v, live to %+v", v, got, want)
		}
	}
	return nil
}

// Blocks encodes a log in blocks of n commands, chained, with the state hash
// left empty.
func Blocks(log []Entry, n int) [][]byte {
	var blocks [][]byte
	prev := events.ZeroHash
	for from := 0; from < len(log); from += n {
		b := events.NewBlock(events.Header{
			RulesVersion: reducer.RulesVersion, Generation: "g", Writer: "w", Build: "test", Shards: 1, Time: "0", PrevBlockHash: prev,
		})
		for _, e := range log[from:min(from+n, len(log))] {
			b.Add(e.Message, e.Decision)
		}
		data, hash := b.Seal([sha256.Size]byte{})
		prev = hex.EncodeToString(hash[:])
		blocks = append(blocks, data)
	}
	return blocks
}

// pass is one replay under way.
type pass struct {
	Variant
	rows    *state.MemoryRows
	state   *state.State
	reducer *reducer.Reducer
	taken   [][]state.Change
	blocks  uint64
	done    int
}

func (v Variant) run(log []Entry) (Outcome, error) {
	rows := state.NewMemory()
	p := &pass{Variant: v, rows: rows, state: state.New(rows, state.Cursor{}, v.Cache), reducer: reducer.New()}
	for _, data := range Blocks(log, v.Block) {
		block, err := events.ParseBlock(data)
		if err != nil {
			return Outcome{}, err
		}
		if err := p.block(block, log); err != nil {
			return Outcome{}, err
		}
	}
	p.commit(0)
	if err := p.state.CheckInvariants(); err != nil {
		return Outcome{}, err
	}
	return outcome(p.state, p.rows)
}

func (p *pass) block(block *events.Block, log []Entry) error {
	for i := range block.Entries {
		e := &block.Entries[i]
		if p.Decide && !log[p.done].Given {
			if err := p.again(e); err != nil {
				return err
			}
		}
		p.state.Apply(&e.Message, e.Decision)
		p.done++
	}
	p.blocks++
	p.taken = append(p.taken, p.state.Take(p.blocks))
	p.commit(p.Lag)
	if p.Restart > 0 && p.blocks%uint64(p.Restart) == 0 {
		p.commit(0)
		p.state = state.New(p.rows, state.Cursor{LogSeq: p.blocks, StateHash: p.state.Hash()}, p.Cache)
		p.reducer = reducer.New()
	}
	return p.state.Err()
}

func (p *pass) again(e *events.Entry) error {
	d := p.reducer.Decide(p.state, &e.Message)
	if record := d.Append(nil); !bytes.Equal(record, e.Record) {
		return fmt.Errorf("command %d is decided anew:\n%s\nwas\n%s", e.Message.Seq, record, e.Record)
	}
	return nil
}

// commit writes the oldest taken blocks until only lag are left.
func (p *pass) commit(lag int) {
	for len(p.taken) > lag {
		p.rows.Commit(p.taken[0])
		p.state.Committed()
		p.taken = p.taken[1:]
	}
}

func outcome(s *state.State, rows *state.MemoryRows) (Outcome, error) {
	hash := s.Hash()
	o := Outcome{Hash: hex.EncodeToString(hash[:]), Rows: hex.EncodeToString(rowsDigest(rows))}
	digest := sha256.New()
	reader := state.NewReader(rows)
	for _, projection := range state.Projections() {
		err := reader.Documents(projection, "", "", func(d *state.Document) bool {
			digest.Write(append(d.AppendLine(nil), '\n'))
			return true
		})
		if err != nil {
			return o, err
		}
	}
	o.Digest = hex.EncodeToString(digest.Sum(nil))
	return o, nil
}

// rowsDigest hashes all rows in order, without the sequence of the block that
// wrote them, which is another one in blocks of another size.
func rowsDigest(rows *state.MemoryRows) []byte {
	digest := sha256.New()
	write := func(b []byte) {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(b)))
		digest.Write(size[:])
		digest.Write(b)
	}
	_ = rows.Scan([]byte{0}, []byte{0xFF}, false, func(key, value []byte) bool {
		write(key)
		write(withoutLogSeq(value))
		return true
	})
	return digest.Sum(nil)
}

// withoutLogSeq cuts the block's sequence out of a row: it follows the version
// and the command's sequence.
func withoutLogSeq(value []byte) []byte {
	if len(value) < 2 {
		return value // a member of an ordered set
	}
	_, n := binary.Uvarint(value[1:])
	_, k := binary.Uvarint(value[1+n:])
	return append(append([]byte(nil), value[:1+n]...), value[1+n+k:]...)
}
