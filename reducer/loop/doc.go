// Package loop turns commands into decisions, exactly one each, whatever
// crashes (DESIGN 3). It declares what it needs of the world in [Session],
// [Inbox], [Log] and [Store], and knows neither NATS nor Pebble nor a clock.
//
// A [Term] is one connection to the streams, and the calling order is:
//
//	Recover   fold the log's tail into the store; nothing may be ahead of the log
//	Open      purge the inbox up to the log, then let publishers in, then read
//	Step      again and again: decide, append one block, fold, archive, reply
//
// [Term.Step] holds the order that everything else rests on, in one place.
// A term that returned an error is over: it is dropped with all it had in
// memory, and the next one begins from the log. [Run] is the wrapper that
// makes terms until it must not: goroutines and waiting are there and in
// [Options].Go, so that a simulator drives a Term step by step on one
// goroutine.
//
// # What holds
//
//  1. A command is answered only after the block that decides it is known to
//     be stored and its rows are folded.
//  2. A block is sent only when the block before it is known to be stored. It
//     may be decided before that.
//  3. Each block names the sequence it expects before it (the fence). Whoever
//     finds another block there is not the writer any more and stops.
//  4. An error or a time-out of an append says nothing about what is stored.
//     Only reading the sequence from the leader does.
//  5. Rows, receipts and the cursor are one batch of the store.
//  6. The inbox loses a command only after the log has its decision.
package loop
