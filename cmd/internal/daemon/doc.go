// Package daemon is what `reducer serve` runs: it takes the data directory,
// starts the embedded server or goes to an external one, and runs the loop with
// the store, the queries and the scheduler around it. It decides nothing.
//
// What uses a term's connection (the scheduler) begins when the term opens its
// doors and ends with it, so that nothing outlives a connection that is lost.
// What has connections of its own (the mirror, the queries) lives as long as the
// daemon.
package daemon
