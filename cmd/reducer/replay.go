package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/natsflags"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/jetlog"
	"github.com/aiws-reducer/aiws-reducer/reducer/loop"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// replaying holds the flags of replay.
type replaying struct {
	nats natsflags.Flags
	data string
	to   uint64
	at   cli.Millis
}

func newReplay() *cobra.Command {
	r := replaying{at: -1}
	c := &cobra.Command{
		Use:   "replay",
		Short: "rebuild the store from the log, or print the state as it was",
		Long: "Replay folds the whole log of a stopped reducer into a new store, compares every row with the old store,\n" +
			"and puts the new one in its place. Exit code 3 says that they differed: the new one is in place then, and\n" +
			"the old one is kept beside it.\n\n" +
			"With --to or --at it changes nothing and prints the named projections as they were after that command, or\n" +
			"before the first command that came later, as show prints them, and their digest. With --json it prints the\n" +
			"documents, a line each: the lines that the digest covers.\n\n" +
			"The log is in the data directory, or on the server that --nats names.",
		Example: cli.Example(
			"reducer replay --data aiws-data",
			"reducer replay --data aiws-data --to 1200",
			"reducer replay --data aiws-data --at 2026-01-31T09:00:00Z",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return coded(r.run(c)) },
	}
	c.Flags().StringVar(&r.data, "data", defaultData, "data `DIR`ectory of a stopped reducer")
	c.Flags().StringVar(&r.nats.URL, "nats", "", "read the log from the server at this `URL`, not from the directory")
	c.Flags().Uint64Var(&r.to, "to", 0, "print the state after this command `SEQ`uence")
	c.Flags().Var(&r.at, "at", "print the state as of this `TIME`, RFC 3339 or milliseconds")
	r.nats.AddLogin(c)
	return c
}

func (r *replaying) run(c *cobra.Command) error {
	looking := c.Flags().Changed("to") || r.at.Given()
	if c.Flags().Changed("to") && r.at.Given() {
		return exit.Errorf(exit.Usage, "give --to or --at, not both")
	}
	log, err := r.openLog(c.Context(), looking)
	if err != nil {
		return err
	}
	defer log.close()
	if looking {
		return r.look(c, log)
	}
	return r.rebuild(c, log)
}

// openLog opens the log. The directory is locked where its store is going to be
// replaced.
func (r *replaying) openLog(ctx context.Context, looking bool) (*openedLog, error) {
	if r.nats.URL == "" {
		return openStopped(ctx, r.data)
	}
	log, err := openRunning(ctx, &r.nats)
	if err != nil || looking {
		return log, err
	}
	if log.dir, err = jetlog.OpenExistingDir(r.data); err != nil {
		log.close()
		return nil, err
	}
	disconnect := log.close
	log.close = func() {
		disconnect()
		_ = log.dir.Close() // the process ends its hold on it in any case
	}
	return log, nil
}

// look prints the state as it was: as tables, or with --json as the lines that
// the digest covers.
func (r *replaying) look(c *cobra.Command, log *openedLog) error {
	return inScratch(func(scratch *projections.Store) error {
		walk := audit.Walk{Store: scratch, Until: r.until}
		summary, err := walkWithBar(c, log, &walk)
		if err != nil {
			return err
		}
		digest, err := audit.Digest(scratch)
		if err != nil {
			return err
		}
		if !cli.JSON(c) {
			if err := printState(c, scratch); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "after %d commands, the last one %d\n%s  state digest\n", summary.Commands, summary.Last, digest)
			return err
		}
		out := bufio.NewWriter(c.OutOrStdout())
		if err := audit.WriteDocuments(out, scratch); err != nil {
			return err
		}
		fmt.Fprintf(out, "{\"commands\":%d,\"lastCommand\":%d,\"stateDigest\":%q}\n", summary.Commands, summary.Last, digest)
		return out.Flush()
	})
}

