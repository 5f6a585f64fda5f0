package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

func newStatus() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "status",
		Short: "print what runs and how far it is",
		Long:  "Status prints whether a reducer takes commands, why it does not, and the last command that it decided.",
		Example: cli.Example(
			"reducer status",
			"reducer status --nats nats://10.0.0.7:4222 --json",
			"reducer status --data aiws-data",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.asking(c.Context(), func(reducer *client.Client) error {
				answer, err := reducer.Status(c.Context())
				if err != nil {
					return err
				}
				if cli.JSON(c) {
					return ui.JSON(c.OutOrStdout(), answer)
				}
				return printStatus(c, &answer)
			})
		},
	}
	s.add(c)
	return c
}

func printStatus(c *cobra.Command, s *wire.StatusResponse) error {
	table := ui.NewTable("status", s.Phase)
	row := func(name, value string) {
		if value != "" {
			table.Row(name, value)
		}
	}
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	row("reason", s.Reason)
	row("since", s.Since)
	row("last command", number(s.AsOf.Seq))
	row("last block", number(s.AsOf.Block))
	row("log at start", number(s.LogEnd))
	row("generation", s.Generation)
	row("shard", strconv.FormatInt(s.Shard, 10)+" of "+strconv.FormatInt(s.Shards, 10))
	row("writer", s.Writer)
	if s.Terms > 0 {
		row("terms", strconv.Itoa(s.Terms))
	}
	row("build", s.Build)
	row("rules", strconv.FormatInt(s.RulesVersion, 10))
	if a := s.Archive; a != nil {
		row("archive", fmt.Sprintf("block %d, %d behind, in %s", a.Block, a.Lag, a.Dir))
		if a.Missing > 0 {
			row("archive damage", fmt.Sprintf("%d blocks are written again", a.Missing))
		}
		row("archive error", a.Error)
	}
	if p := s.Checkpoint; p != nil {
		if p.Made != "" {
			row("checkpoint", fmt.Sprintf("block %d, command %d, %s", p.AsOf.Block, p.AsOf.Seq, p.Made))
		}
		row("checkpoint error", p.Error)
	}
	if p := s.Scrub; p != nil {
		row("log in order", p.Passed)
		row("archive in order", p.Archive)
		row("store in order", p.Store)
		row("mirror in order", p.Mirror)
	}
	if m := s.Mirror; m != nil {
		row("mirror", m.Phase+", command "+number(m.AsOf.Seq))
		row("mirror error", m.Error)
	}
	return table.Write(c.OutOrStdout())
}
