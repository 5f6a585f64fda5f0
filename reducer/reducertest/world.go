package reducertest

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// World is a shard in memory: a reducer, its state and everything that it
// decided. Each decision is checked by itself, against those before it, and by
// the invariants of RULES 11.
type World struct {
	Reducer *reducer.Reducer
	State   *state.State
	Rows    *state.MemoryRows
	Log     []Entry

	// Quick leaves out CheckInvariants, for tests that check less often.
	Quick bool

	check   checker
	commits uint64
	story   story
}

// Entry is one message with its decision.
type Entry struct {
	Message  *events.Message
	Decision *events.Decision
	Given    bool // folded, and never decided by this build
}

// NewWorld returns an empty shard.
func NewWorld() *World {
	rows := state.NewMemory()
	return &World{
		Reducer: reducer.New(),
		State:   state.New(rows, state.Cursor{}, 0),
		Rows:    rows,
		check:   newChecker(),
		story:   newStory(),
	}
}

// Step decides and folds one message. The error says what is wrong with the
// decision, or with the state after it.
func (w *World) Step(m *events.Message) (*events.Decision, error) {
	d := w.Reducer.Decide(w.State, m)
	return d, w.fold(m, d, false)
}

func (w *World) fold(m *events.Message, d *events.Decision, given bool) error {
	w.State.Apply(m, d)
	w.Log = append(w.Log, Entry{m, d, given})
	if err := w.State.Err(); err != nil {
		return err
	}
	if err := w.check.decision(m, d); err != nil {
		return fmt.Errorf("command %d, %s: %w", m.Seq, d, err)
	}
	if w.Quick {
		return nil
	}
	if err := w.State.CheckInvariants(); err != nil {
		return fmt.Errorf("after command %d, %s: %w", m.Seq, d, err)
	}
	return nil
}

// Fork returns a shard that goes on where w has committed, and shares its rows:
// it must not commit.
func (w *World) Fork() *World {
	fork := NewWorld()
	fork.Rows = w.Rows
	fork.State = state.New(w.Rows, state.Cursor{StateHash: w.State.Hash()}, 0)
	fork.check = w.check.clone()
	return fork
}

// Commit ends a block: what changed goes into the rows. It returns the changes.
func (w *World) Commit() []state.Change {
	w.commits++
	changes := w.State.Take(w.commits)
	w.Rows.Commit(changes)
	w.State.Committed()
	return changes
}
