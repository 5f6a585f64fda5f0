// Package audit looks at a decision log from the outside: it reads it from the
// first block, checks what a log can be checked for, decides its commands again
// and folds them into an empty store, which is then compared with another one.
//
// The loop folds a log too, in fewer steps; this package shares nothing with it
// but the one place that writes state, and looks at every record on the way:
//
//  1. Blocks follow each other without a gap, are chained, and have the
//     content that their checksum names.
//  2. Records are chained within their ledger, and their hashes are those of
//     their content.
//  3. Deciding a command again, under the rules that decided it, gives the
//     same record.
//  4. The plans that are pinned can be given back.
//  5. The state after a block has the hash that the block names.
//
// What is wrong is a [Fault]: what, where, and what to do about it.
package audit
