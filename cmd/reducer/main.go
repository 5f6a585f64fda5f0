// Command reducer decides AIWS commands, keeps their log and shows what came out.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
)

func main() { os.Exit(cli.Main(newRoot())) }

func newRoot() *cobra.Command {
	root := cli.NewRoot("reducer",
		"decide commands, log the decisions, project the state",
		"Reducer reads commands from an inbox stream, decides each by the AIWS 0.4 finite-v1 rules,\n"+
			"appends the decisions to a log and keeps the projections of that log.",
		map[string]int64{
			"rulesVersion":     reducer.RulesVersion,
			"formatVersion":    events.FormatVersion,
			"stateHashVersion": events.StateHashVersion,
		})
	root.AddCommand(newServe(), newFold(), newShow(), newWatch(), newDigest(), newPlan(), newStatus(), newExport(), newVerify(), newReplay())
	return root
}
