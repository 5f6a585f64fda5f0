package doccheck

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Page is a file of docs.
type Page struct {
	Name string // slash-separated, relative to the root of the repository
	Text string
}

// Pages reads every Markdown file below docs, sorted by name.
func Pages(root string) ([]Page, error) {
	var names []string
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return nil, err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	pages := make([]Page, len(names))
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		pages[i] = Page{Name: filepath.ToSlash(rel), Text: string(text)}
	}
	return pages, nil
}

// fence is a fenced block: what stands between two lines of three backticks.
type fence struct {
	info string // what follows the opening backticks
	line int    // of the opening, from 1
	text string // with its last newline
}

const backticks = "```"

// fences finds the fenced blocks of a page in order.
func fences(text string) []fence {
	var found []fence
	var open *fence
	number := 0
	for line := range strings.Lines(text) {
		number++
		info, isFence := strings.CutPrefix(strings.TrimRight(line, "\n"), backticks)
		switch {
		case open == nil && isFence:
			open = &fence{info: strings.TrimSpace(info), line: number}
		case open != nil && isFence:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	return found
}

// prose is the text of a page with its fenced blocks left empty.
func prose(text string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, backticks) {
			inside = !inside
		}
		if inside {
			line = "\n"
		}
		out.WriteString(line)
	}
	return out.String()
}
