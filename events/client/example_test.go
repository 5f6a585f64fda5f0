package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// demo runs a reducer in this process, so that the examples run by themselves.
// A program connects to one that runs elsewhere:
//
//	nc, err := nats.Connect("nats://127.0.0.1:4222")
func demo() (nc *nats.Conn, stop func()) {
	dir, err := os.MkdirTemp("", "aiws")
	if err != nil {
		log.Fatal(err)
	}
	reducer, err := clienttest.Start(context.Background(), dir, clienttest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if nc, err = nats.Connect(reducer.URL); err != nil {
		log.Fatal(err)
	}
	return nc, func() {
		nc.Close()
		if err := errors.Join(reducer.Stop(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// contract is a ledger in which runs can be started.
func contract(id string) *schema.OpenContract {
	return &schema.OpenContract{Contract: schema.Contract{
		ID: id, MissionID: "equip-kim", Budget: schema.DecimalOf(1600), Deadline: schema.MustDecimal("4102444800000"),
		Criteria: []string{"delivered"}, Actions: []string{"purchase"}, Resources: []string{"computer-shop"},
		MaxAttempts: schema.DecimalOf(3), MaxAuthorizationAgeMs: schema.DecimalOf(60_000),
	}}
}

// Publish commands and wait for their decisions.
func ExampleClient_Submit() {
	nc, stop := demo()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	c, err := client.New(nc, client.Options{Principal: "finance"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	if _, err := c.Submit(ctx, client.Command{Contract: "onboarding", Body: contract("onboarding")}); err != nil {
		log.Fatal(err)
	}
	start := client.Command{Contract: "onboarding", ID: "start-laptop", Body: &schema.StartRun{RunID: "laptop"}}
	for range 2 { // sending again is harmless: it is decided once
		d, err := c.Submit(ctx, start)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(d.CommandSeq, d.Outcome, d.Events[0].Type(), "repeated:", d.Repeated)
	}

	_, err = c.Submit(ctx, client.Command{Contract: "onboarding", Body: &schema.StartRun{RunID: "laptop"}})
	var refused *client.Rejection
	if errors.As(err, &refused) && refused.Code() == events.CodeRunExists {
		fmt.Println("refused:", refused.Code())
	}
	// Output:
	// 2 accepted runStarted repeated: false
	// 2 accepted runStarted repeated: true
	// refused: RUN_EXISTS
}

// Replay what happened from the decision log, and follow it.
func ExampleClient_Read() {
	nc, stop := demo()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	c, err := client.New(nc, client.Options{Principal: "finance"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for _, body := range []schema.Command{
		contract("onboarding"),
		&schema.StartRun{RunID: "laptop"},
		&schema.StartRun{RunID: "laptop"},
		&schema.Transition{RunID: "laptop", To: "RUNNING"},
	} {
		_, _ = c.Submit(ctx, client.Command{Contract: "onboarding", Body: body}) // one of them is refused
	}

	for e, err := range c.Read(ctx, client.ReadOptions{From: 2}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Decision.CommandSeq, e.Decision.Type, e.Decision.Outcome)
	}
	// Output:
	// 2 startRun accepted
	// 3 startRun rejected
	// 4 transition accepted
}

// Subscribe to rows: what is there, then each change.
func ExampleClient_Watch() {
	nc, stop := demo()
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()

	c, err := client.New(nc, client.Options{Principal: "finance"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	submit := func(body schema.Command) {
		if _, err := c.Submit(ctx, client.Command{Contract: "onboarding", Body: body}); err != nil {
			log.Fatal(err)
		}
	}
	submit(contract("onboarding"))
	submit(&schema.StartRun{RunID: "laptop"})

	for change, err := range c.Watch(ctx, client.WatchOptions{Contract: "onboarding", Projection: "runs"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("command %d: %s %s %s\n", change.Seq, change.Projection, change.Key, state(change))
		if state(change) == "RUNNING" {
			break // to go on later: client.WatchOptions{..., Since: change.Seq}
		}
		submit(&schema.Transition{RunID: "laptop", To: "RUNNING"})
	}
	// Output:
	// command 2: runs laptop READY
	// command 3: runs laptop RUNNING
}
