package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
)

func (s *State) applyTriggerRegistered(c string, e *events.TriggerRegistered) {
	terms := create[TriggerTerms](s, kindTriggerTerms, c, e.Trigger.ID)
	terms.text, terms.Trigger = recordText(&e.Trigger), e.Trigger
	trigger := create[Trigger](s, kindTrigger, c, e.Trigger.ID)
	*trigger = Trigger{
		Revision: e.Trigger.Revision, Kind: e.Trigger.Kind, Action: e.Trigger.Action, Enabled: e.Trigger.Enabled,
	}
	s.scheduleDue(c, &e.Trigger, nil, true, nil)
}

func (s *State) applyTriggerObserved(c string, e *events.TriggerObserved) {
	condition := e.Condition
	existing[Trigger](s, kindTrigger, c, e.TriggerID).Condition = &condition
	s.setText(kindEvent, e.ContentHash, c, e.TriggerID, e.EventID)
}

func (s *State) applyTriggerFired(c string, e *events.TriggerFired) {
	trigger := existing[Trigger](s, kindTrigger, c, e.TriggerID)
	at := s.now.At
	trigger.Fired++
	trigger.LastFiredAt = &at
	if e.Condition != nil {
		condition := *e.Condition
		trigger.Condition = &condition
	}
	if e.EventID != "" {
		s.setText(kindEvent, e.ContentHash, c, e.TriggerID, e.EventID)
	}
	s.applyFiring(c, e.TriggerID, trigger.Fired)
}

// applyFiring keeps the times of the newest rateLimit firings.
func (s *State) applyFiring(c, triggerID string, n int64) {
	create[firing](s, kindFiring, c, triggerID, sequencePart(uint64(n))).At = s.now.At
	limit, small := s.TriggerTerms(c, triggerID).RateLimit.Uint64()
	if small && uint64(n) > limit {
		s.remove(kindFiring, c, triggerID, sequencePart(uint64(n)-limit))
	}
}

func (s *State) applyTriggerCursorMoved(c string, e *events.TriggerCursorMoved) {
	trigger := existing[Trigger](s, kindTrigger, c, e.TriggerID)
	before, cursor := trigger.Cursor, e.Cursor
	trigger.Cursor = &cursor
	s.scheduleDue(c, &s.TriggerTerms(c, e.TriggerID).Trigger, before, false, &cursor)
}
