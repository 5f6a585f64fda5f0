package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// resume satisfies a wait with its answer, or a timer that is due (RULES 7).
func (q *question) resume(c *schema.Resume) ([]events.Event, *refusal) {
	wait, ok := q.Wait(q.contract, c.WaitID)
	if !ok {
		return reject(refuse(events.CodeWaitNotFound, "no wait %q", c.WaitID))
	}
	if wait.State != state.WaitPending {
		return reject(refuse(events.CodeWaitNotPending, "wait %q is %s", c.WaitID, wait.State))
	}
	if _, refused := q.liveRun(wait.RunID); refused != nil {
		return reject(refused)
	}
	if c.Correlation != wait.Correlation {
		return reject(refuse(events.CodeCorrelationMismatch, "the correlation is not the wait's"))
	}
	if refused := q.resumable(&wait); refused != nil {
		return reject(refused)
	}
	return accept(&events.WaitSatisfied{WaitID: c.WaitID, RunID: wait.RunID})
}
