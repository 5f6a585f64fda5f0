package state_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// TestRowsOnTheWire: every kind of row is stored as it was ever stored, and what
// was ever stored is read, and stored again byte for byte. Where a member is
// appended to a row under the same version, the file of before stays beside the
// new one, as rows_v1_<release>.txt: its rows must still be read.
func TestRowsOnTheWire(t *testing.T) {
	const path = "../../testdata/wire/rows_v1.txt"
	var text strings.Builder
	for _, r := range state.WireRows() {
		fmt.Fprintf(&text, "%s %s %s\n", r.Name, hex.EncodeToString(r.Key), hex.EncodeToString(r.Value))
	}
	reducertest.Golden(t, path, []byte(text.String()))
	files, err := filepath.Glob("../../testdata/wire/rows_v1*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		rowsRead(t, file, file == path)
	}
}

func rowsRead(t *testing.T, path string, current bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[byte]bool{}
	for line := range strings.Lines(string(data)) {
		var name string
		var key, value []byte
		if _, err := fmt.Sscanf(line, "%s %x %x", &name, &key, &value); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kinds[key[0]] = true
		again, err := state.Reencode(key, value)
		if err != nil || current && !bytes.Equal(again, value) {
			t.Errorf("%s: stored again as %x, was %x: %v", name, again, value, err)
		}
	}
	for _, kind := range state.Kinds() {
		if current && !kinds[kind] {
			t.Errorf("no line shows a row of kind %c", kind)
		}
	}
}

// TestRowsKeepEveryField: a field that its row does not store would be lost with
// the cache.
func TestRowsKeepEveryField(t *testing.T) {
	for _, r := range state.WireRows() {
		for _, spoilt := range state.Spoil(r.Key, r.Value) {
			if bytes.Equal(spoilt.Value, r.Value) && !derived(spoilt.Field) {
				t.Errorf("%s is not stored", spoilt.Field)
			}
		}
	}
}

// derived are the fields that a row makes of its text.
func derived(field string) bool {
	kind, _, _ := strings.Cut(field, ".")
	switch kind {
	case "Terms", "GrantTerms", "TriggerTerms":
		return true
	}
	return strings.HasPrefix(field, "Graph.Graph")
}
