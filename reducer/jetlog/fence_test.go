package jetlog_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// external runs a reducer with a store of its own against a server that others
// use too.
func external(ctx context.Context, t *testing.T, url string, status *loop.Status) <-chan error {
	t.Helper()
	path := t.TempDir() + "/store"
	ended := make(chan error, 1)
	go func() {
		ended <- loop.Run(ctx, loop.Options{
			Connect: func(ctx context.Context) (loop.Session, error) {
				conn, err := jetlog.Connect(ctx, jetlog.ConnectOptions{URL: url})
				if err != nil {
					return nil, err
				}
				return jetlog.NewSession(ctx, conn, streams, nil)
			},
			Stores:       stores{projections.NewHome(projections.StoreOptions{Dir: path})},
			NewDecider:   func() loop.Decider { return reducer.New() },
			RulesVersion: reducer.RulesVersion,
			Status:       status,
		})
	}()
	return ended
}

// TestTwoReducers: of two reducers on one log one wins, whichever, and the other
// ends fenced; every command has one decision.
func TestTwoReducers(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a server")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir, err := jetlog.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	server, err := jetlog.StartServer(jetlog.ServerOptions{Dir: dir, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	if err := server.OpenDoors(); err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	status := [2]*loop.Status{loop.NewStatus(), loop.NewStatus()}
	ended := [2]<-chan error{}
	for i := range ended {
		ended[i] = external(running, t, server.URL(), status[i])
		for !status[i].Info().Ready() {
			time.Sleep(time.Millisecond)
		}
	}
	nc, err := nats.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	submit(t, nc, 16, 0, 500)

	var winner <-chan error
	select {
	case err = <-ended[0]:
		winner = ended[1]
	case err = <-ended[1]:
		winner = ended[0]
	case <-ctx.Done():
		t.Fatal("both go on")
	}
	if !errors.Is(err, loop.ErrFenced) || loop.ExitCode(err) != 5 {
		t.Errorf("the loser ended with %v", err)
	}
	stop()
	if err := <-winner; err != nil {
		t.Errorf("the winner ended with %v", err)
	}
	checkOnce(ctx, t, server, 500)
}

// checkOnce replays the log and wants each command id decided once.
func checkOnce(ctx context.Context, t *testing.T, server *jetlog.Server, commands int) {
	t.Helper()
	conn, err := server.Connect(ctx, jetlog.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	log, err := jetlog.OpenLog(ctx, conn, streams)
	if err != nil {
		t.Fatal(err)
	}
	store, err := projections.OpenStore(projections.StoreOptions{Dir: t.TempDir() + "/store"})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	decided := map[string]int{}
	folder := loop.NewFolder(store, 0)
	folder.Folded = func(f *loop.Folded) {
		for _, d := range f.Decisions {
			decided[d.CommandID]++
		}
	}
	if err := fold(ctx, log, folder); err != nil {
		t.Fatal(err)
	}
	for n := range commands {
		if id := fmt.Sprintf("id-%d", n); decided[id] != 1 {
			t.Errorf("%s was decided %d times", id, decided[id])
		}
	}
}
