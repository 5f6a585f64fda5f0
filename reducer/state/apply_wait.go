package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
)

func (s *State) applyWaitCreated(c string, e *events.WaitCreated) {
	run := s.touchRun(c, e.RunID)
	wait := create[Wait](s, kindWait, c, e.WaitID)
	*wait = Wait{
		RunID: e.RunID, Kind: e.Kind, Correlation: e.Correlation, Deadline: e.Deadline,
		State: WaitPending, CreatedAt: s.now.At,
	}
	s.putPending(c, e.WaitID, wait, run, true)
}

func (s *State) applyWaitSatisfied(c string, e *events.WaitSatisfied) {
	run := s.touchRun(c, e.RunID)
	wait := existing[Wait](s, kindWait, c, e.WaitID)
	at := s.now.At
	wait.State, wait.SatisfiedAt = WaitSatisfied, &at
	s.putPending(c, e.WaitID, wait, run, false)
}

// putPending keeps what PendingWait and a scheduler look up.
func (s *State) putPending(c, waitID string, wait *Wait, run *Run, pending bool) {
	if wait.Kind != events.WaitTimer {
		prefix := appendKey(nil, kindPendingWait, c, wait.RunID)
		key := appendPart(appendPart(prefix, decimalPart(wait.Deadline)), waitID)
		s.put(prefix, string(key), pending)
		return
	}
	s.putDue(Due{At: wait.Deadline, Contract: c, What: DueWait, ID: waitID}, pending)
	if pending {
		run.PendingTimers++
	} else {
		run.PendingTimers--
	}
}

// applyJoinSatisfied changes no row but the run's: a move to READY is an event
// of its own.
func (s *State) applyJoinSatisfied(c string, e *events.JoinSatisfied) {
	s.touchRun(c, e.RunID)
}
