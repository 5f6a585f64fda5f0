// Package daemon is what `reducer serve` runs: it takes the data directory,
// starts the embedded server or goes to an external one, and runs the loop with
// the store, the queries and the scheduler around it. It decides nothing.
//
// What belongs to one connection (queries, scheduler) begins when a term opens
// its doors and ends with the term, so that nothing outlives a connection that
// is lost.
package daemon
