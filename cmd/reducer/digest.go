package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
)

func newDigest() *cobra.Command {
	var s source
	c := &cobra.Command{
		Use:   "digest",
		Short: "print the state digest of the named projections",
		Long: "Digest prints the sha256 over all documents of attempts, exposure, runs, triggers and waits, as\n" +
			"fold --digest does: two reducers that say the same have the same state.",
		Example: cli.Example(
			"reducer digest",
			"reducer digest --data aiws-data --json",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.asking(c.Context(), func(reducer *client.Client) error {
				answer, err := reducer.Digest(c.Context())
				if err != nil {
					return err
				}
				if cli.JSON(c) {
					return ui.JSON(c.OutOrStdout(), answer)
				}
				_, err = fmt.Fprintf(c.OutOrStdout(), "%s  after command %d\n", answer.StateDigest, answer.AsOf.Seq)
				return err
			})
		},
	}
	s.add(c)
	return c
}
