package transfer

import (
	"time"

	"github.com/oklog/ulid/v2"
)

// NextGeneration is a new generation for a log whose last block is of the
// generation last, "" where it has none: a ULID that is greater.
func NextGeneration(last string) string {
	next := ulid.Make()
	if next.String() > last {
		return next.String()
	}
	before, err := ulid.ParseStrict(last)
	if err != nil {
		return last + next.String() // not one of ours; longer is greater
	}
	ms := before.Time() + 1
	if ms > ulid.MaxTime() {
		return last + next.String()
	}
	return ulid.MustNew(ms, ulid.DefaultEntropy()).String()
}

// stamp is the time of a block's header: the clock in milliseconds, for people.
func stamp() int64 { return time.Now().UnixMilli() }
