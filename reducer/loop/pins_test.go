package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// planned is a world of two runs with the same plans: r has each active once, and
// other never.
type planned struct {
	*world
	story *reducertest.World
	logs  *bytes.Buffer
}

const graphPlan, runPlan = "graph", "workflow" // plan ids

// say puts a command into the inbox, written as a scenario writes it.
func (p *planned) say(t *testing.T, line, below string) {
	t.Helper()
	m, err := p.story.Message(line, below)
	if err != nil {
		t.Fatal(err)
	}
	m.Seq, m.IDs = p.nextSeq, []string{fmt.Sprint("id-", p.nextSeq)}
	p.commands = append(p.commands, Command{Message: *m, Reply: fmt.Sprint("_INBOX.", m.Seq)})
	p.nextSeq++
}

// firstVector is the first case of a file: a good plan.
func firstVector(t *testing.T, name string) (v struct {
	Envelope                string
	Description, Resolution json.RawMessage
},
) {
	t.Helper()
	file, err := os.Open("../../testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	d := json.NewDecoder(file)
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func toJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// pinRunPlan pins a kxm.run-plan.v2 made for the run.
func (p *planned) pinRunPlan(t *testing.T, runID string) {
	t.Helper()
	envelope := strings.ReplaceAll(firstVector(t, "kxm-run-plan.json").Envelope, "run_orchard7", runID)
	document, err := schema.ParseValue([]byte(envelope))
	if err != nil {
		t.Fatal(err)
	}
	identity := map[string]any{}
	for _, name := range []string{"projectId", "homeRuntimeId", "workflowId", "revisions"} {
		member, _ := document.Member(name)
		identity[name] = json.RawMessage(member)
	}
	p.say(t, "pin-plan "+runPlan+" form=kxm.run-plan.v2 run="+runID, toJSON(t, map[string]any{
		"document": json.RawMessage(document), "identity": identity,
	}))
}

func (p *planned) pinGraphPlan(t *testing.T, runID string) {
	t.Helper()
	v := firstVector(t, "graph-plan.json")
	p.say(t, "pin-plan "+graphPlan+" form=graph-plan.v1 run="+runID, toJSON(t, map[string]any{
		"document": v.Description, "admission": v.Resolution, "params": map[string]string{"topic": runID},
	}))
}

// newPlanned is such a world, with an attempt that was prepared under the active
// plan of r.
func newPlanned(t *testing.T, active string) *planned {
	t.Helper()
	p := &planned{world: newWorld(), story: reducertest.NewWorld(), logs: &bytes.Buffer{}}
	p.say(t, "open-contract", "")
	p.say(t, "grant g", "")
	for _, runID := range []string{"r", "other"} {
		p.say(t, "start-run "+runID, "")
		p.pinRunPlan(t, runID)
		p.pinGraphPlan(t, runID)
	}
	p.say(t, "activate-plan "+active, "")
	p.say(t, "transition RUNNING", "")
	p.say(t, "admit o", "")
	o := p.options()
	o.Limits.BlockCommands = 3 // several blocks
	if err := drain(t, p.term(t, o)); err != nil {
		t.Fatal(err)
	}
	if p.logs.Len() > 0 {
		t.Fatalf("nothing was damaged: %s", p.logs)
	}
	return p
}

func (p *planned) options() Options {
	o := p.stepped()
	o.NewDecider = func() Decider { return reducer.New() }
	o.Log = slog.New(slog.NewTextHandler(p.logs, nil))
	return o
}

// copied is the same world, on its own.
func (p *planned) copied() *planned {
	w := newWorld()
	w.nextSeq, w.blocks, w.store.cursor = p.nextSeq, slices.Clone(p.blocks), p.store.cursor
	w.store.rows.Commit(p.rows())
	return &planned{world: w, story: p.story, logs: &bytes.Buffer{}}
}

// rows are all rows of the store, in order.
func (p *planned) rows() []state.Change {
	var all []state.Change
	err := p.store.rows.Scan([]byte{1}, []byte{0xFF}, false, func(key, value []byte) bool {
		all = append(all, state.Change{Key: bytes.Clone(key), Value: bytes.Clone(value)})
		return true
	})
	if err != nil {
		panic(err) // memory
	}
	return all
}

func sameRows(t *testing.T, want, got *planned) {
	t.Helper()
	same := func(a, b state.Change) bool { return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value) }
	if a, b := want.rows(), got.rows(); !slices.EqualFunc(a, b, same) {
		t.Errorf("rows (-want +got):\n%s", cmp.Diff(a, b))
	}
}

// row is the row of a plan.
func (p *planned) row(t *testing.T, runID, planID string) *state.Change {
	t.Helper()
	for _, row := range p.rows() {
		if string(row.Key) == "Pc\x00\x01"+runID+"\x00\x01"+planID+"\x00\x01" {
			return &row
		}
	}
	t.Fatalf("no row of plan %s of run %s", planID, runID)
	return nil
}

// answer says one more command in a new term, and gives its decision.
func (p *planned) answer(t *testing.T, line string) (*events.Decision, error) {
	t.Helper()
	p.say(t, line, "")
	if err := drain(t, p.term(t, p.options())); err != nil {
		return nil, err
	}
	block, err := events.ParseBlock(p.blocks[len(p.blocks)-1])
	if err != nil {
		t.Fatal(err)
	}
	return block.Entries[len(block.Entries)-1].Decision, nil
}

// damaged is one way in which a row can be wrong.
type damaged struct {
	name, planID string
	check        string // that finds it
	change       func(value, other []byte) []byte
}

// swap replaces the last old by new, of the same length.
func swap(from, to string) func(value, _ []byte) []byte {
	return func(value, _ []byte) []byte {
		i := bytes.LastIndex(value, []byte(from))
		if i < 0 || len(from) != len(to) {
			panic("no " + from)
		}
		return slices.Concat(value[:i], []byte(to), value[i+len(from):])
	}
}

func flip(prefix string) func(value, _ []byte) []byte {
	return func(value, _ []byte) []byte {
		at := bytes.LastIndex(value, []byte(prefix)) + len(prefix)
		value[at] ^= 1 // one hex digit becomes another one
		return value
	}
}

// rowDamages are the byte classes of a row.
var rowDamages = []damaged{
	{"text", runPlan, "hash", swap(`"builder"`, `"boulder"`)},
	{"text that breaks a rule", runPlan, "plan", swap(`"hasBackEdges":false`, `"hasBackEdges":12345`)},
	{"text that is no JSON", runPlan, "envelope", swap(`"hasBackEdges":false`, `"hasBackEdges"!false`)},
	{"text of another run", runPlan, "identity", swap(`"runId":"r"`, `"runId":"q"`)},
	{"hash of the row", runPlan, "event", flip("sha256:5c")},
	{"form", runPlan, "event", func(value, _ []byte) []byte {
		return bytes.Replace(value, []byte("kxm.run-plan.v2"), []byte("kxm.run-plan.v3"), 1)
	}},
	{"identity", runPlan, "event", swap(`"workflowId":"ship-it"`, `"workflowId":"ship-in"`)},
	{"sequence", runPlan, "event", func(value, _ []byte) []byte { value[len(value)-1]++; return value }},
	{"sequence of nothing yet", runPlan, "event", func(value, _ []byte) []byte { return append(value[:len(value)-1], 0xFF, 0xFF, 0x7F) }},
	{"row of another run", runPlan, "event", func(_, other []byte) []byte { return other }},
	{"text of a graph", graphPlan, "hash", swap(`"share":0.25`, `"share":0.26`)},
	{"text of a lane", graphPlan, "UNKNOWN_SUBSTITUTION", swap(`"aurora-lite"`, `"aurora-late"`)},
	{"params", graphPlan, "event", swap(`{"topic":"r"}`, `{"topic":"q"}`)},
	{"hash of the params", graphPlan, "event", flip("sha256:")},
	{"row of another run, same hash", graphPlan, "event", func(_, other []byte) []byte { return other }},
	{"no row", graphPlan, "row", func(_, _ []byte) []byte { return nil }},
}

// concerned are the commands that concern a pinned plan.
func concerned(planID string, active bool) []string {
	if active {
		return []string{"admit p", "dispatch o-1", "retry o", "complete-node n"}
	}
	return []string{"activate-plan " + planID + " expected=" + otherPlan(planID)}
}

func otherPlan(planID string) string {
	if planID == runPlan {
		return graphPlan
	}
	return runPlan
}

// TestDamagedPinIsMadeAnew: whatever is wrong with the row of a pinned plan, what
// is decided is what the log alone would have decided, and the row is afterwards
// what it was. The log of the process says what was wrong.
func TestDamagedPinIsMadeAnew(t *testing.T) {
	for _, active := range []bool{true, false} {
		for _, planID := range []string{runPlan, graphPlan} {
			base := newPlanned(t, planID)
			if !active {
				base = newPlanned(t, otherPlan(planID))
			}
			for _, line := range concerned(planID, active) {
				good := base.copied()
				want, err := good.answer(t, line)
				if err != nil || good.logs.Len() > 0 {
					t.Fatalf("%s: %v, %s", line, err, good.logs)
				}
				for _, d := range rowDamages {
					if d.planID != planID || d.check == "row" && !active {
						continue // without a row the plan looks unpinned
					}
					t.Run(line+"/"+d.name, func(t *testing.T) { testDamagedRow(t, base.copied(), good, d, line, want) })
				}
			}
		}
	}
}

func testDamagedRow(t *testing.T, p, good *planned, d damaged, line string, want *events.Decision) {
	row := p.row(t, "r", d.planID)
	row.Value = d.change(row.Value, p.row(t, "other", d.planID).Value)
	p.store.rows.Commit([]state.Change{*row})
	got, err := p.answer(t, line)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want.Append(nil)), string(got.Append(nil))); diff != "" {
		t.Errorf("decided by the row (-log +row):\n%s", diff)
	}
	sameRows(t, good, p)
	for _, said := range []string{
		`level=ERROR msg="the row of a pinned plan is damaged and is made anew from the log" contract=c`,
		fmt.Sprintf(`run \"r\", plan \"%s\": %s: `, d.planID, d.check),
		`level=INFO msg="the row of the pinned plan is right again" contract=c run=r plan=` + d.planID,
	} {
		if strings.Count(p.logs.String(), said) != 1 {
			t.Errorf("the log does not say %s:\n%s", said, p.logs)
		}
	}
}

