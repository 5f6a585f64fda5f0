// Package client is what a Go program needs to work with a reducer over NATS:
// submit commands and get their decisions, ask for documents, watch rows,
// read the decision log, and make external calls at most once.
//
//	c, err := client.New(nc, client.Options{Principal: "buyer"})
//	decision, err := c.Submit(ctx, client.Command{Contract: "c1", Body: &schema.StartRun{RunID: "r1"}})
//
// A decision is an answer only when it is durable, and every command has
// exactly one. So a program that saw no answer sends the same command again
// under the same id; Submit does that by itself until its context ends. What it
// returns then is [Uncertain], with the id to go on with.
//
// It links neither the store nor the server. All methods are safe for
// concurrent use, and none of them starts a goroutine that outlives it.
package client
