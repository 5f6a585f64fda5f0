package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/plan"
)

// checked is a plan that can be pinned.
type checked struct {
	Bytes       int    `json:"bytes"` // of its canonical JSON
	Form        string `json:"form"`
	ParamsHash  string `json:"paramsHash,omitempty"`
	RunID       string `json:"runId,omitempty"` // that it was checked for, where that matters
	RunPlanHash string `json:"runPlanHash"`
}

func (p *planning) print(c *cobra.Command, command *schema.PinPlan, pin *plan.Pin) error {
	r := checked{Bytes: len(pin.Envelope), Form: pin.Form, ParamsHash: pin.ParamsHash, RunID: p.runID, RunPlanHash: pin.RunPlanHash}
	if pin.Form == schema.FormRunPlan {
		r.RunID = command.RunID
	}
	if cli.JSON(c) {
		return ui.JSON(c.OutOrStdout(), r)
	}
	table := ui.NewTable("plan", "can be pinned")
	table.Row("form", r.Form)
	if r.RunID != "" {
		table.Row("run", r.RunID)
	}
	table.Row("hash", r.RunPlanHash)
	table.Row("canonical", fmt.Sprintf("%d bytes", r.Bytes))
	if r.ParamsHash != "" {
		table.Row("params", string(pin.Params))
		table.Row("params hash", r.ParamsHash)
	}
	return table.Write(c.OutOrStdout())
}

// refused is a plan that cannot be pinned.
type refused struct {
	Form     string    `json:"form"`
	Problems []problem `json:"problems"`
}

func printProblems(c *cobra.Command, form string, problems []problem) error {
	if cli.JSON(c) {
		if err := ui.JSON(c.OutOrStdout(), refused{Form: form, Problems: problems}); err != nil {
			return err
		}
	} else {
		table := ui.NewTable("problem", "where", "what is wrong")
		for i := range problems {
			table.Row(cmp.Or(problems[i].Reason, problems[i].Code), problems[i].where(), problems[i].Message)
		}
		if err := table.Write(c.OutOrStdout()); err != nil {
			return err
		}
	}
	first := problems[0].Code
	if problems[0].Reason != "" {
		first += " (" + problems[0].Reason + ")"
	}
	return fmt.Errorf("the plan cannot be pinned: %d %s; a reducer would refuse it with %s", len(problems), plural(len(problems), "problem"), first)
}

// maxWhere is how much of a pointer a table shows.
const maxWhere = 160

func (p *problem) where() string {
	switch {
	case p.Pointer == "":
		return p.In
	case len(p.Pointer) > maxWhere:
		return p.In + " " + p.Pointer[:maxWhere] + "..."
	}
	return p.In + " " + p.Pointer
}

func plural(count int, what string) string {
	if count == 1 {
		return what
	}
	return what + "s"
}
