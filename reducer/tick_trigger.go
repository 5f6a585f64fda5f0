package reducer

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// tickTrigger admits the due slots of a scheduled trigger (RULES 9). Its work is
// bounded by the slots that it admits, however many are due.
func (q *question) tickTrigger(c *schema.TickTrigger) ([]events.Event, *refusal) {
	trigger, ok := q.Trigger(q.contract, c.TriggerID)
	if !ok {
		return reject(refuse(events.CodeTriggerNotFound, "no trigger %q", c.TriggerID))
	}
	t := &q.TriggerTerms(q.contract, c.TriggerID).Trigger
	if t.Kind != events.TriggerScheduled {
		return reject(refuse(events.CodeTriggerKindMismatch, "trigger %q is %s: it fires", t.ID, t.Kind))
	}
	if refused := enabled(t); refused != nil {
		return reject(refused)
	}
	if refused := q.openMission(); refused != nil {
		return reject(refused)
	}
	due, any := dueSlots(t, &trigger, q.now)
	if !any {
		return reject(refuse(events.CodeTriggerNotDue, "the next slot is %s, now is %s", state.NextSlot(t, trigger.Cursor), q.now))
	}
	return q.tick(&tick{question: q, terms: t, trigger: &trigger, due: due})
}

// slots is a run of slots of one schedule; count is over 0.
type slots struct {
	first, last, interval schema.Decimal
	count                 schema.Decimal
}

func slotsBetween(first, last, interval schema.Decimal) (slots, bool) {
	if last.Less(first) {
		return slots{}, false
	}
	count := last.Sub(first).Div(interval).Add(schema.DecimalOf(1))
	return slots{first: first, last: last, interval: interval, count: count}, true
}

// dueSlots are the slots after the cursor and not after now (RULES 9).
func dueSlots(t *schema.Trigger, trigger *state.Trigger, now schema.Decimal) (slots, bool) {
	one := schema.DecimalOf(1)
	first := state.NextSlot(t, trigger.Cursor)
	latest := now.Min(t.ExpiresAt.Sub(one)) // expiresAt > notBefore >= 0
	if latest.Less(first) {
		return slots{}, false
	}
	interval := t.Schedule.IntervalMs
	last := first.Add(latest.Sub(first).Div(interval).Mul(interval))
	return slotsBetween(first, last, interval)
}

// fresh are the slots that are at most maxAge old.
func (s slots) fresh(now, maxAge schema.Decimal) (slots, bool) {
	oldest := now.SubFloor(maxAge)
	if !s.first.Less(oldest) {
		return s, true
	}
	one := schema.DecimalOf(1)
	steps := oldest.Sub(s.first).Add(s.interval).Sub(one).Div(s.interval)
	return slotsBetween(s.first.Add(steps.Mul(s.interval)), s.last, s.interval)
}

// tick is one tickTrigger under way.
type tick struct {
	question *question
	terms    *schema.Trigger
	trigger  *state.Trigger
	due      slots

	admitted  int64
	satisfied bool            // the wait, by a slot of this tick
	cursor    *schema.Decimal // newest slot admitted or skipped
	found     []events.Event
}

// tick chooses slots by the trigger's catch-up, admits them and moves the
// cursor.
func (q *question) tick(k *tick) ([]events.Event, *refusal) {
	fresh, any := k.due.fresh(q.now, k.terms.MaxAgeMs)
	limited := k.choose(fresh, any)
	if k.cursor == nil {
		return reject(limited)
	}
	processed := k.cursor.Sub(k.due.first).Div(k.due.interval).Add(schema.DecimalOf(1))
	skipped, _ := processed.Sub(schema.DecimalOf(uint64(k.admitted))).Uint64()
	return accept(append(k.found, &events.TriggerCursorMoved{
		TriggerID: k.terms.ID, Cursor: *k.cursor, Admitted: k.admitted, Skipped: int64(skipped),
	})...)
}

// choose admits the slots that the catch-up chooses. In ALL a limited slot stops
// the tick, and its refusal is returned; else the tick covers all due slots.
func (k *tick) choose(fresh slots, any bool) *refusal {
	switch k.terms.Schedule.CatchUp {
	case events.CatchUpAll:
		if any {
			return k.catchUp(fresh)
		}
	case events.CatchUpLatest:
		if any {
			k.admit(fresh.last)
		}
	default:
		if one := schema.DecimalOf(1); any && k.due.count.Equal(one) {
			k.admit(fresh.first)
		}
	}
	k.cursor = &k.due.last
	return nil
}

// catchUp admits fresh slots, the oldest first; stale ones before them are
// skipped, and what is left over stays due.
func (k *tick) catchUp(fresh slots) *refusal {
	if k.due.first.Less(fresh.first) {
		stale := fresh.first.Sub(fresh.interval)
		k.cursor = &stale
	}
	limit, _ := k.terms.Schedule.MaxCatchUp.Min(fresh.count).Uint64()
	slot := fresh.first
	for range limit {
		if limited := k.admit(slot); limited != nil {
			return limited
		}
		done := slot
		k.cursor = &done
		slot = slot.Add(fresh.interval)
	}
	return nil
}

// admit fires the trigger for a slot, or skips the slot where its run exists or
// its wait is not to be satisfied. It returns the limit that stops the slot.
func (k *tick) admit(slot schema.Decimal) *refusal {
	q := k.question
	if refused := q.rate(k.terms, k.trigger, k.admitted); refused != nil {
		return refused
	}
	if refused := concurrency(k.terms, k.trigger, k.admitted); refused != nil {
		return refused
	}
	if k.terms.Action == events.TriggerResumeWait {
		k.resume(slot)
		return nil
	}
	runID := slotRunID(k.terms.ID, slot)
	if _, exists := q.Run(q.contract, runID); exists {
		return nil
	}
	at, depth := slot, schema.DecimalOf(1)
	k.fired(slot, runID, &events.RunStarted{
		RunID: runID, Origin: &events.Origin{TriggerID: k.terms.ID, Slot: &at, Depth: depth},
	})
	return nil
}

// resume satisfies the trigger's wait, a TIMER that is due, once.
func (k *tick) resume(slot schema.Decimal) {
	q := k.question
	wait, ok := q.Wait(q.contract, k.terms.WaitID)
	if !ok || k.satisfied || wait.State != state.WaitPending || wait.Kind != events.WaitTimer || q.now.Less(wait.Deadline) {
		return
	}
	if _, refused := q.liveRun(wait.RunID); refused != nil {
		return
	}
	k.satisfied = true
	k.fired(slot, wait.RunID, &events.WaitSatisfied{WaitID: k.terms.WaitID, RunID: wait.RunID})
}

func (k *tick) fired(slot schema.Decimal, runID string, does events.Event) {
	at := slot
	k.admitted++
	k.found = append(k.found, &events.TriggerFired{TriggerID: k.terms.ID, Slot: &at, RunID: runID}, does)
}

// slotRunID names the run of a slot.
func slotRunID(triggerID string, slot schema.Decimal) string {
	id := triggerID + "@" + slot.String()
	if utf8.RuneCountInString(id) <= 256 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "slot-" + hex.EncodeToString(sum[:])
}
