// Package jetlog puts the loop's inbox and log on NATS JetStream, and runs the
// embedded server (DESIGN 2 and 3).
//
// It is the only package that knows NATS errors: whatever happens on the wire
// leaves here as one of the errors of package loop. It keeps nothing between
// two terms. A [Conn] never reconnects and has no reconnect buffer; when it is
// lost, the term on it ends, and what was not known to be stored is unknown.
//
// What the server does that this package must live with is written down where
// it matters; the list stands in DESIGN 2 and was read in, or measured on,
// nats-server 2.15.2. Check it again on an upgrade.
package jetlog
