package audit

import (
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// Fault is something that must not be: a log or a store that is not what it
// says it is.
type Fault struct {
	Block   uint64 // of the log; 0 where no block is meant
	Command uint64 // commandSeq; 0 where no command is meant
	Ledger  string // "" where no ledger is meant
	What    string
	Do      string // what to do about it
}

// Error implements error.
func (f *Fault) Error() string {
	var where []string
	if f.Block > 0 {
		where = append(where, fmt.Sprintf("block %d", f.Block))
	}
	if f.Command > 0 {
		where = append(where, fmt.Sprintf("command %d", f.Command))
	}
	if f.Ledger != "" {
		where = append(where, fmt.Sprintf("ledger %q", f.Ledger))
	}
	text := f.What
	if len(where) > 0 {
		text = strings.Join(where, ", ") + ": " + text
	}
	if f.Do != "" {
		text += "; " + f.Do
	}
	return text
}

// Unwrap: every fault is an integrity error.
func (f *Fault) Unwrap() error { return loop.ErrIntegrity }

// What to do about a fault.
const (
	doRestore = "do not run a reducer on this log; keep a copy of it, and restore it from the archive or a backup"
	doCompare = "verify with the build that wrote the block; if that one finds it right, the two builds decide differently and one of them is wrong"
	doReplay  = "the store is derived, and the log is right: stop the reducer and rebuild the store with `reducer replay`"
)
