package main

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

func newPlan() *cobra.Command {
	var s source
	var contract, runID, planID string
	c := &cobra.Command{
		Use:   "plan",
		Short: "rehydrate a pinned plan and print it",
		Long: "Plan prints a plan as it was pinned, after every check: the row and the log must agree, and the text must\n" +
			"have the hash that the run names. Exit code 3 says that it does not.",
		Example: cli.Example(
			"reducer plan --contract onboarding --run laptop-for-kim",
			"reducer plan --contract onboarding --run laptop-for-kim --plan first --data aiws-data --json",
		),
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return s.asking(c.Context(), func(reducer *client.Client) error {
				answer, err := reducer.Plan(c.Context(), contract, runID, planID)
				if err != nil {
					return err
				}
				if cli.JSON(c) {
					return ui.JSON(c.OutOrStdout(), answer)
				}
				return printPlan(c, &answer)
			})
		},
	}
	s.add(c)
	c.Flags().StringVar(&contract, "contract", "", "the `CONTRACT` of the run")
	c.Flags().StringVar(&runID, "run", "", "the `RUN`")
	c.Flags().StringVar(&planID, "plan", "", "the `PLAN`; the run's active one without")
	for _, name := range []string{"contract", "run"} {
		if err := c.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined above
		}
	}
	return c
}

func printPlan(c *cobra.Command, p *wire.PlanResponse) error {
	out := c.OutOrStdout()
	fmt.Fprintf(out, "plan %s of run %s, form %s, pinned by command %d\n%s\n",
		ui.Printable(p.PlanID), ui.Printable(p.RunID), p.Form, p.PinnedSequence, p.RunPlanHash)
	var text bytes.Buffer
	if err := json.Indent(&text, p.Plan, "", "  "); err != nil {
		return fmt.Errorf("not an answer to plan: %w", err)
	}
	_, err := fmt.Fprintln(out, text.String())
	return err
}
