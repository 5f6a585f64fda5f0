package projections

import (
	"encoding/binary"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// cursorKey is below every row: the kinds of rows are letters.
var cursorKey = []byte{0x00, 'c'}

// rowsVersion is that of the rows and of the cursor. A store of another version
// is set aside and built again from the log, so raise it whenever the form of
// any row changes.
const rowsVersion = 1

const cursorFixed = 1 + 8 + 8 + 32 + 32

// encodeCursor: version, log sequence, command sequence, block hash, state
// hash, generation.
func encodeCursor(c *state.Cursor) []byte {
	dst := make([]byte, 0, cursorFixed+len(c.Generation))
	dst = append(dst, rowsVersion)
	dst = binary.BigEndian.AppendUint64(dst, c.LogSeq)
	dst = binary.BigEndian.AppendUint64(dst, c.CommandSeq)
	dst = append(dst, c.BlockHash[:]...)
	dst = append(dst, c.StateHash[:]...)
	return append(dst, c.Generation...)
}

func decodeCursor(value []byte) (state.Cursor, error) {
	var c state.Cursor
	if len(value) < cursorFixed || value[0] != rowsVersion {
		return c, &StoreError{Op: "open", damaged: true, Err: fmt.Errorf("the rows are of another version than %d", rowsVersion)}
	}
	c.LogSeq = binary.BigEndian.Uint64(value[1:])
	c.CommandSeq = binary.BigEndian.Uint64(value[9:])
	copy(c.BlockHash[:], value[17:])
	copy(c.StateHash[:], value[49:])
	c.Generation = string(value[cursorFixed:])
	return c, nil
}