// printState prints the documents of the named projections as show does, a table
// each.
func printState(c *cobra.Command, rows state.Rows) error {
	reader := state.NewReader(rows)
	for _, projection := range state.Named {
		v, shown := newView(c, projection, true), 0
		var failed error
		err := reader.Documents(projection, "", "", func(d *state.Document) bool {
			shown++
			failed = v.row(d.Contract, &wire.Document{Key: d.Key, Row: json.RawMessage(d.Value)})
			return failed == nil
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
		if shown == 0 {
			continue
		}
		fmt.Fprintln(c.OutOrStdout(), projection)
		if err := v.end(); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout())
	}
	return nil
}

// until says that a command came after the moment that is asked for.
func (r *replaying) until(m *events.Message) bool {
	if r.at.Given() {
		return m.Time/events.NanosPerMilli > int64(r.at)
	}
	return m.Seq > r.to
}

// walkWithBar reads the log with a bar on a terminal.
func walkWithBar(c *cobra.Command, log *openedLog, walk *audit.Walk) (*audit.Summary, error) {
	progress := ui.NewProgress(c.ErrOrStderr(), "blocks", int64(log.end))
	defer progress.Done()
	walk.Progress = func(uint64, int) { progress.Add(1) }
	return walk.Run(c.Context(), log)
}

// rebuilt is what a replay did.
type rebuilt struct {
	Blocks      uint64 `json:"blocks"`
	Commands    uint64 `json:"commands"`
	Compared    string `json:"compared"` // same, differs, none, damaged
	Kept        string `json:"kept,omitempty"`
	StateDigest string `json:"stateDigest"`
}

// Results of comparing the old store with the new one.
const (
	comparedSame    = "same"
	comparedDiffers = "differs"
	comparedNone    = "none"
	comparedDamaged = "damaged"
)

// rebuild makes a new store beside the old one, compares them and swaps them.
func (r *replaying) rebuild(c *cobra.Command, log *openedLog) error {
	result := &rebuilt{}
	fault, err := r.foldNew(c, log, result)
	if err != nil {
		return err
	}
	if err := swap(log.dir.Store(), log.dir.Checkpoints(), result); err != nil {
		return err
	}
	if err := result.print(c); err != nil {
		return err
	}
	if fault != nil {
		return fmt.Errorf("the old store was not what the log says, it is kept in %s: %w", result.Kept, fault)
	}
	return nil
}

// newStore is the name of the store that is being built.
func newStore(dir string) string { return dir + ".new" }

// foldNew builds the new store and compares it with the old one. fault is what
// is wrong with the old one, err what kept the new one from being built.
func (r *replaying) foldNew(c *cobra.Command, log *openedLog, result *rebuilt) (fault, err error) {
	old, err := openOld(log, result)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.close()) }()
	name := newStore(log.dir.Store())
	if err := os.RemoveAll(name); err != nil { // of a replay that was interrupted
		return nil, err
	}
	store, err := projections.OpenStore(projections.StoreOptions{Dir: name})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	walk := audit.Walk{Store: store, At: old.at, Met: func(at state.Cursor) error {
		err := old.compare(at, store)
		if errors.Is(err, loop.ErrIntegrity) {
			result.Compared, fault, err = comparedDiffers, err, nil
		}
		return err
	}}
	summary, err := walkWithBar(c, log, &walk)
	if err != nil {
		return nil, err
	}
	result.Blocks, result.Commands = summary.Blocks, summary.Commands
	result.StateDigest, err = audit.Digest(store)
	return fault, err
}

// openOld opens the store that is to be replaced, if it can be opened.
func openOld(log *openedLog, result *rebuilt) (*live, error) {
	old, err := openLiveStore(log)
	var damaged loop.Damaged
	switch {
	case errors.As(err, &damaged) && damaged.Damaged():
		result.Compared = comparedDamaged
		return nothingLive(), nil
	case err != nil:
		return nil, err
	case old.name == "":
		result.Compared = comparedNone
	default:
		result.Compared = comparedSame
	}
	return old, nil
}

// swap puts the new store in the place of the old one, which is kept only if it
// differed. Between the two steps there is none: a reducer that starts then
// builds it from the log.
func swap(dir, checkpoints string, result *rebuilt) error {
	switch result.Compared {
	case comparedDiffers, comparedDamaged:
		if err := os.RemoveAll(checkpoints); err != nil { // they may be of what was wrong
			return err
		}
		kept, err := projections.SetAside(dir)
		if err != nil {
			return err
		}
		result.Kept = kept
	case comparedSame:
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return os.Rename(newStore(dir), dir)
}

func (r *rebuilt) print(c *cobra.Command) error {
	if cli.JSON(c) {
		return ui.JSON(c.OutOrStdout(), r)
	}
	what := map[string]string{
		comparedSame:    "the same as the old one",
		comparedDiffers: "not the same as the old one, which is kept in " + r.Kept,
		comparedNone:    "there was none before",
		comparedDamaged: "the old one was damaged and is kept in " + r.Kept,
	}[r.Compared]
	_, err := fmt.Fprintf(c.OutOrStdout(), "rebuilt from %d commands in %d blocks: %s\n%s  state digest\n", r.Commands, r.Blocks, what, r.StateDigest)
	return err
}
