// Command reducer decides AIWS commands, keeps their log and shows what came out.
package main

import (
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
)

func main() {
	tuneMemory()
	os.Exit(cli.Main(newRoot()))
}

// Most of the heap is a bounded cache of rows: collecting it less often saves a
// fifth of the processor time, and the limit keeps it in bounds.
const (
	gcPercent   = 300
	memoryLimit = 384 << 20 // bytes; soft
)

// tuneMemory sets the garbage collector, unless the environment does.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

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
	root.AddCommand(newServe(), newFold(), newShow(), newWatch(), newDigest(), newPlan(), newStatus(), newExport(), newVerify(), newReplay(), newImport(), newCheckpoint(), newHead(), newDiff(), newDoctor(), newInit())
	return root
}
