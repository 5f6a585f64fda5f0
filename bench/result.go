package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// result is one ratio that has a target. It is made so that more is better: of
// what should be small it is the bound divided by what was measured.
type result struct {
	name   string
	ratio  float64
	target float64
	what   string // the figures
}

// atLeast compares a figure that should be large.
func atLeast(name string, measured, bound float64, what string, args ...any) result {
	return result{name: name, ratio: measured / bound, target: 1, what: fmt.Sprintf(what, args...)}
}

// atMost compares a figure that should be small.
func atMost(name string, measured, bound float64, what string, args ...any) result {
	return result{name: name, ratio: bound / measured, target: 1, what: fmt.Sprintf(what, args...)}
}

func (r result) met() bool { return r.ratio >= r.target }

func (r result) line() string {
	return fmt.Sprintf("bench %s ratio=%.2f target=%.2f  # %s", r.name, r.ratio, r.target, r.what)
}

// section is a table of figures that explain results, or have no target.
type section struct {
	title, text string
	head        []string
	rows        [][]string
}

// cost is what a process of a measurement took, its preparations included.
type cost struct {
	name string
	cpu  time.Duration
	peak float64 // MiB
}

// finding is what one measurement found.
type finding struct {
	results  []result
	sections []section
	costs    []cost
}

// median of an even number of values is the lower one of the two in the middle.
func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
