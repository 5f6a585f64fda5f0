package main

import (
	"fmt"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

const targetDecide = 8 * time.Microsecond

// blockCommands is the size of blocks where no group commit decides it: what
// 1,024 clients make in practice is a little more.
const blockCommands = 256

// measureDecide is decide and evolve alone, without any I/O: strict decoding,
// hashing, the record and the encoding of rows included.
func measureDecide(p plan) (*finding, error) {
	f, err := task{name: "decide", commands: p.commands}.rounds(p.rounds)
	if err != nil {
		return nil, err
	}
	each := f.Values["ns"]
	return &finding{costs: []cost{f.cost("decide-evolve")}, results: []result{atMost("decide-evolve", each, float64(targetDecide),
		"%.2fµs of processor time per mixed command, at most %s; %.0f MiB with all commands and rows in memory", each/1000, targetDecide, f.Peak)}}, nil
}

func decideTask(t task) (map[string]float64, error) {
	list := newSource(mixedWork).take(t.commands)
	began := processorTime()
	if err := decideAll(list); err != nil {
		return nil, err
	}
	return map[string]float64{"ns": float64(processorTime()-began) / float64(len(list))}, nil
}

// decideAll decides and folds messages into rows in memory, block by block.
func decideAll(list []events.Message) error {
	s, r := state.New(state.NewMemory(), state.Cursor{}, 0), reducer.New()
	for i := range list {
		r.Step(s, &list[i])
		if (i+1)%blockCommands == 0 || i+1 == len(list) {
			s.Take(uint64(i/blockCommands + 1))
			s.Committed()
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("rows in memory: %w", err)
	}
	return nil
}
