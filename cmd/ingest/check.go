package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// command is one line, ready to be published.
type command struct {
	Line    int // in the file, for messages to people
	Subject string
	IDs     []string // of the header; never empty but for an unchecked line
	Body    []byte
}

// maxFaults is how many faults of a file are told at once.
const maxFaults = 20

// checker turns the lines of one file into commands.
type checker struct {
	reader     *logfile.Reader
	identifier logfile.Identifier
	unchecked  bool // bodies and ids are published as they are
}

// next gives the next command, io.EOF at the end, or the fault of a line.
func (c *checker) next() (*command, error) {
	line, err := c.reader.Next()
	if err != nil {
		return nil, err
	}
	check := checkLine
	if c.unchecked {
		check = checkPublishable
	}
	if fault := check(line); fault != nil {
		fault.Line = line.Number
		return nil, fault
	}
	ids := line.IDs
	if ids == nil {
		ids = []string{c.identifier.ID(line)}
	}
	return &command{Line: line.Number, Subject: line.Subject, IDs: ids, Body: line.Body}, nil
}

// checkFile reads a whole file and counts its commands. The error tells up to
// maxFaults faults, a line each.
func (c *checker) checkFile() (int, error) {
	count := 0
	var faults []error
	for len(faults) < maxFaults {
		_, err := c.next()
		var fault *logfile.Error
		switch {
		case errors.Is(err, io.EOF):
			return count, errors.Join(faults...)
		case errors.As(err, &fault):
			faults = append(faults, fault)
		case err != nil:
			return count, errors.Join(append(faults, err)...)
		default:
			count++
		}
	}
	return count, errors.Join(append(faults, errors.New("and perhaps more"))...)
}

// checkLine refuses what the reducer would refuse without looking at its state
// (RULES 2, steps 0 to 3).
func checkLine(line *logfile.Line) *logfile.Error {
	subject, ok := schema.ParseSubject(line.Subject)
	if !ok {
		return fault(subjectPlace(line.Subject), "SUBJECT_INVALID: %q is not aiws.cmd.<contract>.<principal>.<type> of two ids and a command type", line.Subject)
	}
	if line.IDs != nil && (len(line.IDs) != 1 || !schema.ValidCommandID(line.IDs[0])) {
		return fault("/id", "COMMAND_ID_INVALID: want one id of 1 to 128 visible ASCII characters that does not begin with seq-")
	}
	if len(line.Body) > schema.MaxBody {
		return fault(bodyPlace(line), "BODY_TOO_LARGE: %d bytes, %d are the limit", len(line.Body), schema.MaxBody)
	}
	command, invalid := schema.Decode(line.Body)
	if invalid != nil {
		return fault(bodyPlace(line)+invalid.Pointer, "%s: %s", invalid.Code, invalid.Message)
	}
	if command.Type() != subject.Type {
		return fault("/type", "SUBJECT_MISMATCH: the subject says %s, the command is %s", subject.Type, command.Type())
	}
	return nil
}

// checkPublishable refuses only what cannot be sent: the protocol has no way to
// write it, or the inbox would not see it.
func checkPublishable(line *logfile.Line) *logfile.Error {
	unsafe := func(r rune) bool { return r <= ' ' || r == 0x7F }
	tokens := strings.Split(line.Subject, ".")
	for _, token := range tokens {
		if token == "" || token == "*" || token == ">" || strings.ContainsFunc(token, unsafe) {
			return fault(subjectPlace(line.Subject), "%q cannot be published: it has an empty, a wildcard or a blank token", line.Subject)
		}
	}
	if len(tokens) < 3 || tokens[0] != "aiws" || tokens[1] != "cmd" {
		return fault(subjectPlace(line.Subject), "%q reaches no inbox: its subjects begin with aiws.cmd.", line.Subject)
	}
	for _, id := range line.IDs {
		if strings.ContainsAny(id, "\r\n") {
			return fault("/id", "a header cannot hold a line break")
		}
	}
	return nil
}

// subjectPlace points to the member that makes the subject wrong.
func subjectPlace(subject string) string {
	parts, _ := schema.ParseSubject(subject)
	switch {
	case strings.Count(subject, ".") != 4 || !strings.HasPrefix(subject, "aiws.cmd."):
		return "/subject"
	case parts.Contract == "":
		return "/contract"
	case parts.Principal == "":
		return "/principal"
	case parts.Type == "":
		return "/type"
	}
	return "/contract" // of our own, which nobody may name
}

func bodyPlace(line *logfile.Line) string {
	if line.Raw {
		return "/raw"
	}
	return "/command"
}

func fault(pointer, format string, args ...any) *logfile.Error {
	return &logfile.Error{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
}
