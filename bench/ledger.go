package main

import (
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// measureLedger compares attempts in a ledger of many with those in a ledger of
// a thousand, both in Pebble.
func measureLedger(p plan) (*finding, error) {
	f, err := task{name: "ledger", commands: p.ledger}.start()
	if err != nil {
		return nil, err
	}
	us := func(name string) float64 { return f.Values[name] / 1000 }
	return &finding{costs: []cost{f.cost("large-ledger")}, results: []result{
		atMost("large-ledger", f.Values["large"], 2*f.Values["small"],
			"%.2fµs of processor time per command, commit included, with %d attempts in the ledger, %.2fµs with 1,000: at most twice as much; peak %.0f MiB",
			us("large"), p.ledger, us("small"), f.Peak),
		atMost("large-ledger-admit", f.Values["largeAdmit"], 2*f.Values["smallAdmit"],
			"median of an admit alone %.2fµs, %.2fµs with 1,000 attempts", us("largeAdmit"), us("smallAdmit")),
	}}, nil
}

// largeLedger decides into Pebble without a log.
type largeLedger struct {
	store   *projections.Store
	reducer *reducer.Reducer
	state   *state.State
	source  *source
	block   uint64
}

// Sizes of a probe: of the ledger when it counts as small, and of what is timed.
const (
	smallLedger = 1_000 // attempts
	probe       = 32 * blockCommands
)

// ledgerTask grows a ledger to t.commands attempts, and times commands at its
// beginning and at its end.
func ledgerTask(t task) (values map[string]float64, err error) {
	values = map[string]float64{}
	err = inStore(func(store *projections.Store) error {
		l := &largeLedger{store: store, reducer: reducer.New(), state: state.New(store, store.Cursor(), 0), source: newSource(attemptWork)}
		if err := l.grow(smallLedger); err != nil {
			return err
		}
		if values["small"], values["smallAdmit"], err = l.probe(); err != nil {
			return err
		}
		if err := l.grow(t.commands); err != nil {
			return err
		}
		values["large"], values["largeAdmit"], err = l.probe()
		return err
	})
	return values, err
}

// commandsOf is how many commands make so many attempts: 62 make 20.
func commandsOf(attempts int) uint64 { return uint64(attempts) * 62 / 20 }

func (l *largeLedger) grow(attempts int) error {
	for l.source.seq < commandsOf(attempts) {
		if err := l.decide(l.source.take(blockCommands), nil); err != nil {
			return err
		}
	}
	return nil
}

// probe times commands, in nanoseconds of processor time, and admits alone, in
// nanoseconds that pass.
func (l *largeLedger) probe() (each, admit float64, err error) {
	list := l.source.take(probe)
	var admits []time.Duration
	began := processorTime()
	for len(list) > 0 {
		if err := l.decide(list[:blockCommands], &admits); err != nil {
			return 0, 0, err
		}
		list = list[blockCommands:]
	}
	return float64(processorTime()-began) / probe, float64(median(admits)), nil
}

// decide decides and commits one block, and appends what each admit took.
func (l *largeLedger) decide(list []events.Message, admits *[]time.Duration) error {
	for i := range list {
		began := time.Now()
		d := l.reducer.Step(l.state, &list[i])
		if admits != nil && d.Type == "admit" {
			*admits = append(*admits, time.Since(began))
		}
	}
	l.block++
	cursor := state.Cursor{LogSeq: l.block, CommandSeq: list[len(list)-1].Seq, Generation: generation, StateHash: l.state.Hash()}
	if err := l.store.Commit(l.state.Take(l.block), cursor); err != nil {
		return err
	}
	l.state.Committed()
	return l.state.Err()
}
