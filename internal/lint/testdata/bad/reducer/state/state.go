// Package state is a sample.
package state

// State is documented, its method is not.
type State struct{}

func (s *State) Take() {} // want doc

// want+2 doc

type Row struct{}

type hidden struct{}

func (hidden) Open() {}

// Limits are documented as a group.
const (
	Low  = 1
	High = 2
)

// want+2 doc

var Bare = 3
