package doccheck

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// Example is a worked example: a fence of jsonl, a log, and the fence of text
// that follows it, with one line for each decision:
//
//	7 admit rejected: APPROVAL_REQUIRED       # what stands after a # is for the reader
//	8 admit accepted: operationAdmitted, attemptPrepared
//	9 admit duplicate of 8
//
// and after those lines that name members of documents as they are at the end:
//
//	attempts desks-1 state=PREPARED reserved=600
type Example struct {
	Line int // of the log's fence in the page
	Log  string
	Want []string // lines without comments
}

// Examples finds the worked examples of a page. A log without the fence of text
// that it needs is an error.
func Examples(page Page) ([]Example, error) {
	var found []Example
	blocks := fences(page.Text)
	for i, block := range blocks {
		if block.info != "jsonl" {
			continue
		}
		if i+1 == len(blocks) || blocks[i+1].info != "text" {
			return nil, fmt.Errorf("%s:%d: a fence of jsonl wants a fence of text after it, with the outcomes", page.Name, block.line)
		}
		found = append(found, Example{Line: block.line, Log: block.text, Want: plainLines(blocks[i+1].text)})
	}
	return found, nil
}

// plainLines are the lines of a text without comments and blank lines.
func plainLines(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// Decide gives the lines that the example should have: its decisions, then the
// documents that its own lines name.
func (e *Example) Decide() ([]string, error) {
	rows := state.NewMemory()
	s := state.New(rows, state.Cursor{}, 0)
	decider, messages := reducer.New(), logfile.NewReader(strings.NewReader(e.Log))
	var lines []string
	for {
		m, err := messages.NextMessage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		lines = append(lines, outcome(decider.Step(s, m)))
	}
	rows.Commit(s.Take(0))
	s.Committed()
	for _, line := range e.Want {
		if line[0] >= '0' && line[0] <= '9' {
			continue
		}
		document, err := describe(state.NewReader(rows), line)
		if err != nil {
			return nil, err
		}
		lines = append(lines, document)
	}
	return lines, nil
}

// outcome is a decision on one line.
func outcome(d *events.Decision) string {
	commandType := d.Type
	if commandType == "" {
		commandType = "-"
	}
	line := fmt.Sprintf("%d %s ", d.CommandSeq, commandType)
	switch d.Outcome {
	case events.OutcomeDuplicate:
		return line + fmt.Sprintf("duplicate of %d", d.Of)
	case events.OutcomeRejected:
		return line + strings.TrimSpace(fmt.Sprintf("rejected: %s %s", d.Code, d.Reason))
	}
	types := make([]string, len(d.Events))
	for i, e := range d.Events {
		types[i] = e.Type()
	}
	return line + "accepted: " + strings.Join(types, ", ")
}

// describe rewrites a line "projection key member=value ..." with the values
// that the document has. A member that it lacks is empty.
func describe(reader *state.Reader, line string) (string, error) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return "", fmt.Errorf("%q: want a projection, a key and members of the document", line)
	}
	var found *state.Document
	err := reader.Documents(words[0], "", "", func(d *state.Document) bool {
		if d.Key == words[1] {
			found = d
		}
		return found == nil
	})
	if err != nil {
		return "", err
	}
	if found == nil {
		return "", fmt.Errorf("%q: there is no such document", line)
	}
	for i, word := range words[2:] {
		name, _, _ := strings.Cut(word, "=")
		member, _ := found.Value.Member(name)
		value := string(member)
		if text, ok := member.Str(); ok {
			value = text
		}
		words[i+2] = name + "=" + value
	}
	return strings.Join(words, " "), nil
}
