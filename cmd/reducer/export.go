package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
)

// exporting holds the flags of export.
type exporting struct {
	source    source
	decisions bool
	contract  string
	from, to  uint64
}

func newExport() *cobra.Command {
	var e exporting
	c := &cobra.Command{
		Use:   "export",
		Short: "print the commands of the log, as fold and ingest read them",
		Long: "Export prints the commands of the decision log as JSON lines, in their order, with the times and\n" +
			"sequences that the log has. Deciding them again with fold gives the same decisions and the same digest.\n" +
			"With --decisions each line also holds the decision record, as its last member: import keeps it, fold compares it\n" +
			"with its own, ingest leaves it aside.",
		Example: cli.Example(
			"reducer export > commands.jsonl",
			"reducer export --data aiws-data | reducer fold --digest - | tail -1",
			"reducer export --decisions --contract onboarding --from 100 --to 200",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return coded(e.run(c)) },
	}
	e.source.add(c)
	c.Flags().BoolVar(&e.decisions, "decisions", false, "print the recorded decision with each command")
	c.Flags().StringVar(&e.contract, "contract", "", "print the commands of this `CONTRACT` only")
	completeFlag(c, "contract", e.source.contracts)
	c.Flags().Uint64Var(&e.from, "from", 0, "begin at this command `SEQ`uence")
	c.Flags().Uint64Var(&e.to, "to", math.MaxInt64, "end at this command `SEQ`uence")
	c.Flags().Lookup("to").DefValue = ""
	return c
}

func (e *exporting) run(c *cobra.Command) error {
	log, err := e.source.openLog(c.Context())
	if err != nil {
		return err
	}
	defer log.close()
	out := bufio.NewWriterSize(c.OutOrStdout(), 64<<10)
	progress := exportProgress(c, log)
	defer progress.Done()
	return errors.Join(e.write(c.Context(), log, out, progress), out.Flush())
}

// exportProgress shows a bar, except where the lines themselves are on the
// screen.
func exportProgress(c *cobra.Command, log *openedLog) *ui.Progress {
	if ui.IsTerminal(c.OutOrStdout()) {
		return ui.NewProgress(io.Discard, "", 0)
	}
	return ui.NewProgress(c.ErrOrStderr(), "blocks", int64(log.end))
}

// write prints what the log holds, up to its end or to the last command wanted.
func (e *exporting) write(ctx context.Context, log *openedLog, out io.Writer, progress *ui.Progress) error {
	last := uint64(0)
	err := loop.ReadBlocks(ctx, log, 1, func(b *loop.ReadBlock) error {
		if b.Err != nil {
			return b.Err
		}
		if b.Seq != last+1 {
			return fmt.Errorf("%w: block %d of the log follows block %d: blocks are missing", loop.ErrIntegrity, b.Seq, last)
		}
		last = b.Seq
		progress.Add(1)
		return e.block(b.Block, out)
	})
	switch {
	case errors.Is(err, errDone):
		return nil
	case err == nil && last < log.end:
		return fmt.Errorf("%w: the log ends at block %d, and no block after %d can be read", loop.ErrIntegrity, log.end, last)
	}
	return err
}

// errDone: nothing that is wanted comes any more.
var errDone = errors.New("done")

func (e *exporting) block(b *events.Block, out io.Writer) error {
	if b.Header.LastCommandSeq < e.from {
		return nil
	}
	var line []byte
	for i := range b.Entries {
		entry := &b.Entries[i]
		switch seq := entry.Message.Seq; {
		case seq > e.to:
			return errDone
		case seq < e.from, e.contract != "" && entry.Decision.Contract != e.contract:
			continue
		}
		if line = line[:0]; e.decisions {
			line = logfile.AppendDecided(line, &entry.Message, entry.Record)
		} else {
			line = logfile.Append(line, &entry.Message)
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}
