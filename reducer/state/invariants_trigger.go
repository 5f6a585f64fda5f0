package state

import (
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// checkTriggers checks each trigger's counters, its kept firings and its next
// due slot.
func (a *audit) checkTriggers(l *ledgerAudit) {
	live := map[string]int64{}
	for _, n := range l.runs {
		if n.row.Origin != nil && !n.row.Terminal() {
			live[n.row.Origin.TriggerID]++
		}
	}
	for _, n := range l.triggers {
		terms := l.triggerTerms[n.id]
		if terms == nil || terms.Kind != n.row.Kind || terms.Action != n.row.Action || terms.Enabled != n.row.Enabled {
			a.failf("trigger %q is not as it was registered", n.id)
			continue
		}
		a.same(n.row.Live, live[n.id], "trigger %q live runs", n.id)
		delete(live, n.id)
		if terms.MaxConcurrent.Less(schema.DecimalOf(uint64(n.row.Live))) {
			a.failf("trigger %q has %d live runs of %s", n.id, n.row.Live, terms.MaxConcurrent)
		}
		a.checkFirings(l, n.id, n.row, terms)
		a.checkCursor(l, n.id, n.row, &terms.Trigger)
	}
	a.same(int64(len(live)), 0, "contract %q triggers that started runs and are not there", l.id)
}

// checkFirings checks the times of the newest firings: as many as the rate
// limit asks for, in order, and never more than the limit within a window.
func (a *audit) checkFirings(l *ledgerAudit, id string, trigger *Trigger, terms *TriggerTerms) {
	firings := l.firings[id]
	slices.SortFunc(firings, func(x, y named[*firing]) int { return strings.Compare(x.id, y.id) })
	kept := trigger.Fired
	if limit, small := terms.RateLimit.Uint64(); small && uint64(kept) > limit {
		kept = int64(limit)
	}
	a.same(int64(len(firings)), kept, "trigger %q kept firings", id)
	for i, n := range firings {
		if n.id != sequencePart(uint64(trigger.Fired-int64(len(firings))+int64(i)+1)) {
			a.failf("trigger %q: kept firing %d is not the one that it should be", id, i)
		}
		if i > 0 && n.row.At.Less(firings[i-1].row.At) || l.ledger.Now.Less(n.row.At) {
			a.failf("trigger %q fired at %s, out of order or later than now %s", id, n.row.At, l.ledger.Now)
		}
	}
	last := trigger.LastFiredAt
	if (last != nil) != (len(firings) > 0) || last != nil && !last.Equal(firings[len(firings)-1].row.At) {
		a.failf("trigger %q: lastFiredAt is not the newest firing", id)
	}
}

// checkCursor checks that the cursor is a slot that was due, and the entry of
// the next one.
func (a *audit) checkCursor(l *ledgerAudit, id string, trigger *Trigger, terms *schema.Trigger) {
	if terms.Kind != events.TriggerScheduled {
		if trigger.Cursor != nil {
			a.failf("trigger %q is %s and has a cursor", id, terms.Kind)
		}
		return
	}
	if c := trigger.Cursor; c != nil {
		before := c.SubFloor(schema.DecimalOf(1))
		if slot := NextSlot(terms, &before); !c.IsZero() && !slot.Equal(*c) || l.ledger.Now.Less(*c) || !c.Less(terms.ExpiresAt) {
			a.failf("trigger %q: cursor %s is no slot, or was not due", id, c)
		}
	}
	if next := NextSlot(terms, trigger.Cursor); terms.Enabled && next.Less(terms.ExpiresAt) {
		a.explain(Due{At: next, Contract: l.id, What: DueTrigger, ID: id})
	}
}
