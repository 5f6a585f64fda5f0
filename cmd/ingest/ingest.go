package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
)

// ingesting holds the flags of ingest.
type ingesting struct {
	nats      natsflags.Flags
	contract  string
	principal string
	wait      bool
	dryRun    bool
	unchecked bool
	via       string
}

// The values of --via.
const (
	viaAuto   = "auto"
	viaStream = "stream"
	viaSubmit = "submit"
)

func newIngest() *cobra.Command {
	var in ingesting
	c := cli.NewRoot("ingest", "check commands, publish them and show the decisions", "", nil)
	version := c.RunE
	c.Use = "ingest [FILE|-]"
	c.Long = "Ingest reads commands from a log file (JSON lines), standard input without one. It checks the whole\n" +
		"file before it publishes anything, and publishes in the order of the file.\n\n" +
		"Publishing a file again is harmless: each line has an id, its own or one derived from what it says, and\n" +
		"the reducer decides an id once. The members at, seq and decision of a line are ignored."
	c.Example = cli.Example(
		"ingest --wait testdata/quickstart.jsonl",
		"ingest --dry-run commands.jsonl",
		"ingest --wait --nkey secrets/buyer.nk --inbox-prefix _INBOX.buyer commands.jsonl   # a user of reducer init",
		`echo '{"command":{"type":"missionState","state":"SUSPENDED"}}' | ingest --contract c1 --principal owner --wait`,
	)
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if asked, err := c.Flags().GetBool("version"); err == nil && asked {
			return version(c, nil)
		}
		if !slices.Contains([]string{viaAuto, viaStream, viaSubmit}, in.via) {
			return exit.Errorf(exit.Usage, "--via %s: want auto, stream or submit", in.via)
		}
		name := "-"
		if len(args) == 1 {
			name = args[0]
		}
		if err := in.run(c, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
	in.nats.Add(c)
	c.Flags().StringVar(&in.via, "via", viaAuto, "how commands go: into the inbox `stream`, as requests to aiws.submit, or auto: the stream where the server permits it")
	c.Flags().StringVar(&in.contract, "contract", "", "contract of the lines that name none")
	c.Flags().StringVar(&in.principal, "principal", "", "principal of the lines that name none")
	c.Flags().BoolVar(&in.wait, "wait", false, "wait for the decisions and print them; exit code 4 if one is a rejection")
	c.Flags().BoolVar(&in.dryRun, "dry-run", false, "check only, publish nothing")
	c.Flags().BoolVar(&in.unchecked, "unchecked", false, "publish bodies and ids as they are, valid or not")
	return c
}

// run checks the whole file, then publishes it.
func (in *ingesting) run(c *cobra.Command, name string) error {
	file, err := openSeekable(c, name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read from here on
	count, err := in.checker(file).checkFile()
	if err != nil {
		return fmt.Errorf("nothing was published:\n%w", err)
	}
	if in.dryRun {
		return report(c, count, "fine")
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return in.send(c, in.checker(file), count)
}

func (in *ingesting) checker(file io.Reader) *checker {
	reader := logfile.NewReader(file)
	reader.Contract, reader.Principal = in.contract, in.principal
	reader.Decisions = true
	return &checker{reader: reader, unchecked: in.unchecked}
}

// send publishes the commands of a checked file in order.
func (in *ingesting) send(c *cobra.Command, commands *checker, count int) error {
	p, err := newPublisher(&in.nats, c.ErrOrStderr())
	if err != nil {
		return err
	}
	defer p.close()
	s, err := in.sender(p, newPrinter(c))
	if err != nil {
		return err
	}
	progress := ui.NewProgress(c.ErrOrStderr(), "publishing", int64(count))
	defer progress.Done()
	if err := sendAll(c.Context(), s, commands, progress); err != nil {
		return fmt.Errorf("%d of %d published; it is harmless to publish the file again: %w", min(p.published, count), count, err)
	}
	progress.Done()
	if !in.wait {
		return report(c, count, "published")
	}
	return s.finish(c.Context())
}

// sendAll sends what there is, until the reducer's inbox has all of it.
func sendAll(ctx context.Context, s sender, commands *checker, progress *ui.Progress) error {
	for {
		command, err := commands.next()
		if errors.Is(err, io.EOF) {
			return s.flush(ctx)
		}
		if err != nil {
			return err
		}
		if err := s.send(ctx, command); err != nil {
			return err
		}
		progress.Add(1)
	}
}

func report(c *cobra.Command, count int, what string) error {
	if cli.JSON(c) {
		return ui.JSON(c.OutOrStdout(), map[string]any{"commands": count, "result": what})
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "%d commands %s\n", count, what)
	return err
}

// openSeekable opens the file for two readings; what cannot be read twice is
// copied aside.
func openSeekable(c *cobra.Command, name string) (*os.File, error) {
	source, err := cli.Open(c, name)
	if err != nil {
		return nil, err
	}
	if file, ok := source.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	defer source.Close()
	spool, err := os.CreateTemp("", "ingest-*.jsonl")
	if err != nil {
		return nil, err
	}
	// The open file outlives its name, so nothing is left behind.
	if err := os.Remove(spool.Name()); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	if _, err := io.Copy(spool, source); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, errors.Join(err, spool.Close())
	}
	return spool, nil
}

// backoff is the pause before the n-th try.
func backoff(n int) time.Duration {
	return min(time.Second, 20*time.Millisecond<<min(n, 6))
}