// TestPinnedAgain: a damaged row does not make another plan of the same one, nor
// the same one of another.
func TestPinnedAgain(t *testing.T) {
	p := newPlanned(t, runPlan)
	row := p.row(t, "r", graphPlan)
	row.Value = flip("sha256:")(row.Value, nil)
	p.store.rows.Commit([]state.Change{*row})
	p.pinGraphPlan(t, "r")
	if err := drain(t, p.term(t, p.options())); err != nil {
		t.Fatal(err)
	}
	block, err := events.ParseBlock(p.blocks[len(p.blocks)-1])
	if err != nil {
		t.Fatal(err)
	}
	if d := block.Entries[0].Decision; d.Outcome != events.OutcomeAccepted || d.Events[0].Type() != "planPinConfirmed" {
		t.Errorf("pinned again: %s", d.Append(nil))
	}
}

// pinBlock is the index of the block that pins a plan of r.
func (p *planned) pinBlock(t *testing.T, planID string) int {
	t.Helper()
	for i, data := range p.blocks {
		block, err := events.ParseBlock(data)
		if err != nil {
			t.Fatal(err)
		}
		for j := range block.Entries {
			if e := pinnedBy(block.Entries[j].Decision); e != nil && e.RunID == "r" && e.PlanID == planID {
				return i
			}
		}
	}
	t.Fatal("no block pins it")
	return 0
}

