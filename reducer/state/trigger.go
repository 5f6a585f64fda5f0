package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// TriggerTerms is a trigger as it was registered. It never changes; callers
// must not write to it.
type TriggerTerms struct {
	schema.Trigger
	text string
}

func (r *TriggerTerms) fields(c *coder) {
	c.string(&r.text)
	if c.reading && c.err == nil {
		c.err = schema.DecodeRecord([]byte(r.text), &r.Trigger)
	}
}

// Trigger is what happened to a trigger (RULES 9).
type Trigger struct {
	Revision, Kind, Action string
	Enabled                bool
	Cursor                 *schema.Decimal // newest slot admitted or skipped
	Condition              *bool           // last observed
	Fired                  int64
	Live                   int64 // live runs that it started
	LastFiredAt            *schema.Decimal
}

func (r *Trigger) fields(c *coder) {
	c.string(&r.Revision)
	c.string(&r.Kind)
	c.string(&r.Action)
	c.bool(&r.Enabled)
	c.optDecimal(&r.Cursor)
	c.optBool(&r.Condition)
	c.int(&r.Fired)
	c.int(&r.Live)
	c.optDecimal(&r.LastFiredAt)
}

// firing is when a trigger fired for the n-th time.
type firing struct {
	At schema.Decimal
}

func (r *firing) fields(c *coder) { c.decimal(&r.At) }

// TriggerTerms returns a trigger as registered, or nil.
func (s *State) TriggerTerms(contract, triggerID string) *TriggerTerms {
	return get[TriggerTerms](s, kindTriggerTerms, contract, triggerID)
}

// Trigger returns what happened to a trigger; ok is false when there is none.
func (s *State) Trigger(contract, triggerID string) (trigger Trigger, ok bool) {
	if r := get[Trigger](s, kindTrigger, contract, triggerID); r != nil {
		return *r, true
	}
	return Trigger{}, false
}

// FiredAt is when the trigger fired for the n-th time, n from 1 on. Only as many
// firings as the trigger's rateLimit are kept: rules ask for no older one.
func (s *State) FiredAt(contract, triggerID string, n int64) (at schema.Decimal, ok bool) {
	if r := get[firing](s, kindFiring, contract, triggerID, sequencePart(uint64(n))); r != nil {
		return r.At, true
	}
	return schema.Decimal{}, false
}

// EventHash is the content hash of the trigger's receipt for an event, or "".
func (s *State) EventHash(contract, triggerID, eventID string) string {
	if r := get[textRow](s, kindEvent, contract, triggerID, eventID); r != nil {
		return r.Text
	}
	return ""
}

// NextSlot is the first slot of a schedule after the cursor and not before
// notBefore, with no regard to expiresAt (RULES 9).
func NextSlot(t *schema.Trigger, cursor *schema.Decimal) schema.Decimal {
	schedule := t.Schedule
	from := t.NotBefore // first slot at or after this
	if cursor != nil {
		from = from.Max(cursor.Add(schema.DecimalOf(1)))
	}
	if !schedule.StartMs.Less(from) {
		return schedule.StartMs
	}
	gap := from.Sub(schedule.StartMs)
	steps := gap.Add(schedule.IntervalMs).Sub(schema.DecimalOf(1)).Div(schedule.IntervalMs)
	return schedule.StartMs.Add(steps.Mul(schedule.IntervalMs))
}

// What a due entry is about.
const (
	DueTrigger = "trigger" // tickTrigger of a SCHEDULED trigger
	DueWait    = "wait"    // resume of a TIMER wait
)

// Due is a time at which a host may send a command (RULES leave that to it).
type Due struct {
	At       schema.Decimal
	Contract string
	What     string // DueTrigger or DueWait
	ID       string
}

func (s *State) putDue(d Due, present bool) {
	s.put([]byte{kindDue}, dueKey(d), present)
}

func dueKey(d Due) string {
	return string(appendKey(nil, kindDue, decimalPart(d.At), d.Contract, d.What, d.ID))
}

// scheduleDue moves the due entry of a scheduled trigger from before to after
// its cursor moved.
func (s *State) scheduleDue(contract string, t *schema.Trigger, before *schema.Decimal, registered bool, cursor *schema.Decimal) {
	if t.Kind != events.TriggerScheduled || !t.Enabled {
		return
	}
	due := Due{Contract: contract, What: DueTrigger, ID: t.ID}
	if !registered {
		if due.At = NextSlot(t, before); due.At.Less(t.ExpiresAt) {
			s.putDue(due, false)
		}
	}
	if due.At = NextSlot(t, cursor); due.At.Less(t.ExpiresAt) {
		s.putDue(due, true)
	}
}

// Due calls f for what is due at a time or before, the earliest first, until f
// returns false. An entry stays while its command would still move something:
// until the trigger's cursor passes the slot, or the wait is satisfied.
func (r *Reader) Due(until schema.Decimal, f func(Due) bool) error {
	prefix := []byte{kindDue}
	upper := appendKey(nil, kindDue, decimalPart(until.Add(one)))
	var failed error
	err := r.state.rows.Scan(prefix, upper, false, func(key, _ []byte) bool {
		parts, err := splitKey(string(key))
		if err != nil || len(parts) != 4 {
			failed = errKey
			return false
		}
		at, err := schema.ParseDecimal(parts[0][2:])
		if err != nil {
			failed = errKey
			return false
		}
		return f(Due{At: at, Contract: parts[1], What: parts[2], ID: parts[3]})
	})
	if err == nil {
		err = failed
	}
	return err
}
