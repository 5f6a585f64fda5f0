package state

import "github.com/aiws-reducer/aiws-reducer/schema"

// Decisions calls f for the index entries of the decisions of a ledger, in the
// order of their commands from one on; or, in reverse, the newest first and
// beginning at that command or before it. It goes on until f returns false.
func (r *Reader) Decisions(ledger string, from uint64, reverse bool, f func(*Decided, Meta) bool) error {
	prefix := appendKey(nil, kindDecision, ledger)
	at := appendPart(prefix[:len(prefix):len(prefix)], sequencePart(from))
	lower, upper := at, after(prefix)
	if reverse {
		lower, upper = prefix, after(at)
	}
	var failed error
	err := r.state.rows.Scan(lower, upper, reverse, func(_, value []byte) bool {
		var meta Meta
		var d Decided
		if failed = decodeRow(value, &meta, &d); failed != nil {
			return false
		}
		return f(&d, meta)
	})
	if err == nil {
		err = failed
	}
	return err
}

// DecidedSince is the commandSeq of the ledger's first decision that was made at
// a time or after it, 0 where there is none: a ledger's now never falls, so that
// a few rows tell.
func (r *Reader) DecidedSince(ledger string, at schema.Decimal) (uint64, error) {
	last, err := r.decidedFrom(ledger, ^uint64(0), true)
	if err != nil || last == nil || last.At.Less(at) {
		return 0, err
	}
	low, high := uint64(0), last.CommandSeq // the first one is in [low, high]
	for low < high {
		middle := low + (high-low)/2
		d, err := r.decidedFrom(ledger, middle, false)
		if err != nil {
			return 0, err
		}
		if d.At.Less(at) {
			low = d.CommandSeq + 1
			continue
		}
		high = middle
	}
	d, err := r.decidedFrom(ledger, low, false)
	if err != nil {
		return 0, err
	}
	return d.CommandSeq, nil
}

// decidedFrom is the ledger's first decision from a command on, or in reverse
// the last one up to it; nil where there is none.
func (r *Reader) decidedFrom(ledger string, from uint64, reverse bool) (first *Decided, err error) {
	err = r.Decisions(ledger, from, reverse, func(d *Decided, _ Meta) bool {
		first = d
		return false
	})
	return first, err
}
