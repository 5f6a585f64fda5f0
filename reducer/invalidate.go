package reducer

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// maxInvalidated bounds the events of one invalidate (RULES 8).
const maxInvalidated = 150

// invalidate takes back the current verification of a run and of every run that
// depends on it, breadth first (RULES 8). It may cost the number of dependents.
func (q *question) invalidate(c *schema.Invalidate) ([]events.Event, *refusal) {
	if _, refused := q.run(c.RunID); refused != nil {
		return reject(refused)
	}
	var found []events.Event
	var last *events.AssessmentInvalidated
	q.walk(c.RunID, func(runID string) bool {
		run, _ := q.Run(q.contract, runID)
		if _, live := q.current(runID, &run); !live {
			return true
		}
		if len(found) == maxInvalidated {
			last.More = true
			return false
		}
		last = &events.AssessmentInvalidated{RunID: runID, Revision: run.Verification, Cause: c.RunID}
		if runID == c.RunID {
			last.Reason = c.Reason
		}
		found = append(found, last)
		return true
	})
	if len(found) == 0 {
		return reject(refuse(events.CodeNothingToInvalidate, "neither run %q nor a run that depends on it has a live verification", c.RunID))
	}
	return accept(found...)
}

// walk visits a run and all that depend on it, breadth first, each level sorted,
// each run once, until visit returns false.
func (q *question) walk(runID string, visit func(runID string) bool) {
	seen := map[string]bool{runID: true}
	for level := []string{runID}; len(level) > 0; {
		var next []string
		for _, id := range level {
			if !visit(id) {
				return
			}
			q.Dependents(q.contract, id, func(dependent string) bool {
				if !seen[dependent] {
					seen[dependent] = true
					next = append(next, dependent)
				}
				return true
			})
		}
		slices.Sort(next)
		level = next
	}
}
