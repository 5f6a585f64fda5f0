package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// rules are all rules that need nothing but the tree.
var rules = []func(*Tree) ([]Finding, error){Imports, Floats, Concurrency, MapRanges, Docs, Prints, Words}

func findings(t *testing.T, root, ratchet string) []Finding {
	t.Helper()
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	excuses, err := os.ReadFile(ratchet)
	if err != nil {
		t.Fatal(err)
	}
	found, err := FunctionLengths(tree, string(excuses))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		more, err := rule(tree)
		if err != nil {
			t.Error(err)
		}
		found = append(found, more...)
	}
	return found
}

func TestRepository(t *testing.T) {
	for _, f := range findings(t, filepath.Join("..", ".."), "long_functions.txt") {
		t.Error(f)
	}
}

// TestAlarm proves that every rule still sees what it is there for: the samples
// announce their findings in comments "want rule", once for each finding.
func TestAlarm(t *testing.T) {
	root := filepath.Join("testdata", "bad")
	var got []string
	for _, f := range findings(t, root, filepath.Join(root, "long_functions.txt")) {
		got = append(got, fmt.Sprintf("%s:%d %s", f.File, f.Line, f.Rule))
	}
	want := announced(t, root)
	want = append(want, ratchetFile+":1 length") // schema.Gone
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings in the bad samples (-want +got):\n%s", diff)
	}
}

func announced(t *testing.T, root string) []string {
	t.Helper()
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	marker := regexp.MustCompile(`// want(\+2)? (.*)$`)
	var want []string
	for _, name := range tree.Texts {
		text, err := tree.read(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(text, "\n") {
			hit := marker.FindStringSubmatch(line)
			if hit == nil {
				continue
			}
			place := i + 1
			if hit[1] != "" {
				place += 2 // the sample must stand without a comment of its own
			}
			for _, rule := range strings.Fields(hit[2]) {
				want = append(want, fmt.Sprintf("%s:%d %s", name, place, rule))
			}
		}
	}
	return want
}

// TestReplacements: a finding that does not say what to write instead is only half a finding.
func TestReplacements(t *testing.T) {
	for _, name := range []string{"time", "sort", "os", "encoding/json", "math/rand", "net/url", "github.com/x/y", Module + "/projections"} {
		fault := importFault("reducer", name)
		if len(fault) < 20 {
			t.Errorf("import of %s into reducer: %q says too little", name, fault)
		}
	}
	if fault := importFault("cmd/reducer", "os"); fault != "" {
		t.Errorf("cmd may import os, but: %s", fault)
	}
}
