package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// verifying holds the flags of verify.
type verifying struct {
	source  source
	against string
	scrub   scrubbing
}

func newVerify() *cobra.Command {
	var v verifying
	c := &cobra.Command{
		Use:   "verify",
		Short: "check the log and the store against each other",
		Long: "Verify reads the whole log and checks that its blocks and records are chained and have the hashes they\n" +
			"name, decides every command again and compares the records byte for byte, folds the log into an empty\n" +
			"store and compares the state with the live one. With --data it compares every row of the store, without\n" +
			"it the digest of the running reducer; in both it rehydrates every pinned plan. It changes nothing. Exit\n" +
			"code 3: something differs.\n\n" +
			"Commands that other rules decided are not decided again; verify says which.\n\n" +
			"With --scrub it also reads the archive block by block, every row of the KV mirror and, of a stopped\n" +
			"directory, the checkpoints, and compares them with the log. Of a running reducer it compares every row of\n" +
			"the store by a digest, and reads no faster than --rate, so that the reducer is not held up.\n\n" +
			"With --against it compares the log with heads that `reducer head` printed earlier and somebody kept\n" +
			"elsewhere: that the log still has these records proves that nothing before them was rewritten.",
		Example: cli.Example(
			"reducer verify --data aiws-data",
			"reducer verify --nats nats://127.0.0.1:4222 --json",
			"reducer verify --against heads-2026-01-31.jsonl",
			"reducer verify --scrub --rate 4MiB",
			"reducer verify --scrub --data aiws-data --archive \"$BACKUP/aiws\"",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return coded(v.run(c)) },
	}
	v.source.add(c)
	v.scrub.add(c)
	c.Flags().StringVar(&v.against, "against", "", "compare with the chain heads in this `FILE`, as reducer head printed them (- is standard input)")
	return c
}

// run checks one log and what was made from it.
func (v *verifying) run(c *cobra.Command) error {
	s := &v.source
	heads, err := readHeads(c, v.against)
	if err != nil {
		return err
	}
	log, err := s.openLog(c.Context())
	if err != nil {
		return err
	}
	defer log.close()
	live, err := v.openLive(c.Context(), log)
	if err = v.scrub.keep(err); err != nil {
		return err
	}
	if err := v.scrub.begin(c, s, log); err != nil {
		return errors.Join(err, live.close())
	}
	r := &verified{Live: live.name}
	err = inScratch(func(scratch *projections.Store) error {
		err := v.walk(c, log, live, scratch, heads, r)
		if err = v.scrub.finish(c.Context(), log, scratch, err); err != nil {
			return err
		}
		r.StateDigest, err = audit.Digest(scratch)
		return err
	})
	if err := errors.Join(err, live.close()); err != nil {
		return err
	}
	r.Behind = log.end - live.at
	if v.scrub.asked {
		v.scrub.found.StoreRows = live.rows
		r.Scrub = &v.scrub.found
	}
	return r.print(c)
}

// walk reads the log into scratch and compares what is live with it on the way.
func (v *verifying) walk(c *cobra.Command, log *openedLog, live *live, scratch *projections.Store, heads *audit.Heads, r *verified) error {
	progress := ui.NewProgress(c.ErrOrStderr(), "blocks", int64(log.end))
	defer progress.Done()
	pace := v.scrub.pace(c.Context())
	walk := audit.Walk{
		Store: scratch, Decide: true, Heads: heads, At: live.at,
		Met: func(at state.Cursor) error { return v.scrub.keep(live.compare(at, scratch)) },
		Progress: func(_ uint64, bytes int) {
			progress.Add(1)
			_ = pace(bytes) // it ends with the context, which the walk notices too
		},
	}
	summary, err := walk.Run(c.Context(), log)
	r.take(summary, walk.Cursor())
	return err
}

// live is what a replay of the log is compared with.
type live struct {
	name    string // for people; "" where there is nothing to compare
	rows    uint64 // of a running reducer, where every one was compared
	at      uint64 // block that it is of
	compare func(at state.Cursor, replayed state.Rows) error
	close   func() error
}

func (v *verifying) openLive(ctx context.Context, log *openedLog) (*live, error) {
	switch {
	case v.source.stopped():
		return openLiveStore(log)
	case v.scrub.asked:
		return askRows(ctx, &v.source)
	}
	return askLive(ctx, &v.source)
}

// nothingLive is where there is nothing to compare with.
func nothingLive() *live {
	return &live{
		compare: func(state.Cursor, state.Rows) error { return nil },
		close:   func() error { return nil },
	}
}

// openLiveStore is the store of a stopped directory, as it was left.
// The live value is good for going on without it where there is an error.
func openLiveStore(log *openedLog) (*live, error) {
	if _, err := os.Stat(log.dir.Store()); errors.Is(err, fs.ErrNotExist) {
		return nothingLive(), nil
	}
	store, err := projections.OpenStore(projections.StoreOptions{Dir: log.dir.Store(), FlushEvery: -1})
	if err != nil {
		return nothingLive(), storeError(err)
	}
	cursor := store.Cursor()
	if cursor.LogSeq > log.end {
		return nothingLive(), errors.Join(audit.Ahead(cursor.LogSeq, log.end), store.Close())
	}
	return &live{
		name: "the store", at: cursor.LogSeq, close: store.Close,
		compare: func(at state.Cursor, replayed state.Rows) error { return audit.CompareAt(cursor, store, at, replayed) },
	}, nil
}

