// Package schema is the shape of what goes over the wire: the records and commands of the AIWS 0.4 schema and the host's own
// two, strict decoding of them, canonical JSON, fingerprints, decimals of any size, and the tokens of a command's subject.
//
// It is pure. Nothing here reads a clock, a random source or the outside world, and all of it may be used by many
// goroutines at once.
//
// The published schemas are aiws-0.4.json and host.json. Members is the one place where a record's members are listed; the
// encoder and the strict decoder both work from that list. Tests compare the decoder with a JSON Schema validator over
// generated and mutated bodies.
//
// To add a command: its definition in host.json, a struct with Members in host.go, its name in CommandTypes and its arm in
// newCommand. The tests find it from there.
package schema

import _ "embed" // the published schemas

// AIWS is the published wire schema of the 25 commands, aiws-0.4.json.
//
//go:embed aiws-0.4.json
var AIWS []byte

// Host is the published schema of the host's own two commands, host.json. It refers to definitions of AIWS.
//
//go:embed host.json
var Host []byte

// MaxBody is the largest body of a command in bytes (RULES 2.0).
const MaxBody = 384 << 10
