package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// entry checks one command with its record and folds it.
func (w *Walk) entry(block uint64, e *events.Entry, decide bool) error {
	m, d := &e.Message, e.Decision
	fault := func(what, do string) error {
		return &Fault{Block: block, Command: m.Seq, Ledger: d.Contract, What: what, Do: do}
	}
	if body := sha256.Sum256(m.Body); d.BodyHash != hex.EncodeToString(body[:]) {
		return fault("the record is about another body than the one beside it", doRestore)
	}
	if !d.CheckHash() {
		return fault("the record does not have the hash that it names", doRestore)
	}
	if decide {
		again := w.reducer.Decide(w.state, m)
		if d.Prev != again.Prev { // what is missing is the reason for what else differs
			return fault(otherHead(d, again.Ledger(), again.Prev), doRestore)
		}
		if !bytes.Equal(again.AppendBare(nil), d.AppendBare(nil)) {
			return fault("decided again it is another record: "+difference(d, again), doCompare)
		}
		w.summary.Decided++
	}
	heads := [2]string{w.state.Ledger(d.Contract).Head, w.state.Ledger(events.Unrouted).Head}
	if err := w.apply(m, d); err != nil {
		return fault(err.Error(), doCompare)
	}
	head := heads[0]
	if d.Unrouted {
		head = heads[1]
	}
	if d.Prev != head {
		return fault(otherHead(d, d.Ledger(), head), doRestore)
	}
	if err := w.Heads.record(d.Ledger(), m.Seq, d.Hash); err != nil {
		return err
	}
	if err := w.pins(d); err != nil {
		return fault("the plan that it pins cannot be rehydrated: "+err.Error(), doRestore)
	}
	if w.summary.Commands == 0 {
		w.summary.First = m.Seq
	}
	w.summary.Commands++
	w.summary.Last = m.Seq
	return nil
}

func otherHead(d *events.Decision, ledger, head string) string {
	return fmt.Sprintf("the record follows %s, and the last one of ledger %q is %s", d.Prev, ledger, head)
}

// apply folds a record. Events that do not fit the state are a bug that ends a
// reducer at once; here they are what was looked for.
func (w *Walk) apply(m *events.Message, d *events.Decision) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("its events do not fit the state: %v", cause)
		}
	}()
	w.state.Apply(m, d)
	return w.state.Err()
}

// difference tells two records apart in a few words.
func difference(recorded, again *events.Decision) string {
	tell := func(d *events.Decision) string {
		text := string(d.Outcome)
		if d.Code != "" {
			text += " " + string(d.Code)
		}
		if d.Reason != "" {
			text += " " + d.Reason
		}
		return text
	}
	if a, b := tell(recorded), tell(again); a != b {
		return fmt.Sprintf("recorded was %s, now it is %s", a, b)
	}
	was, is := recorded.AppendBare(nil), again.AppendBare(nil)
	from := 0
	for from < min(len(was), len(is)) && was[from] == is[from] {
		from++
	}
	return fmt.Sprintf("recorded was ...%s, now it is ...%s", excerpt(was, from), excerpt(is, from))
}

// excerpt shows some bytes around a place.
func excerpt(text []byte, at int) []byte {
	return text[max(0, at-24):min(len(text), at+40)]
}
