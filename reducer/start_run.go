package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// startRun starts a run (RULES 4).
func (q *question) startRun(c *schema.StartRun) ([]events.Event, *refusal) {
	if refused := q.openMission(); refused != nil {
		return reject(refused)
	}
	if refused := q.newRunID(c.RunID); refused != nil {
		return reject(refused)
	}
	return accept(&events.RunStarted{RunID: c.RunID})
}
