//go:build !invariants

package state

// selfCheck does nothing: a build tagged invariants checks the state here.
func (*State) selfCheck() {}

// selfChecks keeps nothing.
type selfChecks struct{}
