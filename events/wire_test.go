package events_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

const wire = "../testdata/wire/"

// TestEventsOnTheWire: every event is written as it was ever written, and what
// was ever written is read, and written again byte for byte.
func TestEventsOnTheWire(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		t.Run(name, func(t *testing.T) {
			var lines []byte
			for _, e := range samples[name] {
				lines = append(schema.AppendRecord(lines, e), '\n')
			}
			path := wire + name + "_v1.json"
			reducertest.Golden(t, path, lines)
			for line := range bytes.Lines(read(t, path)) {
				rewritten(t, bytes.TrimSpace(line))
			}
		})
	}
}

func rewritten(t *testing.T, line []byte) {
	t.Helper()
	value, err := schema.ParseValue(line)
	if err != nil {
		t.Fatal(err)
	}
	member, _ := value.Member("type")
	name, _ := member.Str()
	e := events.New(name)
	if e == nil {
		t.Fatalf("no event %q", name)
	}
	if err := schema.DecodeRecord(line, e); err != nil {
		t.Fatal(err)
	}
	if again := schema.AppendRecord(nil, e); !bytes.Equal(again, line) {
		t.Errorf("written again:\n got %s\nwant %s", again, line)
	}
	if e.Type() != name {
		t.Errorf("New(%q) is a %s", name, e.Type())
	}
}

// TestEveryEventIsOnTheWire: each type has samples that set every member, and a
// file; and no file is left of a type that is gone.
func TestEveryEventIsOnTheWire(t *testing.T) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		names = append(names, samples[name][0].Type())
		if !strings.EqualFold(name, samples[name][0].Type()) {
			t.Errorf("the samples of %s are of %s", name, samples[name][0].Type())
		}
		everyMember(t, name)
	}
	slices.Sort(names)
	if diff := cmp.Diff(events.Types, names); diff != "" {
		t.Errorf("events.Types, and those that have samples: %s", diff)
	}
	paths, err := filepath.Glob(wire + "*_v1.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), "_v1.json")
		if samples[name] == nil && !strings.HasPrefix(name, "decision") {
			t.Errorf("%s: no event is called so", path)
		}
	}
}

// everyMember wants each member to be written by some sample: a zero value
// shows the required ones, and the samples together the others.
func everyMember(t *testing.T, name string) {
	t.Helper()
	written := map[string]bool{}
	for _, e := range samples[name] {
		for member := range schema.Value(schema.AppendRecord(nil, e)).Members() {
			written[member] = true
		}
	}
	recorder := strings.ToLower(name[:1]) + name[1:]
	for _, member := range members(t, events.New(recorder)) {
		if !written[member] {
			t.Errorf("%s: no sample sets %s", name, member)
		}
	}
}

// members finds the members of an event by asking its decoder for each name that
// any event has.
func members(t *testing.T, e events.Event) []string {
	t.Helper()
	var found []string
	for _, name := range allMembers {
		err := schema.DecodeRecord([]byte(`{"`+name+`":{"?":1}}`), events.New(e.Type()))
		if err != nil && !strings.Contains(err.Error(), "is no member") {
			found = append(found, name)
		}
	}
	return found
}

var allMembers = func() []string {
	names := map[string]bool{}
	for _, list := range samples {
		for _, e := range list {
			for name := range schema.Value(schema.AppendRecord(nil, e)).Members() {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}()

// TestDecisionsOnTheWire: likewise the record of each outcome, and a block.
func TestDecisionsOnTheWire(t *testing.T) {
	for outcome, d := range decisions() {
		path := wire + "decision_" + outcome + "_v1.json"
		reducertest.Golden(t, path, append(d.Append(nil), '\n'))
		record := bytes.TrimSpace(read(t, path))
		parsed, err := events.ParseDecision(record)
		if err != nil {
			t.Fatal(err)
		}
		if again := parsed.Append(nil); !bytes.Equal(again, record) || !parsed.CheckHash() {
			t.Errorf("%s: written again:\n got %s\nwant %s", outcome, again, record)
		}
		if !json.Valid(record) {
			t.Errorf("%s: no JSON", outcome)
		}
	}
}

func TestBlockOnTheWire(t *testing.T) {
	d, m := decisions(), messages()
	build := func(b *events.Builder) []byte {
		for _, outcome := range []string{"accepted", "rejected", "duplicate", "unrouted"} {
			b.Add(m[outcome], d[outcome])
		}
		data, _ := b.Seal([32]byte{1, 2, 3})
		return data
	}
	header := events.Header{
		RulesVersion: 1, Generation: "01GEN", Writer: "01WRITER", Build: "v0.1", Shard: 0, Shards: 1, Time: "1767225600000",
		PrevBlockHash: strings.Repeat("ab", 32),
	}
	reducertest.Golden(t, wire+"block_v2.txt", build(events.NewBlock(header)))
	for _, name := range []string{"block_v1.txt", "block_v2.txt"} {
		data := read(t, wire+name)
		block, err := events.ParseBlock(data)
		if err != nil {
			t.Fatal(err)
		}
		again := events.NewBlock(block.Header)
		for i := range block.Entries {
			again.Add(&block.Entries[i].Message, block.Entries[i].Decision)
		}
		rebuilt, hash := again.Seal([32]byte{1, 2, 3})
		if same := bytes.Equal(rebuilt, data) && hash == block.Hash; same != (block.Header.FormatVersion == events.FormatVersion) {
			t.Errorf("%s written again:\n got %s\nwant %s", name, rebuilt, data)
		}
		for i, outcome := range []string{"accepted", "rejected", "duplicate", "unrouted"} {
			if diff := cmp.Diff(*m[outcome], block.Entries[i].Message, cmp.Transformer("text", func(b []byte) string { return string(b) })); diff != "" {
				t.Errorf("%s: message %s: %s", name, outcome, diff)
			}
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
