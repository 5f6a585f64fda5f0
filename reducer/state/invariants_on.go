//go:build invariants

package state

import "fmt"

// selfChecks counts the decisions since the last check.
type selfChecks struct {
	unchecked, checkEvery int
}

// after checks the state after a decision was folded: after each one while the
// state is small, less often as checking costs more.
func (c *selfChecks) after(s *State) {
	if s.err != nil {
		return
	}
	if c.unchecked++; c.unchecked < c.checkEvery {
		return
	}
	if err := s.CheckInvariants(); err != nil {
		panic(fmt.Sprintf("state: after command %d: %v", s.now.CommandSeq, err))
	}
	const small = 500
	c.unchecked, c.checkEvery = 0, (len(s.cache.young)+len(s.cache.old))/small
}
