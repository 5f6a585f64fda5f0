package reducertest

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func (g *Generator) trigger(l *memory) (schema.Command, string) {
	t := schema.Trigger{
		ID: g.id("trigger"), Revision: "1", Kind: g.pick(schema.TriggerKinds...), Source: "s", EventType: "e", ContractID: l.contract,
		Action: events.TriggerStartRun, Enabled: g.chance(95), NotBefore: g.from(-2000, 100), ExpiresAt: g.from(1000, 30_000),
		MaxAgeMs: schema.DecimalOf(uint64(g.rng.IntN(2000))), MaxConcurrent: schema.DecimalOf(uint64(1 + g.rng.IntN(5))),
		RateLimit: schema.DecimalOf(uint64(1 + g.rng.IntN(6))), RateWindowMs: schema.DecimalOf(uint64(1 + g.rng.IntN(1000))),
		MaxDepth: schema.DecimalOf(uint64(g.rng.IntN(3))),
	}
	if g.chance(60) {
		t.Kind = g.pick(events.TriggerScheduled, events.TriggerScheduled, events.TriggerCondition)
	}
	if g.chance(25) && len(l.waits) > 0 {
		t.Action, t.WaitID = events.TriggerResumeWait, g.late(l.waits)
	}
	switch t.Kind {
	case events.TriggerScheduled:
		t.Schedule = &schema.Schedule{
			StartMs: g.from(-3000, 100), IntervalMs: schema.DecimalOf(uint64(1 + g.rng.IntN(500))),
			CatchUp: g.pick(schema.CatchUps...), MaxCatchUp: schema.DecimalOf(uint64(1 + g.rng.IntN(10))),
		}
	case events.TriggerCondition:
		t.ConditionMode = g.pick(schema.ConditionModes...)
		t.Filter = &schema.Filter{Field: "hot", Equals: "true"}
	default:
		if g.chance(30) {
			t.Filter = &schema.Filter{Field: "kind", Equals: `{"a":[1]}`}
		}
	}
	return &schema.RegisterTrigger{Trigger: t}, "owner"
}

// fire ticks a schedule, or gives an event to another trigger.
func (g *Generator) fire(l *memory) (schema.Command, string) {
	id := g.late(l.triggers)
	terms := g.state.TriggerTerms(l.contract, id)
	if terms == nil || terms.Kind == events.TriggerScheduled {
		return &schema.TickTrigger{TriggerID: id}, "host"
	}
	event := schema.TriggerEvent{
		ID: g.id("event"), Source: "s", Type: "e", OccurredAt: g.from(-100, 1),
		Data: schema.Value(g.pick(`{"hot":true,"kind":{"a":[1]}}`, `{"hot":false,"kind":{"a":[1]}}`, `{}`)),
	}
	if len(l.events) > 0 && g.chance(10) {
		event = l.events[g.rng.IntN(len(l.events))]
	}
	runID := g.id("r")
	if wait, ok := g.state.Wait(l.contract, terms.WaitID); ok && terms.Action == events.TriggerResumeWait {
		event.Correlation, runID = wait.Correlation, wait.RunID
	}
	if terms.Kind == events.TriggerWorkflowLifecycle {
		about := g.late(l.runs)
		event.Data = schema.Value(schema.AppendString([]byte(`{"runId":`), about)) + "}"
		if run, ok := g.state.Run(l.contract, about); ok && run.Origin != nil {
			event.Depth = run.Origin.Depth
		}
	}
	l.events = append(l.events, event)
	return &schema.FireTrigger{TriggerID: id, Event: event, RunID: runID}, "host"
}
