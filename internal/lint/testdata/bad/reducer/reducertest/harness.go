// Package reducertest is a sample.
package reducertest

// Check does nothing.
func Check() {}
