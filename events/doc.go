// Package events defines what the reducer writes down: the message that came
// in, the decision on it, the events of an accepted decision, and the block
// that carries a batch of both on the decision log (RULES 2, DESIGN 2).
//
// Everything here is a wire format. Names are for ever: an event or a code may
// be added, never renamed or reused, and a released event keeps its members.
// Each event lists its members once, in canonical order, in its Members method;
// that one list encodes it and decodes it strictly.
package events
