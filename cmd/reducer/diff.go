package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer/transfer"
)

func newDiff() *cobra.Command {
	var login natsflags.Flags
	c := &cobra.Command{
		Use:   "diff A B",
		Short: "find the first command on which two logs differ",
		Long: "Diff compares two logs command by command: what came in, and what was decided. A and B are each an\n" +
			"archive, a stopped data directory, a file that export or fold takes or made (- is standard input), or\n" +
			"the URL of a running reducer. Commands of a file without decisions are decided for the comparison.\n" +
			"How commands are grouped into blocks is not compared.\n\n" +
			"It prints the first command on which they differ, with both decisions, and ends with exit code 3.",
		Example: cli.Example(
			"reducer diff aiws-data \"$BACKUP/aiws\"",
			"reducer diff nats://127.0.0.1:4222 yesterday.jsonl",
			"reducer export --data old | reducer diff - new --json",
		),
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error { return coded(diff(c, &login, args[0], args[1])) },
	}
	login.AddLogin(c)
	return c
}

// side is one of the two logs, read step by step.
type side struct {
	name  string
	next  func() (*events.Entry, error, bool)
	close func()
}

// openSide opens a log, whatever it is kept in.
func openSide(c *cobra.Command, login *natsflags.Flags, name string) (*side, error) {
	s := &side{name: name, close: func() {}}
	info, err := os.Stat(name)
	if name == "-" || err == nil && info.Mode().IsRegular() {
		file, err := cli.Open(c, name)
		if err != nil {
			return nil, err
		}
		s.close = func() { file.Close() }
		return s.of(transfer.Decided(transfer.FromFile(file))), nil
	}
	log, err := openNamed(c.Context(), login, name)
	if err != nil {
		return nil, err
	}
	s.close = log.close
	return s.of(transfer.FromLog(c.Context(), log)), nil
}

func openNamed(ctx context.Context, login *natsflags.Flags, name string) (*openedLog, error) {
	if !strings.Contains(name, "://") {
		return openDirectory(ctx, name)
	}
	flags := *login
	flags.URL = name
	return openRunning(ctx, &flags)
}

func (s *side) of(entries transfer.Entries) *side {
	next, stop := iter.Pull2(entries)
	s.next = next
	closeSource := s.close
	s.close = func() {
		stop()
		closeSource()
	}
	return s
}

// found is the first difference, or none.
type found struct {
	Same     bool    `json:"same"`
	Commands int     `json:"commands"` // that are the same
	What     string  `json:"what,omitempty"`
	A        *diffed `json:"a"` // null: it has ended
	B        *diffed `json:"b"`
}

// diffed is a command with its decision.
type diffed struct {
	Seq      uint64          `json:"seq"`
	Command  json.RawMessage `json:"command"` // as a line of an export
	Decision json.RawMessage `json:"decision"`
}

func diff(c *cobra.Command, login *natsflags.Flags, nameA, nameB string) error {
	a, err := openSide(c, login, nameA)
	if err != nil {
		return fmt.Errorf("%s: %w", nameA, err)
	}
	defer a.close()
	b, err := openSide(c, login, nameB)
	if err != nil {
		return fmt.Errorf("%s: %w", nameB, err)
	}
	defer b.close()
	progress := ui.NewProgress(c.ErrOrStderr(), "commands", -1)
	defer progress.Done()
	f, err := compare(a, b, func() { progress.Add(1) })
	if err != nil {
		return err
	}
	progress.Done()
	if err := f.print(c, a.name, b.name); err != nil {
		return err
	}
	if !f.Same {
		return exit.Errorf(exit.Integrity, "%s and %s differ after %d commands: %s", a.name, b.name, f.Commands, f.What)
	}
	return nil
}

// compare reads both logs to the first difference.
func compare(a, b *side, same func()) (*found, error) {
	f := &found{}
	for {
		entryA, errA, okA := a.next()
		entryB, errB, okB := b.next()
		if err := errors.Join(named(a.name, errA), named(b.name, errB)); err != nil {
			return nil, err
		}
		switch {
		case !okA && !okB:
			f.Same = true
			return f, nil
		case !okA:
			f.What = a.name + " ends"
		case !okB:
			f.What = b.name + " ends"
		default:
			f.What = differ(entryA, entryB)
		}
		if f.What != "" {
			f.A, f.B = show(entryA), show(entryB)
			return f, nil
		}
		f.Commands++
		same()
	}
}

func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", name, err)
}

// differ says how two commands differ, or nothing.
func differ(a, b *events.Entry) string {
	m, n := &a.Message, &b.Message
	switch {
	case m.Seq != n.Seq:
		return "the sequences of the commands"
	case m.Subject != n.Subject:
		return "the subjects of the commands"
	case !slices.Equal(m.IDs, n.IDs) || (m.IDs == nil) != (n.IDs == nil):
		return "the ids of the commands"
	case !bytes.Equal(m.Body, n.Body):
		return "the bodies of the commands"
	case !m.Millis().Equal(n.Millis()):
		return "the times of the commands"
	case !bytes.Equal(a.Decision.AppendBare(nil), b.Decision.AppendBare(nil)):
		return "the decisions"
	}
	return ""
}

func show(e *events.Entry) *diffed {
	if e == nil {
		return nil
	}
	return &diffed{
		Seq:      e.Message.Seq,
		Command:  bytes.TrimSpace(logfile.Append(nil, &e.Message)),
		Decision: e.Decision.Append(nil),
	}
}

func (f *found) print(c *cobra.Command, nameA, nameB string) error {
	out := c.OutOrStdout()
	if cli.JSON(c) {
		return ui.JSON(out, f)
	}
	if f.Same {
		_, err := fmt.Fprintf(out, "the same %d commands and decisions\n", f.Commands)
		return err
	}
	for _, s := range []struct {
		name string
		has  *diffed
	}{{nameA, f.A}, {nameB, f.B}} {
		if s.has == nil {
			fmt.Fprintf(out, "%s has no further command\n", ui.Printable(s.name))
			continue
		}
		fmt.Fprintf(out, "%s, command %d:\n  %s\n  %s\n", ui.Printable(s.name), s.has.Seq, s.has.Command, s.has.Decision)
	}
	return nil
}