// forged is a block with another event, and every checksum of it right.
func forged(t *testing.T, data []byte, change func(*events.PlanPinned)) []byte {
	t.Helper()
	block, err := events.ParseBlock(data)
	if err != nil {
		t.Fatal(err)
	}
	b := events.NewBlock(block.Header)
	for i := range block.Entries {
		d := block.Entries[i].Decision
		if e := pinnedBy(d); e != nil && e.RunID == "r" {
			change(e)
			d = &events.Decision{
				Contract: d.Contract, CommandSeq: d.CommandSeq, CommandID: d.CommandID, Principal: d.Principal, Type: d.Type, At: d.At,
				BodyHash: d.BodyHash, Outcome: d.Outcome, Events: []events.Event{e},
			}
			d.Seal(block.Entries[i].Decision.Prev)
		}
		b.Add(&block.Entries[i].Message, d)
	}
	var hash [32]byte
	copy(hash[:], mustHex(t, block.Header.StateHash))
	out, _ := b.Seal(hash)
	return out
}

// TestDamagedPinEvent: what the log itself says cannot be made anew. The shard
// stops, and says which run, plan and check.
func TestDamagedPinEvent(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, data []byte) []byte
		want   []string
	}{
		{"a flipped bit of the event's hash", func(_ *testing.T, data []byte) []byte {
			i := bytes.Index(data, []byte(`"runPlanHash":"sha256:`))
			out := bytes.Clone(data)
			out[i+len(`"runPlanHash":"sha256:`)] ^= 1
			return out
		}, []string{"block 2 of the log", "checksum"}},
		{"gone", func(*testing.T, []byte) []byte { return nil }, []string{"block 2 of the log"}},
		{"another hash, forged", func(t *testing.T, data []byte) []byte {
			return forged(t, data, func(e *events.PlanPinned) { e.RunPlanHash = schema.HashOf(nil) })
		}, []string{"the event of command 4 in block 2", "run_plan_corrupt", ": hash: "}},
		{"another text, forged", func(t *testing.T, data []byte) []byte {
			return forged(t, data, func(e *events.PlanPinned) { e.Envelope = "{}"; e.Form = schema.FormOpaque })
		}, []string{"the event of command 4 in block 2", "run_plan_corrupt", ": hash: "}},
		{"of another run, forged", func(t *testing.T, data []byte) []byte {
			return forged(t, data, func(e *events.PlanPinned) { e.RunID = "q" })
		}, []string{"the log does not pin it", "run_plan_corrupt", ": event: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlanned(t, runPlan)
			at := p.pinBlock(t, runPlan)
			p.blocks[at] = c.change(t, p.blocks[at])
			before := len(p.blocks)
			_, err := p.answer(t, "dispatch o-1")
			wanted := ErrIntegrity
			if strings.HasPrefix(c.name, "of another run") {
				wanted = state.ErrRow // the store is wrong, by this log: it is built again, and that fails
			}
			if !errors.Is(err, wanted) {
				t.Fatalf("got %v, want %v", err, wanted)
			}
			for _, want := range append(c.want, `plan "workflow" of run "r" of contract "c"`) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error does not say %s: %v", want, err)
				}
			}
			if len(p.blocks) > before {
				t.Error("something was decided")
			}
			var damaged *plan.Error
			if errors.As(err, &damaged) && damaged.RunID != "r" {
				t.Errorf("%+v", damaged)
			}
		})
	}
}

