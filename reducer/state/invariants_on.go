//go:build invariants

package state

import "fmt"

// selfCheck checks the state after a decision was folded: after each one while
// the state is small, less often as checking costs more.
func (s *State) selfCheck() {
	if s.err != nil {
		return
	}
	if s.unchecked++; s.unchecked < s.checkEvery {
		return
	}
	if err := s.CheckInvariants(); err != nil {
		panic(fmt.Sprintf("state: after command %d: %v", s.now.CommandSeq, err))
	}
	const small = 500
	s.unchecked, s.checkEvery = 0, (len(s.cache.young)+len(s.cache.old))/small
}

// selfChecks counts the decisions since the last check.
type selfChecks struct {
	unchecked, checkEvery int
}
