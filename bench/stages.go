package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Names of the tasks that run a part of the reducer as a server.
const (
	rulesTask = "rules" // the loop with its rows in memory
	storeTask = "store" // the loop with its rows in Pebble
)

// measureStages takes the reducer apart: the empty pipeline, then the loop with
// rows in memory, then with rows in Pebble, then everything. What the ratio of
// the whole to the empty pipeline loses at each step is what that step costs.
func measureStages(p plan) (*finding, error) {
	s := section{
		title: "Load: what each part costs",
		text: "The same load on more and more of the reducer, in turn, medians of the rounds. The last column is the processor time of both sides, " +
			"the empty pipeline's divided by this one's: where the processors are what bounds a stage, no ratio can be better.",
		head: []string{"in flight", "stage", "decisions/s", "ratio to empty", "server CPU/command", "load generator CPU/command", "ratio of CPU"},
	}
	for _, submitters := range []int{64, 1024} {
		rows, err := stagesOf(p, submitters)
		if err != nil {
			return nil, err
		}
		s.rows = append(s.rows, rows...)
	}
	return &finding{sections: []section{s}}, nil
}

// stagesOf measures all stages with so many commands in flight.
func stagesOf(p plan, submitters int) ([][]string, error) {
	stages := []struct {
		name string
		side begin
	}{
		{"empty pipeline", emptyPipeline},
		{"rules, rows in memory", part(rulesTask)},
		{"rules, rows in Pebble", part(storeTask)},
		{"the reducer: mirror, queries, reading through", serve},
	}
	rounds := make([][]*loaded, len(stages))
	for range p.rounds {
		for i, stage := range stages {
			l, err := loadOnce(p, stage.side, mixedWork, submitters, 1)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", stage.name, err)
			}
			rounds[i] = append(rounds[i], l)
		}
	}
	empty := middle(rounds[0])
	var rows [][]string
	for i, stage := range stages {
		l := middle(rounds[i])
		rows = append(rows, []string{
			fmt.Sprint(submitters), stage.name, fmt.Sprintf("%.0f", l.rate), fmt.Sprintf("%.2f", l.rate/empty.rate), short(l.server), short(l.client),
			fmt.Sprintf("%.2f", float64(empty.server+empty.client)/float64(l.server+l.client)),
		})
	}
	return rows, nil
}

// part starts a process that is a part of the reducer.
func part(name string) begin {
	return func(_ plan, dir string) (*server, error) {
		c, err := self("-task", name, "-path", dir)
		if err != nil {
			return nil, err
		}
		return startServer(c)
	}
}

// runPart runs a part of the reducer until a signal ends it.
func runPart(name, path string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return partOn(ctx, name, path, func(url string) { fmt.Println("ready", url) })
}

// partOn is the loop of the reducer on an embedded server, as the reducer has it,
// with nothing beside it, until ctx ends.
func partOn(ctx context.Context, name, path string, ready func(url string)) error {
	dir, err := jetlog.OpenDir(path)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // the lock ends with the process
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	server, err := jetlog.StartServer(jetlog.ServerOptions{Dir: dir, Listen: "127.0.0.1:0", Sync: jetlog.SyncAlways, Log: log})
	if err != nil {
		return err
	}
	defer server.Stop()
	var stores loop.Stores = memoryStores{}
	if name == storeTask {
		stores = pebbleStores{projections.NewHome(projections.StoreOptions{Dir: filepath.Join(path, "rows"), Log: log})}
	}
	return loop.Run(ctx, loop.Options{
		Connect: func(ctx context.Context) (loop.Session, error) {
			conn, err := server.Connect(ctx, jetlog.ConnectOptions{})
			if err != nil {
				return nil, err
			}
			return jetlog.NewSession(ctx, conn, jetlog.Streams{Generation: "bench"}, func() error {
				if err := server.OpenDoors(); err != nil {
					return err
				}
				ready(server.URL())
				return nil
			})
		},
		Stores:       stores,
		NewDecider:   func() loop.Decider { return reducer.New() },
		RulesVersion: reducer.RulesVersion,
		Log:          log,
	})
}

// pebbleStores opens the store of the projections.
type pebbleStores struct{ home *projections.Home }

func (s pebbleStores) Open() (loop.Store, error)             { return s.home.Open() }
func (s pebbleStores) SetAside(reason error) (string, error) { return s.home.SetAside(reason) }

// memoryStores opens a store in memory.
type memoryStores struct{}

func (memoryStores) Open() (loop.Store, error) {
	return &memoryStore{MemoryRows: state.NewMemory()}, nil
}
func (memoryStores) SetAside(error) (string, error) {
	return "", errors.New("rows in memory: nothing to set aside")
}

// memoryStore has all rows in memory.
type memoryStore struct {
	*state.MemoryRows
	cursor state.Cursor
}

func (s *memoryStore) Cursor() state.Cursor { return s.cursor }
func (s *memoryStore) Err() error           { return nil }
func (s *memoryStore) Close() error         { return nil }

func (s *memoryStore) Commit(changes []state.Change, cursor state.Cursor) error {
	s.MemoryRows.Commit(changes)
	s.cursor = cursor
	return nil
}
