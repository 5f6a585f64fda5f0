// Package projections keeps what the decision log says in a form that can be
// asked: the rows of every ledger in Pebble, and what is made from them.
//
// Nothing here is a source of truth. The store may be deleted at any time; the
// log builds it again (DESIGN 1). It runs without a write-ahead log, so a crash
// takes what was not flushed, and never leaves anything but a state that was
// there after some commit: rows and cursor are one batch.
package projections
