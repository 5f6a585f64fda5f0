package reducertest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// Guards are the checks of one command in the rulebook's order. Setup is a story
// in which Command is accepted, one command a line as in a scenario; each guard
// says how to break it.
//
// Order tests every pair of guards: with both broken the first one answers.
type Guards struct {
	Setup   string
	Command string
	List    []Guard
}

// Guard is one check: its code, or "CODE reason", and how to break it, in parts
// with semicolons between:
//
//	arg X=Y        another argument of the command
//	edit LINE X=Y  another argument of the line of the setup that begins with LINE
//	pre LINE       another line at the end of the setup
//	then LINE      another line after that
//	given JSON     an event after that, as an older log may hold it
//
// Not names the codes that cannot be broken at once with this one, or not by
// these means.
type Guard struct {
	Code, Break string
	Not         string
}

// Order runs the test.
func (g Guards) Order(t *testing.T) {
	t.Helper()
	if got := g.try(t); got != "accepted" {
		t.Fatalf("with nothing broken: %s", got)
	}
	for i := range g.List {
		if got := g.try(t, g.List[i]); got != g.List[i].Code {
			t.Errorf("%s broken: %s", g.List[i].Code, got)
		}
		for j := i + 1; j < len(g.List); j++ {
			a, b := g.List[i], g.List[j]
			if a.excludes(b) || b.excludes(a) || conflict(a.Break, b.Break) {
				continue
			}
			if got := g.try(t, a, b); got != a.Code {
				t.Errorf("%s and %s broken: %s", a.Code, b.Code, got)
			}
		}
	}
}

func (g Guard) excludes(o Guard) bool {
	return slices.Contains(strings.Fields(g.Not), o.Code)
}

// conflict says whether both set the same argument of the same line.
func conflict(a, b string) bool {
	for _, x := range parts(a) {
		for _, y := range parts(b) {
			before, _, isSet := strings.Cut(x, "=")
			other, _, alsoSet := strings.Cut(y, "=")
			if isSet && alsoSet && before == other && strings.HasPrefix(before, "arg ") {
				return true
			}
			if isSet && alsoSet && before == other && strings.HasPrefix(before, "edit ") {
				return true
			}
		}
	}
	return false
}

func parts(text string) []string {
	list := strings.Split(text, ";")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// try plays the setup with some guards broken and returns what came of the
// command.
func (g Guards) try(t *testing.T, broken ...Guard) string {
	t.Helper()
	lines := blocksOf(g.Setup)
	command, below, _ := strings.Cut(strings.ReplaceAll(g.Command, "\t", ""), "\n")
	var pre, then []string
	for _, guard := range broken {
		for _, part := range parts(guard.Break) {
			word, rest, _ := strings.Cut(part, " ")
			switch word {
			case "arg":
				command += " " + rest
			case "edit":
				edit(t, lines, rest)
			case "pre":
				pre = append(pre, rest)
			default:
				then = append(then, strings.TrimPrefix(part, "then "))
			}
		}
	}
	w := NewWorld()
	for _, line := range slices.Concat(lines, pre, then) {
		if err := w.play(line); err != nil {
			t.Fatalf("%v: setup: %v", broken, err)
		}
	}
	d, err := w.Do(command, below)
	if err != nil {
		t.Fatalf("%v: %v", broken, err)
	}
	switch {
	case d.Outcome != events.OutcomeRejected:
		return string(d.Outcome)
	case d.Reason != "":
		return string(d.Code) + " " + d.Reason
	}
	return string(d.Code)
}

// edit adds an argument to the line that begins with the rest of the text.
func edit(t *testing.T, blocks []string, text string) {
	t.Helper()
	i := strings.LastIndex(text, " ")
	if cut := strings.Index(text, "=("); cut >= 0 {
		i = strings.LastIndex(text[:cut], " ")
	}
	begin, argument := text[:i], text[i:]
	for n := range blocks {
		lines := strings.Split(blocks[n], "\n")
		for k := range lines {
			if strings.HasPrefix(lines[k]+" ", begin+" ") {
				lines[k] += argument
				blocks[n] = strings.Join(lines, "\n")
				return
			}
		}
	}
	t.Fatalf("no line of the setup begins with %q", begin)
}

// play plays one line of a setup with what stands below it: it must be accepted.
func (w *World) play(block string) error {
	line, below, _ := strings.Cut(block, "\n")
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "at":
		now, err := strconv.ParseInt(rest, 10, 64)
		w.story.now = max(w.story.now, now)
		return err
	case "given":
		_, err := w.give(rest)
		return err
	}
	d, err := w.Do(line, below)
	if err == nil && d.Outcome != events.OutcomeAccepted {
		err = fmt.Errorf("%s: %s", line, d)
	}
	return err
}
