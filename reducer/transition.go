package reducer

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// steps is the table of run states (RULES 4).
var steps = map[string][]string{
	events.RunReady:     {events.RunRunning, events.RunPaused, events.RunCanceling, events.RunFailed, events.RunRejected},
	events.RunRunning:   {events.RunReady, events.RunWaiting, events.RunPaused, events.RunCanceling, events.RunCompleted, events.RunFailed},
	events.RunWaiting:   {events.RunReady, events.RunPaused, events.RunCanceling, events.RunFailed},
	events.RunPaused:    {events.RunReady, events.RunWaiting, events.RunCanceling, events.RunFailed},
	events.RunCanceling: {events.RunCanceled, events.RunFailed},
}

// transition moves a run between states (RULES 4).
func (q *question) transition(c *schema.Transition) ([]events.Event, *refusal) {
	run, refused := q.liveRun(c.RunID)
	if refused != nil {
		return reject(refused)
	}
	if !slices.Contains(steps[run.State], c.To) {
		return reject(refuse(events.CodeTransitionNotAllowed, "a run does not go from %s to %s", run.State, c.To))
	}
	if refused := q.mayGo(c, &run); refused != nil {
		return reject(refused)
	}
	return accept(&events.RunTransitioned{RunID: c.RunID, From: run.State, To: c.To})
}

// mayGo is what the target state demands, in the order of RULES 4.
func (q *question) mayGo(c *schema.Transition, run *state.Run) *refusal {
	if c.To == events.RunRunning {
		return q.openMission()
	}
	waited := run.State == events.RunWaiting || run.State == events.RunPaused && run.PausedFromWaiting
	if c.To == events.RunReady && waited {
		return q.noPendingWait(c.RunID)
	}
	if !events.RunTerminal(c.To) {
		return nil
	}
	if refused := settledWork(run); refused != nil {
		return refused
	}
	switch c.To {
	case events.RunRejected:
		return noOperations(run)
	case events.RunCompleted:
		return first(
			func() *refusal { return q.noPendingWait(c.RunID) },
			func() *refusal { return q.graphComplete(run) },
		)
	}
	return nil
}

func noOperations(run *state.Run) *refusal {
	if run.Operations > 0 {
		return refuse(events.CodeRunHasOperations, "the run admitted %d operations", run.Operations)
	}
	return nil
}

// graphComplete says whether the run's graph, if it has one, is at its end.
func (q *question) graphComplete(run *state.Run) *refusal {
	if run.GraphID == "" {
		return nil
	}
	ends := q.Graph(q.contract, run.GraphID).Ends()
	if run.EndsCompleted == 0 || run.EndsCompleted+run.EndsSkipped != ends {
		return refuse(events.CodeGraphIncomplete, "of %d END nodes %d are completed and %d skipped", ends, run.EndsCompleted, run.EndsSkipped)
	}
	return nil
}
