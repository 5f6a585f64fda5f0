package sim

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFound plays the scripts that once broke a promise, each with a comment that
// says what was wrong.
func TestFound(t *testing.T) {
	scripts, err := filepath.Glob("testdata/found/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, name := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Parse(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if r := Run(t, s); r.Violation != nil {
				t.Error(r.Report(Shrink(t, r)))
			}
		})
	}
}

// TestSame: one script has one trace, however often and on however many
// processors it is played.
func TestSame(t *testing.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		s := Generate(seed)
		first, second := play(t, s, true), play(t, s, true)
		if first.Digest != second.Digest {
			t.Errorf("seed %d: two traces:\n%s", seed, cmp.Diff(first.Trace, second.Trace))
		}
	}
}

// TestScriptText: a script survives being printed and read.
func TestScriptText(t *testing.T) {
	for seed := uint64(1); seed <= 200; seed++ {
		s := Generate(seed)
		again, err := Parse(s.String())
		if err != nil {
			t.Fatalf("%v\n%s", err, s.String())
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("seed %d: %s", seed, diff)
		}
	}
	for _, text := range []string{"", "world sed=1", "world seed=x", "world\nat 1", "world\nat x crash", "world\nat 1 crsh", "world\nat 1 crash foo=1", "hello"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestKinds: each kind of fault says what it does, and is met by the seeds.
func TestKinds(t *testing.T) {
	met := map[string]bool{}
	for seed := uint64(1); seed <= 300; seed++ {
		s := Generate(seed)
		for i := range s.Faults {
			met[s.Faults[i].Kind] = true
		}
	}
	for i := range kinds {
		if kinds[i].does == "" || !met[kinds[i].name] {
			t.Errorf("fault %s: %q, met %t", kinds[i].name, kinds[i].does, met[kinds[i].name])
		}
	}
}

// TestDocs: docs/simulation.md has every fault and every rule.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range kinds {
		want["`"+kinds[i].name+"`"] = kinds[i].does
	}
	maps.Copy(want, rules)
	for name, says := range want {
		if line := "| " + name + " | " + says + " |"; !strings.Contains(string(text), line) {
			t.Errorf("no line %s", line)
		}
	}
}
