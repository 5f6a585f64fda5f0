package reducer

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// fireTrigger lets an event fire a trigger (RULES 9).
func (q *question) fireTrigger(c *schema.FireTrigger) ([]events.Event, *refusal) {
	trigger, ok := q.Trigger(q.contract, c.TriggerID)
	if !ok {
		return reject(refuse(events.CodeTriggerNotFound, "no trigger %q", c.TriggerID))
	}
	terms := &q.TriggerTerms(q.contract, c.TriggerID).Trigger
	hash := contentHash(&c.Event)
	refused := first(
		func() *refusal { return firesByEvent(terms) },
		q.openMission,
		func() *refusal { return q.triggerWindow(terms) },
		func() *refusal { return q.eventFits(terms, &c.Event) },
		func() *refusal { return q.eventDepth(terms, &c.Event) },
		func() *refusal { return q.newEvent(c, hash) },
	)
	if refused != nil {
		return reject(refused)
	}
	matches := filterMatches(terms.Filter, c.Event.Data)
	if terms.Kind != events.TriggerCondition {
		if !matches {
			return reject(refuse(events.CodeEventFiltered, "data[%q] is not what the filter wants", terms.Filter.Field))
		}
		return q.fire(c, terms, &trigger, hash, nil)
	}
	if !matches || terms.ConditionMode != events.ConditionLevel && trigger.Condition != nil && *trigger.Condition {
		return accept(&events.TriggerObserved{TriggerID: c.TriggerID, EventID: c.Event.ID, ContentHash: hash, Condition: matches})
	}
	return q.fire(c, terms, &trigger, hash, &matches)
}

// contentHash identifies what an event says, apart from its id.
func contentHash(e *schema.TriggerEvent) string {
	sum := sha256.Sum256(schema.AppendRecord(nil, e))
	return hex.EncodeToString(sum[:])
}

func firesByEvent(t *schema.Trigger) *refusal {
	if t.Kind == events.TriggerScheduled {
		return refuse(events.CodeTriggerKindMismatch, "trigger %q is SCHEDULED: it ticks", t.ID)
	}
	return enabled(t)
}

func enabled(t *schema.Trigger) *refusal {
	if !t.Enabled {
		return refuse(events.CodeTriggerDisabled, "trigger %q is disabled", t.ID)
	}
	return nil
}

func (q *question) triggerWindow(t *schema.Trigger) *refusal {
	if q.now.Less(t.NotBefore) {
		return refuse(events.CodeTriggerNotYetValid, "trigger %q begins at %s, now is %s", t.ID, t.NotBefore, q.now)
	}
	if !q.now.Less(t.ExpiresAt) {
		return refuse(events.CodeTriggerExpired, "trigger %q ended at %s, now is %s", t.ID, t.ExpiresAt, q.now)
	}
	return nil
}

func (q *question) eventFits(t *schema.Trigger, e *schema.TriggerEvent) *refusal {
	if e.Source != t.Source || e.Type != t.EventType {
		return refuse(events.CodeEventMismatch, "the event is %q of %q, the trigger takes %q of %q", e.Type, e.Source, t.EventType, t.Source)
	}
	if q.now.Add(q.terms.Policy.ClockSkewMs).Less(e.OccurredAt) {
		return refuse(events.CodeEventInFuture, "the event occurred at %s, now is %s", e.OccurredAt, q.now)
	}
	if t.MaxAgeMs.Less(q.now.SubFloor(e.OccurredAt)) {
		return refuse(events.CodeEventStale, "the event occurred at %s, now is %s, at most %s ms are allowed", e.OccurredAt, q.now, t.MaxAgeMs)
	}
	return nil
}

// eventDepth guards against triggers that fire each other without end.
func (q *question) eventDepth(t *schema.Trigger, e *schema.TriggerEvent) *refusal {
	if t.MaxDepth.Less(e.Depth) {
		return refuse(events.CodeDepthExceeded, "the event's depth is %s, at most %s is allowed", e.Depth, t.MaxDepth)
	}
	if t.Kind != events.TriggerWorkflowLifecycle {
		return nil
	}
	member, _ := e.Data.Member("runId")
	runID, _ := member.Str()
	run, refused := q.run(runID)
	if refused != nil {
		return refused
	}
	var depth schema.Decimal
	if run.Origin != nil {
		depth = run.Origin.Depth
	}
	if !depth.Equal(e.Depth) {
		return refuse(events.CodeDepthMismatch, "the event's depth is %s, run %q's %s", e.Depth, runID, depth)
	}
	return nil
}

