package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Heads are chain heads that somebody has kept elsewhere: a log that has a
// record with each of these hashes has not been rewritten before them.
type Heads struct {
	records map[place]string // hash
	blocks  map[uint64]BlockHead
	seen    map[string]bool // generations of the log's blocks
	met     int
	skipped int
}

// place is a record in its ledger.
type place struct {
	ledger string
	seq    uint64
}

// RecordHead is the last record of a ledger.
type RecordHead struct {
	Block  uint64 `json:"block"`
	Hash   string `json:"hash"`
	Ledger string `json:"ledger"`
	Seq    uint64 `json:"seq"`
}

// BlockHead is the last block of a log.
type BlockHead struct {
	Block      uint64 `json:"block"`
	BlockHash  string `json:"blockHash"`
	Generation string `json:"generation"`
	Seq        uint64 `json:"seq"` // of its last command
	StateHash  string `json:"stateHash"`
}

// maxHeadLine is more than a line of heads can have.
const maxHeadLine = 64 << 10

// ReadHeads reads heads as `reducer head` prints them, a JSON object a line: of
// the log, and of each ledger. Heads of several days may follow each other.
func ReadHeads(r io.Reader) (*Heads, error) {
	h := &Heads{records: map[place]string{}, blocks: map[uint64]BlockHead{}, seen: map[string]bool{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxHeadLine)
	for number := 1; lines.Scan(); number++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := h.add(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(h.records)+len(h.blocks) == 0 {
		return nil, errors.New("there are no heads in it")
	}
	return h, nil
}

func (h *Heads) add(line []byte) error {
	var kind struct {
		BlockHash *string `json:"blockHash"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return fmt.Errorf("not a head: %w", err)
	}
	if kind.BlockHash != nil {
		var b BlockHead
		if err := strict(line, &b); err != nil {
			return err
		}
		if before, ok := h.blocks[b.Block]; ok && before.Generation == b.Generation && before.BlockHash != b.BlockHash {
			return fmt.Errorf("another hash of block %d than a line before: they are of different logs", b.Block)
		}
		h.blocks[b.Block] = b
		return nil
	}
	var r RecordHead
	if err := strict(line, &r); err != nil {
		return err
	}
	at := place{r.Ledger, r.Seq}
	if before, ok := h.records[at]; ok && before != r.Hash {
		return fmt.Errorf("another hash of command %d than a line before: they are of different logs", r.Seq)
	}
	h.records[at] = r.Hash
	return nil
}

func strict(line []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not a head: %w", err)
	}
	return nil
}

// record is told of each record of the log.
func (h *Heads) record(ledger string, seq uint64, hash string) error {
	if h == nil {
		return nil
	}
	at := place{ledger, seq}
	want, ok := h.records[at]
	if !ok {
		return nil
	}
	if want != hash {
		return &Fault{Command: seq, Ledger: ledger, Do: doAsk,
			What: fmt.Sprintf("the record has the hash %s, and the head that was kept says %s: history was rewritten", hash, want)}
	}
	delete(h.records, at)
	h.met++
	return nil
}

// block is told of each block of the log. A log that was imported from a file
// has other blocks, of another generation, with the same records.
func (h *Heads) block(c state.Cursor) error {
	if h == nil {
		return nil
	}
	h.seen[c.Generation] = true
	want, ok := h.blocks[c.LogSeq]
	if !ok {
		return nil
	}
	delete(h.blocks, c.LogSeq)
	if want.Generation != c.Generation {
		h.skipped++
		return nil
	}
	if got := fmt.Sprintf("%x", c.BlockHash); want.BlockHash != got {
		return &Fault{Block: c.LogSeq, Do: doAsk,
			What: fmt.Sprintf("it has the hash %s, and the head that was kept says %s: history was rewritten", got, want.BlockHash)}
	}
	h.met++
	return nil
}

// atEnd: what was not met is not in the log.
func (h *Heads) atEnd() error {
	if h == nil {
		return nil
	}
	missing := slices.SortedFunc(maps.Keys(h.records), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.ledger, b.ledger), cmp.Compare(a.seq, b.seq))
	})
	if len(missing) > 0 {
		at := missing[0]
		return &Fault{Command: at.seq, Ledger: at.ledger, Do: doAsk,
			What: "a head that was kept names this record, and the log does not have it: it lost its end, or is another log"}
	}
	for _, seq := range slices.Sorted(maps.Keys(h.blocks)) {
		if h.seen[h.blocks[seq].Generation] {
			return &Fault{Block: seq, Do: doAsk, What: "a head that was kept names this block, and the log does not have it: it lost its end"}
		}
		h.skipped++
	}
	return nil
}

// doAsk is what to do about heads that do not fit.
const doAsk = "somebody must find out which of the two is right: compare with other copies of the heads, and with the archive (`reducer diff`)"
