// Command ingest publishes AIWS commands from files: it checks a file whole,
// publishes it in order and, if asked, waits for the decisions.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
)

func main() { os.Exit(cli.Main(newRoot())) }

func newRoot() *cobra.Command {
	root := newIngest()
	root.AddCommand(newFingerprint(), newPlan())
	return root
}
