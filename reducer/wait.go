package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// wait adds a pending wait to a run (RULES 7).
func (q *question) wait(c *schema.Wait) ([]events.Event, *refusal) {
	if _, refused := q.liveRun(c.RunID); refused != nil {
		return reject(refused)
	}
	if _, exists := q.Wait(q.contract, c.WaitID); exists {
		return reject(refuse(events.CodeWaitExists, "wait %q exists", c.WaitID))
	}
	if !q.now.Less(c.Deadline) {
		return reject(refuse(events.CodeWaitDeadlinePast, "the deadline is %s, now is %s", c.Deadline, q.now))
	}
	if q.terms.Contract.Deadline.Less(c.Deadline) {
		return reject(refuse(events.CodeWaitDeadlineTooLate, "the deadline is %s, the contract's %s", c.Deadline, q.terms.Contract.Deadline))
	}
	return accept(&events.WaitCreated{
		RunID: c.RunID, WaitID: c.WaitID, Correlation: c.Correlation, Deadline: c.Deadline, Kind: c.Kind,
	})
}
