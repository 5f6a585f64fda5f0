package audit

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// pinLines are two runs with a plan each.
const pinLines = `{"contract":"c","principal":"p","at":1000,"command":{"type":"openContract","contract":{"id":"c","missionId":"m","aiwsEdition":"0.4","profile":"finite-v1","budget":"1","deadline":"90000","criteria":["done"],"actions":["buy"],"resources":["shop"],"requiresApproval":false,"maxAttempts":"1","maxAuthorizationAgeMs":"1","features":[]}}}
{"contract":"c","principal":"p","at":1000,"command":{"type":"startRun","runId":"r"}}
{"contract":"c","principal":"p","at":1000,"command":{"type":"startRun","runId":"s"}}
{"contract":"c","principal":"p","at":1000,"command":{"type":"pinPlan","runId":"r","planId":"p","form":"opaque","document":{"steps":["water","weed"]}}}
{"contract":"c","principal":"p","at":1000,"command":{"type":"pinPlan","runId":"s","planId":"p","form":"opaque","document":{"steps":["wait"]}}}
`

// pinned is a log with plans, and a store that was folded from it.
func pinned(t *testing.T, w writer) (*memoryLog, *memoryStore, *Summary, error) {
	t.Helper()
	name := t.TempDir() + "/pins.jsonl"
	if err := os.WriteFile(name, []byte(pinLines), 0o600); err != nil {
		t.Fatal(err)
	}
	w.perBlock = 2
	log, store := w.write(t, name), newStore()
	walk := Walk{Store: store, Decide: w.decided == nil}
	summary, err := walk.Run(t.Context(), log)
	return log, store, summary, err
}

// Each part of the row of a pin that a live store has otherwise is found, and
// the fault says which plan and what differs.
func TestComparePins(t *testing.T) {
	key := func(runID string) []byte { return []byte("Pc\x00\x01" + runID + "\x00\x01p\x00\x01") }
	swap := func(from, to string) func(value, _ []byte) []byte {
		return func(value, _ []byte) []byte { return bytes.Replace(value, []byte(from), []byte(to), 1) }
	}
	for _, c := range []struct {
		name, want string
		change     func(value, other []byte) []byte
	}{
		{"nothing", "", func(value, _ []byte) []byte { return value }},
		{"text", "run_plan_corrupt: run \"r\", plan \"p\": hash: the envelope hashes to ", swap("weed", "feed")},
		{"text that is no JSON", "run_plan_corrupt: run \"r\", plan \"p\": json: ", swap(`["water"`, `{"water"`)},
		{"hash", "run_plan_corrupt: run \"r\", plan \"p\": event: the event says the hash ", swap("sha256:", "sha265:")},
		{"form", "run_plan_corrupt: run \"r\", plan \"p\": event: the event says the form opaque, the row ", swap("opaque", "opaqua")},
		{"sequence", "run_plan_corrupt: run \"r\", plan \"p\": event: the row says that command 5 pinned it", func(value, _ []byte) []byte { value[len(value)-1]++; return value }},
		{"row of another run", "run_plan_corrupt: run \"r\", plan \"p\": event: the row says that command 5 pinned it", func(_, other []byte) []byte { return other }},
		{"row of another run, its sequence set right", "run_plan_corrupt: run \"r\", plan \"p\": event: the event says the hash ", func(_, other []byte) []byte {
			other[len(other)-1]--
			return other
		}},
		{"no row", "run_plan_missing: run \"r\", plan \"p\": row: no plan is pinned", func(_, _ []byte) []byte { return nil }},
		{"half a row", "plan \"p\" of run \"r\": ", func(value, _ []byte) []byte { return value[:20] }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, live, _, err := pinned(t, writer{})
			if err != nil {
				t.Fatal(err)
			}
			_, replayed, _, _ := pinned(t, writer{})
			value, _ := live.Get(key("r"))
			other, _ := live.Get(key("s"))
			live.Commit([]state.Change{{Key: key("r"), Value: c.change(bytes.Clone(value), bytes.Clone(other))}}, live.cursor)
			err = CompareAt(live.cursor, live, replayed.cursor, replayed)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var fault *Fault
			if !errors.As(err, &fault) || !strings.Contains(fault.What, c.want) || fault.Command != 4 || fault.Ledger != "c" || fault.Block != 2 || loop.ExitCode(err) != 3 {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A store that cannot be asked is no fault of it.
func TestComparePinsAsked(t *testing.T) {
	_, replayed, summary, err := pinned(t, writer{})
	if err != nil || summary.Pins != 2 {
		t.Fatalf("%+v, %v", summary, err)
	}
	silent := errors.New("no answer")
	err = ComparePins(func(string, string) (schema.Value, bool, error) { return "", false, silent }, replayed)
	if !errors.Is(err, silent) || loop.ExitCode(err) != 1 {
		t.Errorf("got %v", err)
	}
	err = ComparePins(func(string, string) (schema.Value, bool, error) { return `{"form":7}`, true, nil }, replayed)
	if loop.ExitCode(err) != 3 {
		t.Errorf("got %v", err)
	}
}

// A pin that was forged on the log, with every hash and chain set right, cannot
// be given back; and it is not what its command is decided as.
func TestForgedPin(t *testing.T) {
	for name, change := range map[string]func(e *events.PlanPinned){
		"hash": func(e *events.PlanPinned) { e.RunPlanHash = schema.HashOf(nil) },
		"text": func(e *events.PlanPinned) { e.Envelope = `{"steps":[]}` },
		"both": func(e *events.PlanPinned) { e.Envelope, e.RunPlanHash = `{ }`, schema.HashOf([]byte(`{ }`)) },
	} {
		forge := func(_ int, _ *events.Message, d *events.Decision) {
			if d.CommandSeq == 4 {
				e := *d.Events[0].(*events.PlanPinned)
				change(&e)
				d.Events = []events.Event{&e}
				d.Seal(d.Prev)
			}
		}
		log, _, _, err := pinned(t, writer{decided: forge})
		if err == nil || !strings.Contains(err.Error(), `command 4, ledger "c": the plan that it pins cannot be rehydrated: run_plan_corrupt: run "r"`) || loop.ExitCode(err) != 3 {
			t.Errorf("%s: %v", name, err)
		}
		walk := Walk{Store: newStore(), Decide: true}
		if _, err := walk.Run(t.Context(), log); err == nil || !strings.Contains(err.Error(), "decided again it is another record") {
			t.Errorf("%s, decided again: %v", name, err)
		}
	}
}
