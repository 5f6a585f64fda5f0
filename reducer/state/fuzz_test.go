package state_test

import (
	"bytes"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// FuzzRowDecode: any bytes are a row or an error, and a row that is read is
// written again to the same.
func FuzzRowDecode(f *testing.F) {
	for _, r := range state.WireRows() {
		f.Add(r.Key[0], r.Value)
		f.Add(r.Key[0], r.Value[:len(r.Value)/2])
	}
	f.Fuzz(func(t *testing.T, kind byte, value []byte) {
		row, err := state.Reencode([]byte{kind}, value)
		if err != nil {
			return
		}
		again, err := state.Reencode([]byte{kind}, row)
		if err != nil || !bytes.Equal(again, row) {
			t.Fatalf("kind %c: %x is written as %x, and that as %x: %v", kind, value, row, again, err)
		}
	})
}
