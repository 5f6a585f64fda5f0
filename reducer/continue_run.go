package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// continueRun begins a new segment of a run (RULES 4).
func (q *question) continueRun(c *schema.ContinueRun) ([]events.Event, *refusal) {
	run, refused := q.liveRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if q.HadSegment(q.contract, c.RunID, c.SegmentID) {
		return reject(refuse(events.CodeSegmentExists, "run %q had segment %q", c.RunID, c.SegmentID))
	}
	return accept(&events.RunContinued{RunID: c.RunID, SegmentID: c.SegmentID, Epoch: run.Epoch + 1})
}
