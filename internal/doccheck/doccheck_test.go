package doccheck

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

const root = "../.."

func readPages(t *testing.T) []Page {
	t.Helper()
	pages, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Every worked example is decided as its page says.
func TestExamples(t *testing.T) {
	count := 0
	for _, page := range readPages(t) {
		examples, err := Examples(page)
		if err != nil {
			t.Error(err)
		}
		for _, e := range examples {
			count++
			got, err := e.Decide()
			if err != nil {
				t.Errorf("%s:%d: %v", page.Name, e.Line, err)
			}
			if diff := cmp.Diff(e.Want, got); diff != "" {
				t.Errorf("%s:%d: outcomes (-page +code):\n%s", page.Name, e.Line, diff)
			}
		}
	}
	if count < 10 {
		t.Errorf("found %d examples; every rule page has one", count)
	}
}

// What follows from code is up to date.
func TestGenerated(t *testing.T) {
	made, err := Generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range made {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(page.Name)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), page.Text); diff != "" {
			t.Errorf("%s is not up to date: go run ./internal/gendocs (-page +code):\n%s", page.Name, diff)
		}
	}
}

// Every command has its rules, and every code is given by one of them.
func TestRulesAreComplete(t *testing.T) {
	rules := Rules(readPages(t))
	for _, commandType := range schema.CommandTypes {
		sections := 0
		for _, rule := range rules {
			if rule.Heading == commandType {
				sections++
			}
		}
		if sections != 1 {
			t.Errorf("%s has %d sections in docs/rules, want one", commandType, sections)
		}
	}
	for _, info := range events.Codes {
		if !slices.ContainsFunc(rules, func(r Rule) bool { return slices.Contains(r.Codes, info.Code) }) {
			t.Errorf("%s stands in no numbered list of docs/rules", info.Code)
		}
	}
}

var anyWord = regexp.MustCompile("`([A-Z]+(?:_[A-Z]+)+)`")

// A word in capitals with an underscore on a rule page is a code, or a word of
// the schema.
func TestCodesExist(t *testing.T) {
	known := slices.Concat(schema.Effects, schema.TriggerKinds, schema.TriggerActions,
		[]string{events.AttemptStateNotApplied})
	for _, page := range readPages(t) {
		if !strings.HasPrefix(page.Name, rulesFolder) {
			continue
		}
		for _, hit := range anyWord.FindAllStringSubmatch(page.Text, -1) {
			if !isCode(events.Code(hit[1])) && !slices.Contains(known, hit[1]) {
				t.Errorf("%s: %s is no code", page.Name, hit[1])
			}
		}
	}
}

// Whatever the golden logs refuse is in the list of the command or in the common one.
func TestGoldenRefusalsAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, rule := range Rules(readPages(t)) {
		for _, code := range rule.Codes {
			documented[rule.Heading+" "+string(code)] = true
		}
	}
	logs, err := filepath.Glob(root + "/testdata/golden/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatalf("no golden logs: %v", err)
	}
	missing := map[string]bool{}
	for _, log := range logs {
		for _, d := range decide(t, log) {
			if d.Outcome != events.OutcomeRejected {
				continue
			}
			name := d.Type + " " + string(d.Code)
			if !documented[name] && !documented[commonChecks+" "+string(d.Code)] {
				missing[name] = true
			}
		}
	}
	for name := range missing {
		t.Errorf("%s happens in a golden log and stands in no list of docs/rules", name)
	}
}

func decide(t *testing.T, log string) []*events.Decision {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	s := state.New(state.NewMemory(), state.Cursor{}, 0)
	decider, messages := reducer.New(), logfile.NewReader(bytes.NewReader(text))
	var decisions []*events.Decision
	for {
		m, err := messages.NextMessage()
		if errors.Is(err, io.EOF) {
			return decisions
		}
		if err != nil {
			t.Fatal(err)
		}
		decisions = append(decisions, decider.Step(s, m))
	}
}

var linkTarget = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links within the repository lead somewhere.
func TestLinks(t *testing.T) {
	anchors := map[string][]string{}
	pages := readPages(t)
	for _, page := range pages {
		anchors[page.Name] = headingAnchors(page.Text)
	}
	for _, page := range pages {
		for _, hit := range linkTarget.FindAllStringSubmatch(prose(page.Text), -1) {
			if err := checkLink(page.Name, hit[1], anchors); err != nil {
				t.Errorf("%s: %v", page.Name, err)
			}
		}
	}
}

func checkLink(page, target string, anchors map[string][]string) error {
	if strings.Contains(target, "://") {
		return nil
	}
	name, anchor, hasAnchor := strings.Cut(target, "#")
	file := page
	if name != "" {
		file = path.Join(path.Dir(page), name)
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(file))); err != nil {
			return fmt.Errorf("the link %s leads nowhere", target)
		}
	}
	if hasAnchor && !slices.Contains(anchors[file], anchor) {
		return fmt.Errorf("the link %s: %s has no such heading", target, file)
	}
	return nil
}

var notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// headingAnchors are what a heading is called in a link, as GitHub has it.
func headingAnchors(text string) []string {
	var found []string
	for line := range strings.Lines(prose(text)) {
		if heading := strings.TrimLeft(line, "#"); heading != line {
			plain := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
			found = append(found, strings.ReplaceAll(plain, " ", "-"))
		}
	}
	return found
}
