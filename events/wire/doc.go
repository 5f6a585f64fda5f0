// Package wire is what a reducer and its clients agree on: the subjects,
// headers, streams and keys, and the JSON of queries and of mirrored rows
// (DESIGN 4). It needs no NATS library, no store and no server, so that both
// ends can import it.
//
// Everything here is a promise. Members may be added to an answer, so a client
// takes what it knows and leaves the rest; members of a request are exact, so
// that a misspelt filter is an error and not a longer list.
//
// A position has two numbers everywhere: seq is the commandSeq of a decision,
// and block is the sequence on the log stream of the block that holds it.
package wire
