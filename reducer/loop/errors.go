package loop

import (
	"errors"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// How a term ends. Errors of this package wrap one of these.
var (
	// ErrFenced: another writer extended the log. This process has decided
	// on a state that is no longer the last, so it must step down.
	ErrFenced = errors.New("fenced: another reducer writes this log")

	// ErrIntegrity: the log is damaged, or something is ahead of it. A
	// damaged ledger is never extended.
	ErrIntegrity = errors.New("integrity")

	// ErrConfig: the log belongs to another set-up (shards, newer rules or
	// format). Starting again cannot help.
	ErrConfig = errors.New("wrong set-up for this log")

	// ErrTooLarge: the log takes no message of this size. A batch is halved;
	// for a single command it is the end.
	ErrTooLarge = errors.New("too large for the log")

	// ErrLost: the connection or what reads on it is gone. The next term
	// begins from the log.
	ErrLost = errors.New("connection lost")

	// ErrUncertain: an append was not confirmed, and reading back did not
	// settle it either. The next term will see what is stored.
	ErrUncertain = errors.New("not known whether the block is stored")

	// ErrAbsent: the log has nothing at this sequence.
	ErrAbsent = errors.New("no block at this sequence")

	// ErrAhead: what is derived from the log is ahead of it, and the set-up
	// allows to drop it and build it again (Options.DiscardAhead).
	ErrAhead = errors.New("ahead of the log")

	// ErrStore: the store failed. It holds nothing that the log does not.
	ErrStore = errors.New("the store failed")
)

// Damaged is implemented by errors of a store that must be set aside and built
// again from the log.
type Damaged interface {
	error
	Damaged() bool
}

// isDamaged says whether err asks for a new store.
func isDamaged(err error) bool {
	var d Damaged
	return errors.As(err, &d) && d.Damaged() || errors.Is(err, state.ErrRow)
}

// final says whether another term cannot help.
func final(err error) bool {
	return errors.Is(err, ErrFenced) && !mutate("step down") || errors.Is(err, ErrIntegrity) || errors.Is(err, ErrConfig) || errors.Is(err, ErrTooLarge)
}

// ExitCode is the exit code of a process that ends with err (DESIGN 4).
func ExitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, ErrFenced):
		return 5
	case errors.Is(err, ErrIntegrity):
		return 3
	}
	return 1
}
