// Package sim runs package loop against a world that it makes up: streams that
// forget, lose their answers and answer late, stores that lose their tails,
// reducers that are killed or paused between any two steps, clocks that jump,
// and clients that send again until they know what became of a command. It is
// how DESIGN 3 is proved: an independent checker holds every answer against the
// log, and whatever one seed did, it does again.
//
// # How it is driven
//
// A [Script] is a world (how many reducers, clients, commands), a seed for the
// order of things, and a list of [Fault], each with the step at which it
// happens. [Generate] makes one from a seed; [Parse] reads one as text; [Shrink]
// takes faults out of a failing one for as long as it still fails.
//
// [Run] runs the real loop.Run of each reducer on goroutines in a synctest
// bubble. All of them stop at every call of a port (see call), and only when all
// have stopped does the scheduler choose one thing to happen: an effect on the
// other side, an answer that arrives, a message of a client, time that passes.
// So one step happens at a time, and the choice is the seed's.
//
// # What is checked
//
// See rules in check.go, and docs/simulation.md.
package sim
