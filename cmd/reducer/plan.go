package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

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
		Long: "Plan prints a plan as it was pinned, after every check: the row and the pin's event on the log agree, the text\n" +
			"obeys the rules of its form, belongs to the run, and has the hash that was pinned; so do the params. Exit code\n" +
			"1: no such plan is pinned (run_plan_missing). Exit code 3: it is, and something differs (run_plan_corrupt).",
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

// printPlan shows what the run's record says of the plan, and the plan.
func printPlan(c *cobra.Command, p *wire.PlanResponse) error {
	table := ui.NewTable("member", "value")
	table.Row("plan", p.PlanID)
	table.Row("run", p.RunID)
	table.Row("form", p.Form)
	table.Row("hash", p.RunPlanHash)
	table.Row("pinned by", fmt.Sprintf("command %d", p.PinnedSequence))
	if p.Identity != nil {
		table.Row("identity", string(p.Identity))
	}
	if p.Params != nil {
		table.Row("params", string(p.Params))
	}
	out := c.OutOrStdout()
	if err := table.Write(out); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, p.Plan, "", "  "); err != nil {
		return fmt.Errorf("not an answer to plan: %w", err)
	}
	fmt.Fprintln(out)
	for line := range strings.Lines(text.String() + "\n") {
		// What does not print is written as JSON writes it, so this is still the plan.
		if _, err := fmt.Fprintln(out, ui.Printable(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}
