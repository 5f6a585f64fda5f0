package sim

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// damage is what is wrong with the log itself until the operator repairs it.
//
//	flip   a byte of a block is another one
//	skip   a block is passed over without an error
//	cut    nothing from a block on can be read, though the stream's end stands
//	swap   a block is another one: whole, but not the one that the next names
//	older  the log is a copy of what it was some blocks ago
type damage struct {
	kind string
	seq  uint64
	data []byte   // of the block, as it is read now
	lost [][]byte // blocks that an older log lacks
}

// readable is a block as it can be read now.
func (w *world) readable(seq uint64) ([]byte, bool) {
	if seq < 1 || seq > uint64(len(w.server.log)) || w.cutBefore(seq) {
		return nil, false
	}
	if d := w.damage; d != nil && d.seq == seq {
		switch d.kind {
		case "skip":
			return nil, false
		case "flip", "swap":
			return d.data, true
		}
	}
	return w.server.log[seq-1], true
}

func (w *world) cutBefore(seq uint64) bool {
	return w.damage != nil && w.damage.kind == "cut" && seq >= w.damage.seq
}

// logIsOlder says whether the log is an older copy. Then what remembers better
// must not be lost too: nobody could tell.
func (w *world) logIsOlder() bool { return w.damage != nil && w.damage.kind == "older" }

// repair is what the operator does about a damaged log.
func (w *world) repair() {
	if w.damage == nil {
		return
	}
	w.server.log = append(w.server.log, w.damage.lost...)
	w.trace.add(w, "operator: the log is repaired")
	w.damage = nil
	for _, s := range w.server.sessions {
		s.refuse = ""
	}
}

// spoil damages the log, n blocks before its end. All reducers are down.
func (w *world) spoil(f *Fault) {
	end := uint64(len(w.server.log))
	if w.damage != nil || w.setup.Interval || end == 0 {
		return
	}
	for _, m := range w.machines {
		m.crash(&Fault{Steps: 10, N: f.N + w.rng.IntN(3)}, false)
	}
	w.server.stop(true)
	if w.setup.External {
		w.server.starts = w.step + 5
	}
	end = uint64(len(w.server.log))
	d := &damage{kind: f.How, seq: end - min(uint64(f.N), end-1)}
	block := w.server.log[d.seq-1]
	switch f.How {
	case "flip":
		d.data = slices.Clone(block)
		d.data[w.rng.IntN(len(block))] ^= 1 << w.rng.IntN(8)
	case "swap":
		if d.seq == end {
			return // nothing follows that could tell
		}
		d.data = reseal(block, func(h *events.Header) { h.Build = "another" })
	case "older":
		w.makeOlder(d)
		return
	}
	w.damage = d
}

// makeOlder puts an older copy of the log into its place, if every reducer can
// tell: what nothing remembers nobody can miss.
func (w *world) makeOlder(d *damage) {
	log := w.server.log
	for ; d.seq >= 1; d.seq-- {
		w.server.log, d.lost = slices.Clone(log[:d.seq-1]), log[d.seq-1:]
		if !slices.ContainsFunc(w.machines, func(m *machine) bool { return m.mustRefuse() == "" }) {
			w.damage = d
			return
		}
	}
	w.server.log = log
}

// header is what the simulator itself reads of a block.
type header struct {
	Checksum      string `json:"checksum"`
	First         uint64 `json:"firstCommandSeq"`
	Last          uint64 `json:"lastCommandSeq"`
	Commands      int    `json:"commands"`
	Generation    string `json:"generation"`
	PrevBlockHash string `json:"prevBlockHash"`
	StateHash     string `json:"stateHash"`
	Writer        string `json:"writer"`
}

// readHeader reads the header line of a block; ok says that it is whole.
func readHeader(block []byte) (h header, hash string, ok bool) {
	end := bytes.IndexByte(block, '\n') + 1
	if err := json.Unmarshal(block[:end], &h); err != nil {
		return h, "", false
	}
	return h, hashOf(block[:end]), sealOf(block[:end], block[end:]) == h.Checksum
}

// sealOf is the checksum that a block of format 2 must have.
func sealOf(line, content []byte) string {
	sealed := slices.Clone(line)
	at := bytes.Index(sealed, []byte(`"checksum":"`)) + len(`"checksum":"`)
	copy(sealed[at:], hashOf(content))
	return hashOf(sealed)
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// reseal writes a block again under a changed header.
func reseal(block []byte, change func(*events.Header)) []byte {
	b, err := events.ParseBlock(block)
	if err != nil {
		panic(err)
	}
	change(&b.Header)
	builder := events.NewBlock(b.Header)
	for i := range b.Entries {
		builder.Add(&b.Entries[i].Message, b.Entries[i].Decision)
	}
	var stateHash [sha256.Size]byte
	if _, err := hex.Decode(stateHash[:], []byte(b.Header.StateHash)); err != nil {
		panic(err)
	}
	data, _ := builder.Seal(stateHash)
	return data
}

// mustRefuse says why a term on this machine must end with an integrity error:
// the simulator's own reading of DESIGN 3, step 1.
func (m *machine) mustRefuse() string {
	w := m.w
	end := uint64(len(w.server.log))
	at, hash := m.disk.cursor()
	switch {
	case w.setup.Interval:
		return "" // there it is dropped and built again
	case at > end:
		return "the store is ahead of the log"
	case m.archive.last() > end:
		return "the archive is ahead of the log"
	case w.setup.Mirror && w.server.mirror.seq > end:
		return "the mirror is ahead of the log"
	case w.server.inbox.first() > w.lastCommand(end)+1:
		return "the inbox is ahead of the log"
	}
	if why := w.brokenAfter(at, hash); why != "" || !w.setup.Archive {
		return why
	}
	return w.brokenBefore(&m.archive, at)
}

// brokenAfter says what is wrong with the log from the store's cursor on.
func (w *world) brokenAfter(at uint64, hash string) string {
	if at > 0 {
		block, ok := w.readable(at)
		if !ok {
			return "the block of the store cannot be read"
		}
		if _, found, _ := readHeader(block); found != hash {
			return "the store is of another block than the log's"
		}
	}
	for seq := at + 1; seq <= uint64(len(w.server.log)); seq++ {
		block, ok := w.readable(seq)
		if !ok {
			return "a block cannot be read"
		}
		h, next, whole := readHeader(block)
		if !whole || h.PrevBlockHash != hash {
			return "a block is damaged or not chained"
		}
		hash = next
	}
	return ""
}

// brokenBefore says what is wrong with the blocks from the end of the archive to
// the store's.
func (w *world) brokenBefore(a *archive, at uint64) string {
	hash := ""
	for seq := max(a.last(), 1); seq <= max(at, a.last()); seq++ {
		block, ok := w.readable(seq)
		if !ok {
			return "a block from the archive's end on cannot be read"
		}
		h, next, whole := readHeader(block)
		switch {
		case seq > a.last() && (!whole || hash != "" && h.PrevBlockHash != hash):
			return "a block that the archive lacks is damaged or not chained"
		case seq == a.last() && next != headerHash(a.blocks[seq-1]):
			return "the archive is of another block than the log's"
		}
		hash = next
	}
	return ""
}

func headerHash(block []byte) string {
	_, hash, _ := readHeader(block)
	return hash
}

// lastCommand is the last command that the first blocks of the log decide.
func (w *world) lastCommand(blocks uint64) uint64 {
	if blocks == 0 {
		return 0
	}
	h, _, _ := readHeader(w.server.log[blocks-1])
	return h.Last
}
