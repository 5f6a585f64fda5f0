package reducertest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// RunScenario runs one scenario file and, at its end, replays what it decided.
func RunScenario(t *testing.T, path string) {
	t.Helper()
	w := NewWorld()
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		out, err := w.Directive(d)
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		return out
	})
	if err := w.Replay(Variants...); err != nil {
		t.Fatal(err)
	}
}

// Directive runs one directive of a scenario and returns what it prints. An
// error is a fault of the scenario, or of the reducer.
func (w *World) Directive(d *datadriven.TestData) (string, error) {
	switch d.Cmd {
	case "at":
		return w.at(d)
	case "given":
		return w.given(d)
	case "let":
		return w.let(d)
	case "raw":
		return w.raw(d)
	case "redeliver":
		return w.redeliver(d)
	case "replay":
		return "the same", w.Replay(Variants...)
	case "setup":
		return w.setup(d)
	case "state":
		return w.stateOf(d)
	}
	m, err := w.compose(d.Cmd, d.CmdArgs, d.Input)
	if err != nil {
		return "", err
	}
	decision, err := w.Step(m)
	if err != nil {
		return "", err
	}
	return show(decision), nil
}

// show prints a decision as stories have it: its events, or why not.
func show(d *events.Decision) string {
	if d.Outcome != events.OutcomeAccepted {
		_, line, _ := strings.Cut(d.String(), " ")
		return shorten(line) + "\n"
	}
	var b strings.Builder
	for _, e := range d.Events {
		b.WriteString(shorten(events.Format(e)) + "\n")
	}
	return b.String()
}

var (
	longHash   = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	longWord   = regexp.MustCompile(`\S{121,}`)
	longObject = regexp.MustCompile(`=\{.{60,}?\}( [a-zA-Z]+=|$)`)
)

// shorten keeps a line readable: hashes, long objects and long words say little
// in a story, and other tests compare them.
func shorten(line string) string {
	line = longHash.ReplaceAllStringFunc(line, func(hash string) string { return hash[:8] + ".." })
	line = longObject.ReplaceAllString(line, "={..}$1")
	return longWord.ReplaceAllStringFunc(line, func(word string) string { return word[:40] + ".." })
}

// setup sends several commands, all of which must be accepted.
func (w *World) setup(d *datadriven.TestData) (string, error) {
	for _, block := range blocksOf(d.Input) {
		if err := w.play(block); err != nil {
			return "", err
		}
	}
	return "ok", nil
}

// blocksOf splits lines into blocks of one line and the indented ones below it.
func blocksOf(text string) []string {
	var blocks []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, " ") && len(blocks) > 0 {
			blocks[len(blocks)-1] += "\n" + strings.TrimSpace(line)
		} else if line != "" {
			blocks = append(blocks, line)
		}
	}
	return blocks
}
