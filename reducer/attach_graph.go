package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// attachGraph gives a run its graph, before its first operation (RULES 10).
func (q *question) attachGraph(c *schema.AttachGraph) ([]events.Event, *refusal) {
	run, refused := q.liveRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	graph := q.Graph(q.contract, c.GraphID)
	if graph == nil {
		return reject(refuse(events.CodeGraphNotFound, "no graph %q", c.GraphID))
	}
	if run.GraphID != "" {
		return reject(refuse(events.CodeGraphAttached, "the run has graph %q", run.GraphID))
	}
	if refused := noOperations(&run); refused != nil {
		return reject(refused)
	}
	return accept(&events.GraphAttached{RunID: c.RunID, GraphID: c.GraphID, GraphHash: graph.Hash})
}
