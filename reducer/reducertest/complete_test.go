package reducertest_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// reasons are the fixed words that a rule gives beside its code (RULES 5, 9, 10).
var reasons = map[events.Code][]string{
	events.CodeGrantNotAttenuated: {"depth", "actions", "resources", "limit", "notBefore", "expiresAt"},
	events.CodeTriggerInvalid: {
		"window", "schedule", "interval", "maxCatchUp", "conditionMode", "filter", "waitId", "rateWindow", "limits",
	},
	events.CodeGraphInvalid: {
		"duplicate-node", "unknown-dependency", "cycle", "no-end", "end-has-dependents", "dead-end", "join-arity",
		"decision-arity", "loop-unbounded", "config", "input-schema", "output-schema",
	},
	// The other forms' reasons are the plan package's own tests, vector by vector.
	events.CodePlanInvalid: {
		"empty-plan", "invalid-step", "duplicate-step", "unknown-capability", "version-mismatch", "malformed-reference",
		"unknown-reference", "invalid-input", "envelope", "schema", "identity", "revisions", "projectLimits", "plan",
		"MISSING_FIELD", "INVALID_SHAPE",
	},
	events.CodeNodeInputInvalid:  {"too-large"},
	events.CodeNodeOutputInvalid: {"too-large"},
}

// told is what the scenarios show.
type told struct {
	codes    map[string]bool // CODE and CODE (reason)
	accepted map[string]bool // verbs
	events   map[string]bool
}

var (
	refusal   = regexp.MustCompile(`^rejected ([A-Z_]+)(?: \(([^)]+)\))?`)
	directive = regexp.MustCompile(`^[a-z]+(-[a-z]+)*( |$)`)
)

func tell(t *testing.T) told {
	t.Helper()
	seen := told{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, path := range files(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seen.story(string(text))
	}
	return seen
}

// story goes through one file: a verb, what stands below it, a line of dashes,
// what came of it, a blank line.
func (seen told) story(text string) {
	verb, answering := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		word, _, _ := strings.Cut(line, " ")
		switch {
		case line == "":
			verb, answering = "", false
		case line == "----":
			answering = true
		case !answering && (verb == "" || verb == "setup") && directive.MatchString(line):
			if verb == "setup" {
				seen.accepted[word] = true
			} else {
				verb = word
			}
		case !answering:
		case refusal.MatchString(line):
			found := refusal.FindStringSubmatch(line)
			seen.codes[found[1]] = true
			seen.codes[found[1]+" "+found[2]] = true
		default:
			seen.accepted[verb] = true
			seen.events[word] = true
		}
	}
}

// TestEveryRefusalHasAScenario: a code or a reason without a story is a rule
// that nobody has looked at.
func TestEveryRefusalHasAScenario(t *testing.T) {
	seen := tell(t)
	for _, info := range events.Codes {
		if !seen.codes[string(info.Code)] {
			t.Errorf("no scenario shows %s: %s", info.Code, info.Meaning)
		}
	}
	for _, code := range slices.Sorted(maps.Keys(reasons)) {
		for _, reason := range reasons[code] {
			if !seen.codes[string(code)+" "+reason] {
				t.Errorf("no scenario shows %s (%s)", code, reason)
			}
		}
	}
}

// TestEveryCommandHasAScenario: each command has a verb, is accepted in some
// story, and has rules.
func TestEveryCommandHasAScenario(t *testing.T) {
	seen := tell(t)
	for _, command := range schema.CommandTypes {
		verb := kebab(command)
		if !seen.accepted[verb] {
			t.Errorf("%s is accepted in no scenario", verb)
		}
		w := reducertest.NewWorld()
		if verb != "open-contract" {
			if _, err := w.Do("open-contract", ""); err != nil {
				t.Fatal(err)
			}
		}
		below := ""
		if verb == "register-graph" {
			below = "end END"
		}
		if _, err := w.Do(verb, below); err != nil {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// TestEveryEventHasAScenario: each event is shown in some story, and Apply has
// an arm for it.
func TestEveryEventHasAScenario(t *testing.T) {
	seen := tell(t)
	for _, name := range events.Types {
		if !seen.events[name] {
			t.Errorf("no scenario shows %s", name)
		}
		if said := fold(events.New(name)); strings.Contains(said, "no way to fold") {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// fold folds an empty event into an empty state and returns what it panics with:
// most events want something to be there.
func fold(e events.Event) (said string) {
	defer func() {
		if r := recover(); r != nil {
			said, _ = r.(string)
		}
	}()
	s := state.New(state.NewMemory(), state.Cursor{}, 0)
	s.Apply(&events.Message{Seq: 1}, &events.Decision{
		Contract: "c", CommandSeq: 1, Outcome: events.OutcomeAccepted, Events: []events.Event{e},
	})
	return ""
}

// TestScenariosAreStories: each says why it is there, and is short.
func TestScenariosAreStories(t *testing.T) {
	for _, path := range files(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: no opening comment says why", path)
		}
		if n := length(string(text)); n >= 60 {
			t.Errorf("%s: %d lines; a story has less than 60", path, n)
		}
	}
}

// length counts the lines of a story, without the documents that it names.
func length(text string) int {
	n, naming := 0, false
	for line := range strings.Lines(text) {
		naming = strings.HasPrefix(line, "let ") || naming && line != "\n"
		if !naming {
			n++
		}
	}
	return n
}

func kebab(camel string) string {
	return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(camel, func(c string) string { return "-" + strings.ToLower(c) })
}
