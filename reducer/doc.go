// Package reducer decides AIWS commands: the rules of docs/rules, one file
// per command, and nothing else.
//
// Decide is a pure function of the state, the message and nothing more: no
// clock, no random source, no I/O, no logger. Two reducers that are given the
// same log decide alike, byte for byte. It changes nothing; state.Apply folds
// what it decided.
//
// The order of things, which package loop keeps:
//
//	d := r.Decide(s, m)       // what happens to m
//	s.Apply(m, d)             // fold it, so that the next message sees it
//	changes := s.Take(seq)    // at the end of a block: the rows to write
//
// # How to add a command
//
//  1. Its schema and its struct with Members in package schema; its name in
//     schema.CommandTypes.
//  2. Its events in package events (with New and Types), its codes in code.go.
//  3. A scenario in testdata/scenarios for each rule and code.
//  4. Its rules in a file of its own here, in the rulebook's order, and its arm
//     in decide.
//  5. An arm in state.Apply for each new event, and a row kind or field for what
//     later rules will ask. A released arm never changes.
//  6. Its paragraph in docs/rules, and RulesVersion if an old command decides
//     differently from now on.
package reducer