// TestDamagedBeyondThePin: where more than the row is wrong, the store is built
// again from the log.
func TestDamagedBeyondThePin(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, p *planned) state.Change{
		"the row is cut short": func(t *testing.T, p *planned) state.Change {
			row := p.row(t, "r", runPlan)
			row.Value = row.Value[:len(row.Value)/2]
			return *row
		},
		"the index of decisions has no pin": func(t *testing.T, p *planned) state.Change {
			for _, row := range p.rows() {
				if bytes.HasPrefix(row.Key, []byte("qc\x00\x01\x00\xFF")) && bytes.Contains(row.Value, []byte("planPinned")) {
					return state.Change{Key: row.Key}
				}
			}
			t.Fatal("no such row")
			return state.Change{}
		},
		"a plan that was never pinned": func(t *testing.T, p *planned) state.Change {
			row := p.row(t, "r", runPlan)
			row.Key = bytes.Replace(row.Key, []byte(runPlan), []byte("another"), 1)
			return *row
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := "dispatch o-1"
			if strings.HasPrefix(name, "a plan") {
				line = "activate-plan another expected=" + runPlan
			}
			base := newPlanned(t, runPlan)
			good, p := base.copied(), base.copied()
			want, err := good.answer(t, line)
			if err != nil {
				t.Fatal(err)
			}
			p.store.rows.Commit([]state.Change{damage(t, p)})
			p.say(t, line, "")
			o := p.running()
			o.NewDecider = p.options().NewDecider
			stop := run(t, o)
			p.waitAnswers(t, 1)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			block, err := events.ParseBlock(p.blocks[len(p.blocks)-1])
			if err != nil {
				t.Fatal(err)
			}
			if got := block.Entries[0].Decision; got.Hash != want.Hash {
				t.Errorf("decided %s, want %s", got.Append(nil), want.Append(nil))
			}
			if len(p.set) != 1 {
				t.Errorf("set aside for %q", p.set)
			}
			sameRows(t, good, p)
		})
	}
}

