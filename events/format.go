package events

import (
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Format prints an event on one line: its type, then its members as key=value
// in field order. Plain text stands bare, everything else as canonical JSON.
// Tests, logs and tools share this printer; nothing parses it.
func Format(e Event) string {
	line := []byte(e.Type())
	for name, value := range schema.Value(schema.AppendRecord(nil, e)).Members() {
		if name == "type" {
			continue
		}
		line = append(append(append(line, ' '), name...), '=')
		line = appendPlain(line, value)
	}
	return string(line)
}

// appendPlain leaves out the quotes of a text that no reader could mistake.
func appendPlain(line []byte, value schema.Value) []byte {
	if text, ok := value.Str(); ok && text != "" && !strings.ContainsAny(text, " =,\"\\{}[]()") && len(value) == len(text)+2 {
		return append(line, text...)
	}
	return append(line, value...)
}

// String prints the outcome on one line, without the events: tools print those
// below it, one by one.
func (d *Decision) String() string {
	line := strconv.FormatUint(d.CommandSeq, 10) + " " + string(d.Outcome)
	switch d.Outcome {
	case OutcomeDuplicate:
		line += " of " + strconv.FormatUint(d.Of, 10) + ": " + string(d.OfOutcome)
		if d.OfCode != "" {
			line += " " + string(d.OfCode)
		}
	case OutcomeRejected:
		line += " " + string(d.Code)
		if d.Reason != "" {
			line += " (" + d.Reason + ")"
		}
		if d.Pointer != "" {
			line += " at " + d.Pointer
		}
		if d.Message != "" {
			line += ": " + d.Message
		}
	}
	return line
}
