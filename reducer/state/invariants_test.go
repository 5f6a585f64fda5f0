package state_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// uncounted are the fields that nothing in the state can tell right from wrong:
// facts that stand in the log alone.
var uncounted = []string{
	"Ledger.Now", "Ledger.Head", // the chain is checked where the log is read
	"Run.SegmentID", "Run.SubjectVersion", "Run.StartedAt", "Run.UpdatedAt", "Run.PlanID", "Run.RunPlanHash", "Run.Origin",
	"Run.PausedFromWaiting",
	"Grant.Revoked", // of a root that has no grant below it
	"Approval.Approval", "Approval.Withdrawn",
	"Operation.AdmittedAt",
	"Attempt.Epoch", "Attempt.PreparedAt", "Attempt.DispatchedAt", "Attempt.SettledAt", "Attempt.Disputed",
	"Wait.Correlation", "Wait.CreatedAt", "Wait.Kind", "Wait.Deadline",
	"Verification.Assessor", "Verification.Rationale", "Verification.SubjectVersion", "Verification.Decision",
	"Verification.Authority", "Verification.Invalidated", "Verification.RecordedAt", "Verification.DecidedAt",
	"Plan.Form", "Plan.Envelope", "Plan.Identity", "Plan.Params", "Plan.ParamsHash", "Plan.PinnedSequence", "Plan.RunPlanHash",
	"Trigger.Revision", "Trigger.Condition", "Trigger.Cursor", "firing.At",
	"Node.By", "Node.CompletedAt",
	"Receipt", "Decided", "Graph", "Terms", "GrantTerms", "TriggerTerms",
	"textRow", // of receipts of events; actions and unresolved effects are told apart below
}

// TestInvariantsAlarm spoils every field of every row of states that random logs
// reach. What is counted or summed must be missed.
func TestInvariantsAlarm(t *testing.T) {
	heard := map[string]bool{}
	for seed := range uint64(6) {
		w := reducertest.NewWorld()
		if err := w.Random(reducertest.NewGenerator(seed, w.State), 300, seed); err != nil {
			t.Fatal(err)
		}
		w.Commit()
		for _, key := range keys(w.Rows) {
			value, _ := w.Rows.Get(key)
			for _, spoilt := range state.Spoil(key, value) {
				if heard[spoilt.Field] || isUncounted(spoilt.Field) {
					continue
				}
				w.Rows.Commit([]state.Change{{Key: key, Value: spoilt.Value}})
				if err := state.New(w.Rows, state.Cursor{}, 0).CheckInvariants(); err != nil {
					heard[spoilt.Field] = true
				} else {
					t.Errorf("seed %d: %s of %q changed, and nothing is missed", seed, spoilt.Field, key)
				}
			}
			w.Rows.Commit([]state.Change{{Key: key, Value: value}})
		}
	}
	t.Logf("missed: %s", strings.Join(slices.Sorted(maps.Keys(heard)), " "))
	if len(heard) < 40 {
		t.Errorf("only %d fields were ever set", len(heard))
	}
}

func isUncounted(field string) bool {
	return slices.ContainsFunc(uncounted, func(name string) bool {
		return field == name || strings.HasPrefix(field, name+".")
	})
}

// TestInvariantsMissRows takes rows away whole. Of each kind some are missed:
// those that another row speaks of.
func TestInvariantsMissRows(t *testing.T) {
	const mayGo = "PcqxeV" // plans and verifications that are not current, receipts, the index of decisions
	there, missed := map[byte]bool{}, map[byte]bool{}
	for seed := range uint64(5) {
		w := reducertest.NewWorld()
		if err := w.Random(reducertest.NewGenerator(seed, w.State), 300, seed); err != nil {
			t.Fatal(err)
		}
		w.Commit()
		for _, key := range keys(w.Rows) {
			there[key[0]] = true
			if missed[key[0]] {
				continue
			}
			value, _ := w.Rows.Get(key)
			w.Rows.Commit([]state.Change{{Key: key}})
			missed[key[0]] = state.New(w.Rows, state.Cursor{}, 0).CheckInvariants() != nil
			w.Rows.Commit([]state.Change{{Key: key, Value: value}})
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(there)) {
		if !missed[kind] && strings.IndexByte(mayGo, kind) < 0 {
			t.Errorf("no row of kind %c is missed", kind)
		}
	}
	if len(there) < 26 {
		t.Errorf("only rows of %d kinds were there", len(there))
	}
}

func keys(rows *state.MemoryRows) [][]byte {
	var all [][]byte
	_ = rows.Scan([]byte{0}, []byte{0xFF}, false, func(key, _ []byte) bool {
		all = append(all, bytes.Clone(key))
		return true
	})
	return all
}
