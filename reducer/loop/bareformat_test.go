package loop

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// bare writes blocks again in format 1, whose headers have no checksum, chained
// as they were.
func bare(t *testing.T, blocks [][]byte) [][]byte {
	t.Helper()
	var out [][]byte
	prev := events.ZeroHash
	for _, data := range blocks {
		h, err := events.ParseHeader(data)
		if err != nil {
			t.Fatal(err)
		}
		line, content, _ := bytes.Cut(data, []byte{'\n'})
		sum := sha256.Sum256(content)
		for _, change := range [][2]string{
			{`"formatVersion":2`, `"formatVersion":1`}, {h.Checksum, hex.EncodeToString(sum[:])}, {h.PrevBlockHash, prev},
		} {
			line = bytes.Replace(line, []byte(change[0]), []byte(change[1]), 1)
		}
		block := append(append(bytes.Clone(line), '\n'), content...)
		hash := events.BlockHash(block)
		out, prev = append(out, block), hex.EncodeToString(hash[:])
	}
	return out
}

// TestBareHeader: whatever bit of a header without a checksum is flipped, the
// log is damaged. It is not taken for one of a newer build or of another shard,
// since the block after it names the header that was written.
func TestBareHeader(t *testing.T) {
	w := grown(t)
	good := bare(t, w.blocks)
	recover := func(blocks [][]byte) error {
		w.blocks, w.store, w.journal = blocks, &fakeStore{rows: state.NewMemory()}, nil
		return w.newTerm(t, w.stepped()).Recover(t.Context())
	}
	if err := recover(good); err != nil {
		t.Fatalf("format 1: %v", err)
	}
	const at = 2 // of five blocks
	for i := range bytes.IndexByte(good[at], '\n') + 1 {
		for bit := range 8 {
			blocks := append([][]byte{}, good...)
			blocks[at] = bytes.Clone(good[at])
			blocks[at][i] ^= 1 << bit
			if err := recover(blocks); !errors.Is(err, ErrIntegrity) {
				t.Errorf("bit %d of byte %d, %q: %v", bit, i, good[at][max(0, i-20):i+1], err)
			}
		}
	}
}

// A header that really is of a newer build says so, in either format.
func TestBareHeaderNewer(t *testing.T) {
	w := grown(t)
	for i := range w.blocks {
		w.blocks[i] = reseal(t, w.blocks[i], func(h *events.Header) { h.RulesVersion = 2 })
	}
	w.blocks, w.store = bare(t, w.blocks), &fakeStore{rows: state.NewMemory()}
	if err := w.newTerm(t, w.stepped()).Recover(t.Context()); !errors.Is(err, ErrConfig) {
		t.Errorf("newer rules: %v", err)
	}
}
