// Package cli is what both programs do around their commands: signals, errors,
// exit codes, versions and input files.
package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
)

// Version is what --version prints: the build, and the numbers that decide
// whether two builds understand each other.
type Version struct {
	Build   string           `json:"build"`
	Go      string           `json:"go"`
	Formats map[string]int64 `json:"formats,omitempty"`
}

// Build names this build: its module version, or its revision where that is known.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "", ""
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			revision = setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			dirty = "-dirty"
		}
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	if revision == "" {
		return "devel"
	}
	return "devel-" + revision[:min(12, len(revision))] + dirty
}

// NewRoot makes the command that all others hang below. It has --json for every
// command, and --version.
func NewRoot(name, short, long string, formats map[string]int64) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           name,
		Short:         short,
		Long:          long,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !version {
				return c.Help()
			}
			return printVersion(c, Version{Build: Build(), Go: runtime.Version(), Formats: formats})
		},
	}
	root.PersistentFlags().Bool("json", false, "print JSON lines instead of text")
	root.Flags().BoolVar(&version, "version", false, "print the build and the versions of rules and formats")
	return root
}

func printVersion(c *cobra.Command, v Version) error {
	if JSON(c) {
		return ui.JSON(c.OutOrStdout(), v)
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%s %s (%s)\n", c.Name(), v.Build, v.Go)
	for _, name := range slices.Sorted(maps.Keys(v.Formats)) {
		fmt.Fprintf(out, "%s %d\n", name, v.Formats[name])
	}
	return nil
}

// JSON tells whether the command was called with --json.
func JSON(c *cobra.Command) bool {
	on, err := c.Flags().GetBool("json")
	return err == nil && on
}

// Main runs the command until it is done or the process is asked to stop, prints
// its error and gives the exit code. What is refused before a command starts is
// a usage error: unknown commands and flags, missing arguments.
func Main(root *cobra.Command) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	return Run(ctx, root)
}

// Run is Main without the signals.
func Run(ctx context.Context, root *cobra.Command) int {
	started := false
	onStart(root, func() { started = true })
	called, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exit.OK
	}
	if !started {
		err = exit.With(exit.Usage, err)
	}
	fmt.Fprintf(root.ErrOrStderr(), "%s: %v\n", root.Name(), err)
	if exit.Code(err) == exit.Usage {
		fmt.Fprintf(root.ErrOrStderr(), "Try '%s --help'.\n", called.CommandPath())
	}
	return exit.Code(err)
}

// onStart calls f when the command, or one below it, begins.
func onStart(c *cobra.Command, f func()) {
	if begin := c.RunE; begin != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			f()
			return begin(c, args)
		}
	}
	for _, below := range c.Commands() {
		onStart(below, f)
	}
}

// Open opens FILE, or the command's standard input for "-".
func Open(c *cobra.Command, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(c.InOrStdin()), nil
	}
	return os.Open(name)
}

// Example formats the lines of a command's examples.
func Example(lines ...string) string {
	return "  " + strings.Join(lines, "\n  ")
}
