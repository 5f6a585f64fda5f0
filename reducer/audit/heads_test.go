package audit

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

func TestReadHeads(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	log := fmt.Sprintf(`{"block":7,"blockHash":%q,"generation":"g","seq":9,"stateHash":%q}`, hash, hash)
	ledger := fmt.Sprintf(`{"block":7,"hash":%q,"ledger":"c","seq":9}`, hash)
	other := strings.Replace(ledger, "abab", "acac", 1)
	for _, c := range []struct{ text, want string }{
		{log + "\n\n" + ledger + "\n" + log, ""},
		{"", "no heads"},
		{ledger + "\n" + other, "line 2: another hash of command 9"},
		{log + "\n" + strings.Replace(log, "abab", "acac", 1), "line 2: another hash of block 7"},
		{`{"seq":1,"more":2}`, "line 1: not a head"},
		{"[]", "line 1: not a head"},
		{strings.Repeat("x", maxHeadLine+1), "too long"},
	} {
		_, err := ReadHeads(strings.NewReader(c.text))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80s: %v, want %q", c.text, err, c.want)
		}
	}
}

// Each kind of head that does not fit is found.
func TestHeadsCompared(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	cursor := state.Cursor{LogSeq: 7, Generation: "g"}
	read := func() *Heads {
		h, err := ReadHeads(strings.NewReader(fmt.Sprintf(
			`{"block":7,"blockHash":"%x","generation":"g","seq":9,"stateHash":%q}`+"\n"+`{"block":7,"hash":%q,"ledger":"c","seq":9}`, cursor.BlockHash, hash, hash)))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := read()
	if err := errors.Join(h.record("c", 8, "x"), h.record("d", 9, "x"), h.record("c", 9, hash), h.block(cursor), h.atEnd()); err != nil || h.met != 2 {
		t.Errorf("all is well: %v, %d", err, h.met)
	}
	h = read()
	if err := h.atEnd(); !errors.Is(err, loop.ErrIntegrity) || !strings.Contains(err.Error(), "lost its end") {
		t.Errorf("nothing was met: %v", err)
	}
	h = read()
	if err := h.record("c", 9, "x"); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("another record: %v", err)
	}
	changed := cursor
	changed.BlockHash[0]++
	if err := h.block(changed); !errors.Is(err, loop.ErrIntegrity) {
		t.Errorf("another block: %v", err)
	}
	h = read()
	changed.Generation = "h"
	if err := errors.Join(h.record("c", 9, hash), h.block(changed), h.atEnd()); err != nil || h.skipped != 1 {
		t.Errorf("another generation: %v, %d", err, h.skipped)
	}
}
