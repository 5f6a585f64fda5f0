package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// missionState suspends, reopens or closes the mission (RULES 4). It asks for
// nothing else: suspending must always work.
func (q *question) missionState(c *schema.MissionState) ([]events.Event, *refusal) {
	from := q.Ledger(q.contract).Mission
	if from == events.MissionClosed {
		return reject(refuse(events.CodeMissionClosed, "the mission is closed for good"))
	}
	if from == c.State {
		return reject(refuse(events.CodeMissionStateUnchanged, "the mission is %s", from))
	}
	return accept(&events.MissionStateChanged{From: from, To: c.State})
}
