// Package state holds what the reducer knows: the rows of every ledger, folded
// from the decision log (DESIGN 1).
//
// State has two doors. Apply folds one decision and is the only writer; it
// never refuses, because decide has said yes (STYLE rule 4). The read methods
// return values, never pointers into the state, so a rule cannot write.
//
// State keeps rows in a write-through cache over the small interface Rows: a
// map for fold and tests, Pebble for a running reducer. Take hands out what
// changed since the last Take, each row once; Committed says that those rows
// are in Rows now. A read error of Rows poisons the state (Err): everything
// since the last Take is wrong and the whole State must be dropped.
//
// Nothing here costs more because a ledger is large: what a rule needs to
// count is kept as a counter, and what it needs to find is kept as a key.
package state
