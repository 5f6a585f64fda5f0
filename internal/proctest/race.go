//go:build race

package proctest

// Race says whether the race detector looks on.
const Race = true
