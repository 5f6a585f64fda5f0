package reducertest

import (
	"fmt"
	"math/rand/v2"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Random decides n messages of a generator and checks each. Now and then it ends
// a block, and looks at what one command changed.
func (w *World) Random(g *Generator, n int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 2))
	for range n {
		m := g.Next()
		alone := rng.IntN(8) == 0
		if alone || rng.IntN(20) == 0 {
			w.Commit()
		}
		d, err := w.Step(m)
		if err != nil {
			return err
		}
		g.Learn(m, d)
		if !alone {
			continue
		}
		if err := changedLittle(m, d, w.Commit()); err != nil {
			return fmt.Errorf("command %d, %s: %w", m.Seq, d, err)
		}
	}
	return nil
}

// changedLittle checks what a command that was not accepted changes: the
// ledger's now and head, the index of decisions and, once, the id. So a message
// that comes twice changes nothing that a rule could see but the time.
func changedLittle(m *events.Message, d *events.Decision, changes []state.Change) error {
	if d.Outcome == events.OutcomeAccepted {
		return nil
	}
	allowed := "Lqc"
	if d.Outcome == events.OutcomeDuplicate || d.Unrouted || m.IDs == nil {
		allowed = "Lq"
	}
	for _, change := range changes {
		found := false
		for i := range allowed {
			found = found || change.Key[0] == allowed[i]
		}
		if !found {
			return fmt.Errorf("it changed the row %q", change.Key)
		}
	}
	return nil
}
