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
			"With --against it compares the log with heads that `reducer head` printed earlier and somebody kept\n" +
			"elsewhere: that the log still has these records proves that nothing before them was rewritten.",
		Example: cli.Example(
			"reducer verify --data aiws-data",
			"reducer verify --nats nats://127.0.0.1:4222 --json",
			"reducer verify --against heads-2026-01-31.jsonl",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return coded(v.run(c)) },
	}
	v.source.add(c)
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
	live, err := s.openLive(c.Context(), log)
	if err != nil {
		return err
	}
	r := &verified{Live: live.name}
	err = inScratch(func(scratch *projections.Store) error {
		progress := ui.NewProgress(c.ErrOrStderr(), "blocks", int64(log.end))
		defer progress.Done()
		walk := audit.Walk{
			Store: scratch, Decide: true, Heads: heads, At: live.at,
			Met:      func(at state.Cursor) error { return live.compare(at, scratch) },
			Progress: func(uint64, int) { progress.Add(1) },
		}
		summary, err := walk.Run(c.Context(), log)
		r.take(summary, walk.Cursor())
		if err != nil {
			return err
		}
		r.StateDigest, err = audit.Digest(scratch)
		return err
	})
	if err := errors.Join(err, live.close()); err != nil {
		return err
	}
	r.Behind = log.end - live.at
	return r.print(c)
}

// live is what a replay of the log is compared with.
type live struct {
	name    string // for people; "" where there is nothing to compare
	at      uint64 // block that it is of
	compare func(at state.Cursor, replayed state.Rows) error
	close   func() error
}

func (s *source) openLive(ctx context.Context, log *openedLog) (*live, error) {
	if s.stopped() {
		return openLiveStore(log)
	}
	return askLive(ctx, s)
}

// nothingLive is where there is nothing to compare with.
func nothingLive() *live {
	return &live{
		compare: func(state.Cursor, state.Rows) error { return nil },
		close:   func() error { return nil },
	}
}

// openLiveStore is the store of a stopped directory, as it was left.
func openLiveStore(log *openedLog) (*live, error) {
	if _, err := os.Stat(log.dir.Store()); errors.Is(err, fs.ErrNotExist) {
		return nothingLive(), nil
	}
	store, err := projections.OpenStore(projections.StoreOptions{Dir: log.dir.Store(), FlushEvery: -1})
	if err != nil {
		return nil, storeError(err)
	}
	cursor := store.Cursor()
	if cursor.LogSeq > log.end {
		return nil, errors.Join(audit.Ahead(cursor.LogSeq, log.end), store.Close())
	}
	return &live{
		name: "the store", at: cursor.LogSeq, close: store.Close,
		compare: func(at state.Cursor, replayed state.Rows) error { return audit.CompareAt(cursor, store, at, replayed) },
	}, nil
}

// askLive is the state of a running reducer.
func askLive(ctx context.Context, s *source) (*live, error) {
	l := nothingLive()
	err := s.asking(ctx, func(running *client.Client) error {
		answer, err := running.Digest(ctx)
		l.name, l.at = "the running reducer", answer.AsOf.Block
		l.compare = func(_ state.Cursor, replayed state.Rows) error {
			if err := audit.CompareDigest(answer.StateDigest, replayed); err != nil {
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
	table.Row("last block", "", r.BlockHash)
	table.Row("state digest", "", r.StateDigest)
	return table.Write(c.OutOrStdout())
}
