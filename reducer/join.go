package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// join asks whether all or any of a run's waits are satisfied, and moves a
// WAITING run on (RULES 7).
func (q *question) join(c *schema.Join) ([]events.Event, *refusal) {
	run, refused := q.liveRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if len(c.WaitIDs) == 0 {
		return reject(refuse(events.CodeJoinEmpty, "a join names at least one wait"))
	}
	satisfied, refused := q.satisfied(c)
	if refused != nil {
		return reject(refused)
	}
	wanted := 1
	if c.Mode == events.JoinAll {
		wanted = len(c.WaitIDs)
	}
	if satisfied < wanted {
		return reject(refuse(events.CodeJoinNotSatisfied, "%d of %d waits are satisfied, %s is asked for", satisfied, len(c.WaitIDs), c.Mode))
	}
	found := []events.Event{&events.JoinSatisfied{RunID: c.RunID, WaitIDs: c.WaitIDs, Mode: c.Mode}}
	if run.State == events.RunWaiting {
		found = append(found, &events.RunTransitioned{RunID: c.RunID, From: run.State, To: events.RunReady})
	}
	return accept(found...)
}

// satisfied counts the satisfied waits, all of which must be the run's.
func (q *question) satisfied(c *schema.Join) (int, *refusal) {
	waits := make([]state.Wait, len(c.WaitIDs))
	for i, id := range c.WaitIDs {
		var ok bool
		if waits[i], ok = q.Wait(q.contract, id); !ok {
			return 0, refuse(events.CodeWaitNotFound, "no wait %q", id)
		}
	}
	count := 0
	for i := range waits {
		if waits[i].RunID != c.RunID {
			return 0, refuse(events.CodeWaitRunMismatch, "wait %q belongs to run %q", c.WaitIDs[i], waits[i].RunID)
		}
		if waits[i].State == state.WaitSatisfied {
			count++
		}
	}
	return count, nil
}