// TestPinIsCheckedOnce: the first use in a term reads the log, later ones do not,
// nor does a plan that was pinned a moment ago.
func TestPinIsCheckedOnce(t *testing.T) {
	p := newPlanned(t, runPlan)
	term := p.term(t, p.options())
	p.readErr = errNoAnswer
	p.say(t, "dispatch o-1", "")
	if err := drain(t, term); !errors.Is(err, errNoAnswer) || errors.Is(err, ErrIntegrity) {
		t.Errorf("the log was not asked, or its silence taken for damage: %v", err)
	}
	p.readErr = nil
	term = p.term(t, p.options())
	if err := drain(t, term); err != nil {
		t.Fatal(err)
	}
	p.readErr = errNoAnswer
	for _, line := range []string{"admit q", "retry o", "pin-plan fresh", "activate-plan fresh expected=" + runPlan, "admit s"} {
		p.say(t, line, "")
	}
	if err := drain(t, term); err != nil {
		t.Errorf("the log was asked again: %v", err)
	}
}

// TestStoredPinIsKnown: what this term itself pinned is compared with the event
// in memory, and its row is held against that as strictly as against the log.
func TestStoredPinIsKnown(t *testing.T) {
	for _, damage := range []bool{false, true} {
		p := newPlanned(t, runPlan)
		o := p.options()
		o.CacheRows = 1 // rows are read from the store again
		term := p.term(t, o)
		p.say(t, "pin-plan fresh", "")
		if err := drain(t, term); err != nil {
			t.Fatal(err)
		}
		for range 3 { // others push the row out of the cache
			p.say(t, "admit q", "")
			if err := drain(t, term); err != nil {
				t.Fatal(err)
			}
		}
		term.pins.checked[pinKey{"c", "r", runPlan}] = true
		if !damage {
			p.readErr = errNoAnswer
		} else {
			row := p.row(t, "r", "fresh")
			row.Value = bytes.Replace(row.Value, []byte("sha256:4"), []byte("sha256:5"), 1)
			p.store.rows.Commit([]state.Change{*row})
		}
		p.say(t, "activate-plan fresh expected="+runPlan, "")
		if err := drain(t, term); err != nil {
			t.Errorf("damage %v: %v", damage, err)
		}
		if said := strings.Contains(p.logs.String(), "made anew from the log"); said != damage {
			t.Errorf("damage %v: the log says\n%s", damage, p.logs)
		}
		if len(term.pins.stored) > 0 {
			t.Error("a plan that was checked is kept")
		}
	}
}
