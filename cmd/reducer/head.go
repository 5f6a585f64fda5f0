package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
)

func newHead() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "head",
		Short: "print the chain heads of the log and of each ledger, to be kept elsewhere",
		Long: "Head prints JSON lines: the hash of the log's last block, and for each ledger the hash of its last\n" +
			"decision record. Each hash covers everything before it. Keep the lines where whoever can write the log\n" +
			"cannot: with them verify --against proves later that history was not rewritten.",
		Example: cli.Example(
			"reducer head > heads-$(date +%F).jsonl",
			"reducer verify --against heads-2026-01-31.jsonl",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.asking(c.Context(), func(running *client.Client) error { return printHeads(c, running) })
		},
	}
	s.add(c)
	return c
}

func printHeads(c *cobra.Command, running *client.Client) error {
	heads, err := running.Heads(c.Context())
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	err = ui.JSON(out, audit.BlockHead{
		Block: heads.AsOf.Block, BlockHash: heads.BlockHash, Generation: heads.Generation, Seq: heads.AsOf.Seq, StateHash: heads.StateHash,
	})
	if err != nil {
		return err
	}
	for _, h := range heads.Heads {
		if err := ui.JSON(out, audit.RecordHead(h)); err != nil {
			return err
		}
	}
	return nil
}

// readHeads reads the heads of a file, or of standard input for "-"; "" is none.
func readHeads(c *cobra.Command, name string) (*audit.Heads, error) {
	if name == "" {
		return nil, nil
	}
	file, err := cli.Open(c, name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	heads, err := audit.ReadHeads(file)
	if err != nil {
		return nil, &os.PathError{Op: "read heads", Path: name, Err: err}
	}
	return heads, nil
}
