// Package transfer brings a decision log into an empty shard: from the blocks
// of another log or of an archive, byte for byte, or from commands in a file,
// with their recorded decisions or without (DESIGN 4).
//
// The new log is of a new generation, which is in its subject and in every
// block that is made from now on, so that a reducer of the old log reaches no
// stream of the new one (DESIGN 3). Blocks that are copied keep the generation
// that they have: they are part of a chain of hashes. So the generations along
// a log never fall, and the last one is not later than the subject's. ULIDs
// sort by their time, and [NextGeneration] makes sure of it where clocks differ.
//
// Nothing here trusts what it reads. Whoever brings in a log checks it with
// package audit before a reducer gets to see it.
package transfer
