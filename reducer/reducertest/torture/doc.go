// Package torture holds a test that runs the real programs and ends them as
// roughly as it can: `reducer serve` works for several `ingest --wait` clients
// and is killed at any moment, with or without its store, its checkpoints and
// its NATS server; sometimes two reducers work on one log. What the clients
// heard is then held against the log (docs/torture.md).
//
// The simulator beside it (package sim) tries far more orders of things, but in
// a world that it makes up. Here the disk, the network and the processes are
// real, so a seed chooses what is done, and not what comes of it.
package torture
