package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
)

func newCheckpoint() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "checkpoint",
		Short: "make a checkpoint of the store, from which a damaged store is made again",
		Long: "Checkpoint copies the store as of its last block and checks the copy: the state hash, computed from all\n" +
			"rows, must be the one that the log names. A store that is damaged or gone is made from the newest good\n" +
			"checkpoint and the blocks after it, instead of from the whole log. Two are kept, in checkpoints/ of the\n" +
			"data directory; serve makes one by itself every so many blocks (--checkpoint-blocks).\n\n" +
			"A checkpoint is no backup: it shares its files with the store where the disk can do that, and it holds\n" +
			"nothing that the log does not.",
		Example: cli.Example(
			"reducer checkpoint",
			"reducer checkpoint --data aiws-data",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return coded(checkpoint(c, &s)) },
	}
	s.add(c)
	return c
}

func checkpoint(c *cobra.Command, s *source) error {
	if s.stopped() {
		made, err := checkpointStopped(c, s.data)
		if err != nil {
			return err
		}
		return printCheckpoint(c, made)
	}
	return s.asking(c.Context(), func(running *client.Client) error {
		made, err := running.Checkpoint(c.Context())
		if err != nil {
			return err
		}
		return printCheckpoint(c, made)
	})
}

// checkpointStopped brings the store of a stopped directory up to its log first.
func checkpointStopped(c *cobra.Command, data string) (made wire.CheckpointResponse, err error) {
	log, err := openStopped(c.Context(), data)
	if err != nil {
		return made, err
	}
	defer log.close()
	home := projections.NewHome(projections.StoreOptions{Dir: log.dir.Store(), Checkpoints: log.dir.Checkpoints(), FlushEvery: -1})
	store, err := openStore(c.Context(), home, log)
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	checkpoint, err := home.Checkpoint()
	if err != nil {
		return made, storeError(err)
	}
	return checkpoint.Response(), nil
}

func printCheckpoint(c *cobra.Command, made wire.CheckpointResponse) error {
	if cli.JSON(c) {
		return ui.JSON(c.OutOrStdout(), made)
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "checkpoint of block %d, command %d, %d bytes\n%s  state hash\n",
		made.AsOf.Block, made.AsOf.Seq, made.Bytes, made.StateHash)
	return err
}