// askLive is the state of a running reducer.
func askLive(ctx context.Context, s *source) (*live, error) {
	return askRunning(ctx, s, func(running *client.Client, l *live) (func(state.Rows) error, error) {
		answer, err := running.Digest(ctx)
		l.at = answer.AsOf.Block
		return func(replayed state.Rows) error { return audit.CompareDigest(answer.StateDigest, replayed) }, err
	})
}

// askRows is every row of a running reducer, as a digest.
func askRows(ctx context.Context, s *source) (*live, error) {
	return askRunning(ctx, s, func(running *client.Client, l *live) (func(state.Rows) error, error) {
		answer, err := running.Rows(ctx)
		l.at, l.rows = answer.AsOf.Block, answer.Rows
		return func(replayed state.Rows) error { return compareRows(answer.Digest, replayed) }, err
	})
}

// askRunning asks a running reducer for something that a replay is compared
// with; its pinned plans are compared too.
func askRunning(ctx context.Context, s *source, ask func(*client.Client, *live) (func(state.Rows) error, error)) (*live, error) {
	l := nothingLive()
	err := s.asking(ctx, func(running *client.Client) error {
		compare, err := ask(running, l)
		l.name = "the running reducer"
		l.compare = func(_ state.Cursor, replayed state.Rows) error {
			if err := compare(replayed); err != nil {
				return err
			}
			return s.comparePins(ctx, replayed)
		}
		return err
	})
	return l, err
}

// comparePins rehydrates the pinned plans that the running reducer has.
func (s *source) comparePins(ctx context.Context, replayed state.Rows) error {
	return s.asking(ctx, func(running *client.Client) error {
		return audit.ComparePins(func(contract, key string) (schema.Value, bool, error) {
			d, err := running.Get(ctx, contract, state.Plans, key)
			if errors.Is(err, client.ErrNotFound) {
				return "", false, nil
			}
			return schema.Value(d.Row), err == nil, err
		}, replayed)
	})
}

// inScratch calls f with an empty store that is gone afterwards.
func inScratch(f func(*projections.Store) error) (err error) {
	dir, err := os.MkdirTemp("", "reducer-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := projections.OpenStore(projections.StoreOptions{Dir: dir, FlushEvery: -1})
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

// verified is what verify found in order.
type verified struct {
	Blocks       uint64    `json:"blocks"`
	Commands     uint64    `json:"commands"`
	FirstCommand uint64    `json:"firstCommand"`
	LastCommand  uint64    `json:"lastCommand"`
	Decided      uint64    `json:"decidedAgain"`
	Left         []leftOut `json:"notDecidedAgain"` // never nil
	Pins         uint64    `json:"plans"`
	Heads        int       `json:"heads,omitempty"`        // that were kept, and are in the log
	OtherBlocks  int       `json:"headsSkipped,omitempty"` // heads of blocks of another generation
	Live         string    `json:"comparedWith,omitempty"`
	Behind       uint64    `json:"blocksBehind"` // of what was compared, to the log's end
	BlockHash    string    `json:"blockHash"`
	StateDigest  string    `json:"stateDigest"`

	Scrub *scrubbed `json:"scrub,omitempty"`
}

// leftOut is a run of blocks that were not decided again.
type leftOut struct {
	RulesVersion int64  `json:"rulesVersion"`
	FirstBlock   uint64 `json:"firstBlock"`
	LastBlock    uint64 `json:"lastBlock"`
	Commands     uint64 `json:"commands"`
}

func (r *verified) take(s *audit.Summary, c state.Cursor) {
	r.Blocks, r.Commands, r.FirstCommand, r.LastCommand, r.Decided, r.Pins = s.Blocks, s.Commands, s.First, s.Last, s.Decided, s.Pins
	r.Heads, r.OtherBlocks = s.Heads, s.Skipped
	r.BlockHash = fmt.Sprintf("%x", c.BlockHash)
	r.Left = []leftOut{}
	for _, left := range s.Left {
		r.Left = append(r.Left, leftOut(left))
	}
}

func (r *verified) print(c *cobra.Command) error {
	if cli.JSON(c) {
		return ui.JSON(c.OutOrStdout(), r)
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	table := ui.NewTable("verified", "count#", "what")
	table.Row("blocks", number(r.Blocks), "chained, with the content that they name")
	table.Row("commands", number(r.Commands), "chained in their ledgers, with the hashes that they name")
	table.Row("decided again", number(r.Decided), fmt.Sprintf("under rules version %d, with the same records", reducer.RulesVersion))
	for _, left := range r.Left {
		table.Row("not decided again", number(left.Commands), fmt.Sprintf("blocks %d to %d, of rules version %d: verify them with a build of that version",
			left.FirstBlock, left.LastBlock, left.RulesVersion))
	}
	table.Row("plans", number(r.Pins), "pinned, and given back with the hashes that their runs name")
	if r.Heads > 0 {
		table.Row("heads", strconv.Itoa(r.Heads), "that were kept elsewhere are in the log")
	}
	if r.OtherBlocks > 0 {
		table.Row("heads of blocks", strconv.Itoa(r.OtherBlocks), "not compared: the log was imported from a file since, so its blocks are others")
	}
	switch {
	case r.Live == "":
		table.Row("state", "", "there is no store to compare with; the next start makes one")
	case r.Behind > 0:
		table.Row("state", "", fmt.Sprintf("%s is the log's, %d blocks before its end", r.Live, r.Behind))
	default:
		table.Row("state", "", r.Live+" is the log's")
	}
	if r.Scrub != nil {
		r.Scrub.print(table, r.Blocks)
	}
	table.Row("last block", "", r.BlockHash)
	table.Row("state digest", "", r.StateDigest)
	return table.Write(c.OutOrStdout())
}
