package client_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// TestHistory: a history has all decisions in order, over several pages, also
// while many ask and the service tells most of them that it is busy.
func TestHistory(t *testing.T) {
	ctx := integration(t)
	r := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{Waiting: 1}})
	c := connect(t, r.URL, client.Options{Principal: "host"})
	commands := []schema.Command{openContract("c1")}
	for i := range 40 {
		commands = append(commands, &schema.StartRun{RunID: fmt.Sprint("r", i)})
	}
	submit(ctx, t, c, "c1", commands...)
	var asking sync.WaitGroup
	for range 6 {
		asking.Go(func() {
			next := uint64(1)
			for d, err := range c.History(ctx, "c1", wire.HistoryRequest{Limit: 15, Commands: true}) {
				if err != nil {
					t.Error(err)
					return
				}
				decision, err := events.ParseDecision(d.Record)
				if err != nil || decision.CommandSeq != next || len(d.Command) == 0 {
					t.Errorf("%s, %v, want command %d", decision, err, next)
				}
				next++
			}
			if next != 42 {
				t.Errorf("it ends before command %d", next)
			}
		})
	}
	asking.Wait()
	for _, err := range c.History(ctx, "c1", wire.HistoryRequest{Run: "nowhere"}) {
		if !errors.Is(err, client.ErrNotFound) {
			t.Errorf("of a run that is not there: %v", err)
		}
	}
	for a, err := range c.Unsettled(ctx, "c1", wire.UnsettledRequest{}) {
		t.Errorf("%+v, %v: nothing was admitted", a, err)
	}
}
