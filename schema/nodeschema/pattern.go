package nodeschema

import (
	"regexp/syntax"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// pattern checks an RE2 pattern and adds what it costs. A few bytes can stand for thousands of instructions, so the cost is
// known from the parsed pattern before anything of that size is made.
func (w *walker) pattern(n *jsontree.Node, text string) error {
	if w.cost.parsing += parseWork(text); w.cost.parsing > MaxPatternParse {
		return wrong(n, "the patterns together have too many or too wide classes of characters")
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return wrong(n, "pattern %q is not RE2: %v", text, err)
	}
	if w.cost.steps += patternSteps(parsed) + 2; w.cost.steps > MaxPatternSteps {
		return wrong(n, "the patterns together need more than %d instructions", MaxPatternSteps)
	}
	return nil
}

// parseWork estimates what reading the classes of a pattern takes, in characters looked at: parsing them is the one part of
// reading a pattern that is not in proportion to its length. A Unicode class is a table of ranges, which inside brackets is
// sorted again; where case is ignored, every character of every class is looked at, up to the last one that has case.
func parseWork(text string) int {
	const table, foldedTable, sortedTable, lastWithCase = 500, 1600, 3500, 0x1E943
	tables, brackets := strings.Count(text, `\p`)+strings.Count(text, `\P`), strings.Count(text, "[")
	folded := ignoresCase(text)
	work := 0
	switch {
	case brackets > 0:
		work = tables * sortedTable
	case folded:
		work = tables * foldedTable
	default:
		work = tables * table
	}
	if !folded {
		return work
	}
	width := 0x7F
	for _, c := range text {
		width = min(max(width, int(c)), lastWithCase)
	}
	if strings.Contains(text, `\x`) {
		width = lastWithCase
	}
	return work + brackets*2*width
}

// ignoresCase reports whether some part of the pattern may have the flag i.
func ignoresCase(text string) bool {
	for {
		_, after, found := strings.Cut(text, "(?")
		if !found {
			return false
		}
		rest := strings.TrimLeft(after, "imsU-")
		if strings.Contains(after[:len(after)-len(rest)], "i") {
			return true
		}
		text = after
	}
}

// patternSteps returns an upper bound of the instructions that p becomes.
func patternSteps(p *syntax.Regexp) int {
	steps := 0
	for _, sub := range p.Sub {
		steps += patternSteps(sub)
	}
	switch p.Op {
	case syntax.OpConcat:
		return max(steps, 1)
	case syntax.OpLiteral:
		return len(p.Rune)
	case syntax.OpCapture, syntax.OpStar: // a star of what may be empty becomes an optional plus
		return steps + 2
	case syntax.OpAlternate:
		return steps + len(p.Sub)
	case syntax.OpRepeat:
		copies := max(p.Max, p.Min+1)
		return copies*steps + copies - p.Min
	}
	return steps + 1
}
