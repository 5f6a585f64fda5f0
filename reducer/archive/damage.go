package archive

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Damage is a file of an archive that is missing or not what was written.
type Damage struct {
	File   string // its path
	Offset int64  // of the first byte that cannot be trusted
	Block  uint64 // the first block that it does not give; 0 where no block is meant
	What   string
	Do     string
}

// Error implements error.
func (d *Damage) Error() string {
	text := "archive " + d.File
	if d.Offset > 0 {
		text += fmt.Sprintf(", from byte %d on", d.Offset)
	}
	if d.Block > 0 {
		text += fmt.Sprintf(", block %d", d.Block)
	}
	return text + ": " + d.What + "; " + d.Do
}

// Unwrap: damage is an integrity error.
func (d *Damage) Unwrap() error { return loop.ErrIntegrity }

// What to do about it.
const (
	doRewrite = "`reducer serve --archive` sets such a file aside when it starts and writes it again from the log; " +
		"where there is no log any more, take the file from another copy of the archive"
	doHead = "remove HEAD to go by what the segments hold; whether blocks are missing at their end cannot be told then"
)
