package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// maxCatchUp bounds the slots that one tick may admit (RULES 9).
const maxCatchUp = 100

// registerTrigger adds a trigger (RULES 9).
func (q *question) registerTrigger(c *schema.RegisterTrigger) ([]events.Event, *refusal) {
	t := &c.Trigger
	if _, exists := q.Trigger(q.contract, t.ID); exists {
		return reject(refuse(events.CodeTriggerExists, "trigger %q exists", t.ID))
	}
	if t.ContractID != q.contract {
		return reject(refuse(events.CodeContractMismatch, "the trigger is for contract %q, the subject for %q", t.ContractID, q.contract))
	}
	if reason := contradiction(t); reason != "" {
		return reject(refuse(events.CodeTriggerInvalid, "the trigger contradicts itself in its %s", reason).because(reason))
	}
	return accept(&events.TriggerRegistered{Trigger: *t})
}

// contradiction names the first fault of a trigger, or "".
func contradiction(t *schema.Trigger) string {
	scheduled, conditional := t.Kind == events.TriggerScheduled, t.Kind == events.TriggerCondition
	switch {
	case !t.NotBefore.Less(t.ExpiresAt):
		return "window"
	case scheduled != (t.Schedule != nil):
		return "schedule"
	case scheduled && t.Schedule.IntervalMs.IsZero():
		return "interval"
	case scheduled && catchUpInvalid(t.Schedule):
		return "maxCatchUp"
	case conditional != (t.ConditionMode != ""):
		return "conditionMode"
	case conditional && t.Filter == nil:
		return "filter"
	case (t.Action == events.TriggerResumeWait) != (t.WaitID != ""):
		return "waitId"
	case t.RateWindowMs.IsZero():
		return "rateWindow"
	case t.RateLimit.IsZero() || t.MaxConcurrent.IsZero():
		return "limits"
	}
	return ""
}

func catchUpInvalid(schedule *schema.Schedule) bool {
	if schema.DecimalOf(maxCatchUp).Less(schedule.MaxCatchUp) {
		return true
	}
	return schedule.CatchUp == events.CatchUpAll && schedule.MaxCatchUp.IsZero()
}