func (q *question) newEvent(c *schema.FireTrigger, hash string) *refusal {
	switch q.EventHash(q.contract, c.TriggerID, c.Event.ID) {
	case "":
		return nil
	case hash:
		return refuse(events.CodeEventDuplicate, "trigger %q has had event %q", c.TriggerID, c.Event.ID)
	}
	return refuse(events.CodeEventIDReused, "trigger %q has had another event %q", c.TriggerID, c.Event.ID)
}

// filterMatches compares a member of the event's data; canonical texts are
// equal exactly when the values are.
func filterMatches(filter *schema.Filter, data schema.Value) bool {
	if filter == nil {
		return true
	}
	value, there := data.Member(filter.Field)
	return there && value == filter.Equals
}

// fire does what the trigger does, within its limits.
func (q *question) fire(c *schema.FireTrigger, t *schema.Trigger, trigger *state.Trigger, hash string, condition *bool) ([]events.Event, *refusal) {
	refused := first(
		func() *refusal { return q.rate(t, trigger, 0) },
		func() *refusal { return concurrency(t, trigger, 0) },
		func() *refusal {
			if t.Action == events.TriggerStartRun {
				return q.newRunID(c.RunID)
			}
			return q.answers(c, t)
		},
	)
	if refused != nil {
		return reject(refused)
	}
	depth := c.Event.Depth
	fired := &events.TriggerFired{
		TriggerID: c.TriggerID, EventID: c.Event.ID, ContentHash: hash, RunID: c.RunID, Condition: condition, Depth: &depth,
	}
	if t.Action == events.TriggerResumeWait {
		return accept(fired, &events.WaitSatisfied{WaitID: t.WaitID, RunID: c.RunID})
	}
	origin := &events.Origin{TriggerID: c.TriggerID, EventID: c.Event.ID, Depth: depth.Add(schema.DecimalOf(1))}
	return accept(fired, &events.RunStarted{RunID: c.RunID, Origin: origin})
}

// answers says whether the event answers the trigger's wait.
func (q *question) answers(c *schema.FireTrigger, t *schema.Trigger) *refusal {
	wait, ok := q.Wait(q.contract, t.WaitID)
	if !ok {
		return refuse(events.CodeWaitNotFound, "no wait %q", t.WaitID)
	}
	if wait.RunID != c.RunID {
		return refuse(events.CodeWaitRunMismatch, "wait %q belongs to run %q", t.WaitID, wait.RunID)
	}
	if _, refused := q.liveRun(wait.RunID); refused != nil {
		return refused
	}
	if wait.State != state.WaitPending {
		return refuse(events.CodeWaitNotPending, "wait %q is %s", t.WaitID, wait.State)
	}
	if c.Event.Correlation != wait.Correlation {
		return refuse(events.CodeCorrelationMismatch, "the event's correlation is not the wait's")
	}
	return q.resumable(&wait)
}

// rate checks the number of firings within the trigger's window, with pending
// more of the same command before this one. Firings are in order of time, so
// one look at the oldest that may still count is enough.
func (q *question) rate(t *schema.Trigger, trigger *state.Trigger, pending int64) *refusal {
	limit, small := t.RateLimit.Uint64()
	before := uint64(trigger.Fired + pending)
	if !small || before < limit {
		return nil
	}
	oldest := int64(before - limit + 1)
	if oldest <= trigger.Fired {
		at, ok := q.FiredAt(q.contract, t.ID, oldest)
		if !ok || !q.now.Sub(at).Less(t.RateWindowMs) {
			return nil
		}
	}
	return refuse(events.CodeRateLimited, "trigger %q fired %s times within %s ms", t.ID, t.RateLimit, t.RateWindowMs)
}

// concurrency checks the number of live runs that the trigger started, with
// pending more started by the same command.
func concurrency(t *schema.Trigger, trigger *state.Trigger, pending int64) *refusal {
	if t.Action != events.TriggerStartRun {
		return nil
	}
	if live := schema.DecimalOf(uint64(trigger.Live + pending)); !live.Less(t.MaxConcurrent) {
		return refuse(events.CodeConcurrencyLimited, "%s runs of trigger %q are live", live, t.ID)
	}
	return nil
}
