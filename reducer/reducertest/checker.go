package reducertest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// checker checks what must hold for every decision, whatever the rules say: the
// promises of RULES 2 and those of RULES 11 that one state cannot show.
type checker struct {
	now        map[string]schema.Decimal // by ledger
	head       map[string]string         // by ledger
	last       uint64                    // command sequence
	dispatched map[[2]string]bool        // contract and attempt
	known      map[events.Code]bool
}

func newChecker() checker {
	known := map[events.Code]bool{}
	for _, info := range events.Codes {
		known[info.Code] = true
	}
	return checker{
		now: map[string]schema.Decimal{}, head: map[string]string{},
		dispatched: map[[2]string]bool{}, known: known,
	}
}

func (c *checker) clone() checker {
	copied := *c
	copied.now, copied.head, copied.dispatched = maps.Clone(c.now), maps.Clone(c.head), maps.Clone(c.dispatched)
	return copied
}

func (c *checker) decision(m *events.Message, d *events.Decision) error {
	return errors.Join(c.shape(m, d), c.order(d), c.chain(d), roundTrip(d), c.dispatchedOnce(d))
}

// shape checks that the members fit the outcome.
func (c *checker) shape(m *events.Message, d *events.Decision) error {
	accepted, rejected, duplicate := len(d.Events) > 0, d.Code != "", d.Of != 0
	var fits bool
	switch d.Outcome {
	case events.OutcomeAccepted:
		fits = accepted && !rejected && !duplicate && d.Reason == "" && d.Pointer == "" && d.Message == ""
	case events.OutcomeRejected:
		fits = !accepted && rejected && !duplicate && c.known[d.Code] && d.Message != ""
	case events.OutcomeDuplicate:
		fits = !accepted && !rejected && duplicate && d.Of < d.CommandSeq && d.OfOutcome != events.OutcomeDuplicate &&
			(d.OfCode != "") == (d.OfOutcome == events.OutcomeRejected)
	}
	if !fits {
		return fmt.Errorf("the members do not fit the outcome: %s", d.Append(nil))
	}
	if d.CommandSeq != m.Seq || d.CommandSeq <= c.last {
		return fmt.Errorf("commandSeq %d follows %d and answers message %d", d.CommandSeq, c.last, m.Seq)
	}
	c.last = d.CommandSeq
	return nil
}

// order checks that now never falls, and is never before the message's stamp.
func (c *checker) order(d *events.Decision) error {
	ledger := d.Ledger()
	if d.At.Less(c.now[ledger]) {
		return fmt.Errorf("now of ledger %q falls from %s to %s", ledger, c.now[ledger], d.At)
	}
	c.now[ledger] = d.At
	return nil
}

func (c *checker) chain(d *events.Decision) error {
	ledger := d.Ledger()
	head, ok := c.head[ledger]
	if !ok {
		head = events.ZeroHash
	}
	if d.Prev != head {
		return fmt.Errorf("prev of ledger %q is %s, the head is %s", ledger, d.Prev, head)
	}
	c.head[ledger] = d.Hash
	return nil
}

// roundTrip checks that the record reads back as what was written, and stays
// within its bound.
func roundTrip(d *events.Decision) error {
	record := d.Append(nil)
	parsed, err := events.ParseDecision(record)
	if err != nil {
		return fmt.Errorf("the record does not read back: %w", err)
	}
	if again := parsed.Append(nil); !bytes.Equal(again, record) {
		return fmt.Errorf("the record reads back as another one:\n%s\n%s", record, again)
	}
	fresh := *parsed
	fresh.Seal(parsed.Prev) // encodes the events anew
	if again := fresh.Append(nil); !bytes.Equal(again, record) {
		return fmt.Errorf("the events read back as others:\n%s\n%s", record, again)
	}
	if !parsed.CheckHash() {
		return errors.New("the record does not have its hash")
	}
	if bare := len(d.AppendBare(nil)); d.Outcome == events.OutcomeAccepted && bare > events.MaxRecord {
		return fmt.Errorf("the record has %d bytes", bare)
	}
	return nil
}

func (c *checker) dispatchedOnce(d *events.Decision) error {
	for _, e := range d.Events {
		dispatched, ok := e.(*events.AttemptDispatched)
		if !ok {
			continue
		}
		key := [2]string{d.Contract, dispatched.AttemptID}
		if c.dispatched[key] {
			return fmt.Errorf("attempt %q is dispatched twice", dispatched.AttemptID)
		}
		c.dispatched[key] = true
	}
	return nil
}
