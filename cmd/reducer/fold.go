package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// folding holds the flags of fold.
type folding struct {
	state  bool
	digest bool
	bare   bool
}

func newFold() *cobra.Command {
	var f folding
	c := &cobra.Command{
		Use:   "fold FILE|-",
		Short: "decide the commands of a log file, without a server",
		Long: "Fold reads commands from a log file (JSON lines with at), decides them in memory and prints one\n" +
			"decision record for each, as canonical JSON. The same file gives the same bytes everywhere.\n\n" +
			"Where a line has the decision that was recorded for it, as export --decisions prints it, fold compares: it says\n" +
			"on which commands its decision is another one, and ends with exit code 3.",
		Example: cli.Example(
			"reducer fold testdata/quickstart.jsonl",
			"reducer fold --state --digest --bare testdata/golden/M1.jsonl | diff - testdata/golden/M1.out",
			"reducer export | reducer fold --digest - | tail -1",
		),
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, err := cli.Open(c, args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			out := bufio.NewWriter(c.OutOrStdout())
			if err := f.run(file, out, c.ErrOrStderr()); err != nil {
				return errors.Join(fmt.Errorf("%s: %w", args[0], err), out.Flush())
			}
			return out.Flush()
		},
	}
	c.Flags().BoolVar(&f.state, "state", false, "print each document of the named projections after the decisions")
	c.Flags().BoolVar(&f.digest, "digest", false, "print the stateDigest of those documents at the end")
	c.Flags().BoolVar(&f.bare, "bare", false, "leave message and pointer out of the decisions")
	return c
}

// commitEvery bounds what a long file keeps beside the rows.
const commitEvery = 1024

// run decides each message of the file and prints what the flags ask for.
// Recorded decisions that are others are told to stderr.
func (f folding) run(file io.Reader, out, stderr io.Writer) error {
	rows := state.NewMemory()
	s := state.New(rows, state.Cursor{}, 0)
	decider := reducer.New()
	messages := logfile.NewReader(file)
	messages.Decisions = true
	recorded := recordedDecisions{stderr: stderr}
	var line []byte
	for n := uint64(1); ; n++ {
		m, record, err := messages.NextDecided()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		d := decider.Step(s, m)
		if err := recorded.compare(record, d); err != nil {
			return err
		}
		line = f.append(line[:0], d)
		if _, err := out.Write(line); err != nil {
			return err
		}
		if n%commitEvery == 0 {
			commit(rows, s, n/commitEvery)
		}
	}
	commit(rows, s, 0)
	return errors.Join(f.documents(rows, out), recorded.verdict())
}

// recordedDecisions compares the decisions of a file with those that are made
// now.
type recordedDecisions struct {
	stderr     io.Writer
	count, bad int
	first      uint64
}

// maxDifferences is how many decisions that differ are told in full.
const maxDifferences = 5

// compare tells where a recorded decision is another one. Message and pointer
// are prose and are not compared.
func (r *recordedDecisions) compare(record []byte, d *events.Decision) error {
	if record == nil {
		return nil
	}
	r.count++
	was, err := events.ParseDecision(record)
	if err != nil {
		return fmt.Errorf("command %d: the recorded decision: %w", d.CommandSeq, err)
	}
	if bytes.Equal(was.AppendBare(nil), d.AppendBare(nil)) {
		return nil
	}
	if r.bad++; r.bad == 1 {
		r.first = d.CommandSeq
	}
	if r.bad <= maxDifferences {
		fmt.Fprintf(r.stderr, "command %d\n  recorded: %s\n  decided:  %s\n", d.CommandSeq, was.AppendBare(nil), d.AppendBare(nil))
	}
	return nil
}

// verdict is an error where any of them differed.
func (r *recordedDecisions) verdict() error {
	if r.bad == 0 {
		return nil
	}
	return exit.Errorf(exit.Integrity, "%d of %d recorded decisions are not what is decided now; the first is that of command %d", r.bad, r.count, r.first)
}

func (f folding) append(dst []byte, d *events.Decision) []byte {
	if f.bare {
		return append(d.AppendBare(dst), '\n')
	}
	return append(d.Append(dst), '\n')
}

func commit(rows *state.MemoryRows, s *state.State, seq uint64) {
	rows.Commit(s.Take(seq))
	s.Committed()
}

// documents prints the documents of the named projections and their digest.
func (f folding) documents(rows state.Rows, out io.Writer) error {
	if !f.state && !f.digest {
		return nil
	}
	digest := sha256.New()
	to := []io.Writer{digest}
	if f.state {
		to = append(to, out)
	}
	if err := audit.WriteDocuments(io.MultiWriter(to...), rows); err != nil {
		return err
	}
	if !f.digest {
		return nil
	}
	_, err := fmt.Fprintf(out, "{\"stateDigest\":%q}\n", hex.EncodeToString(digest.Sum(nil)))
	return err
}
