package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func newWatch() *cobra.Command {
	var s source
	var o client.WatchOptions
	c := &cobra.Command{
		Use:   "watch [PROJECTION]",
		Short: "print changes of the projections as they happen",
		Long: "Watch prints a line for each document that a decision changed, from now on, or from the command after\n" +
			"--since with the last change of each document since then. Within a block the changes of one document come as\n" +
			"one. It goes on when the reducer is started again, and ends with SIGINT. A user without JetStream, such as\n" +
			"those of reducer init, watches one contract.\n\n" +
			"Projections: " + strings.Join(wire.Mirrored, ", ") + ".",
		Example: cli.Example(
			"reducer watch runs --contract onboarding",
			"reducer watch --since 1200 --json",
			"reducer watch --contract c1 --nkey secrets/buyer.nk --inbox-prefix _INBOX.buyer",
		),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Projection = args[0]
			}
			if o.Projection != "" && !slices.Contains(wire.Mirrored, o.Projection) {
				return exit.Errorf(exit.Usage, "%q cannot be watched; there are %s", o.Projection, strings.Join(wire.Mirrored, ", "))
			}
			since := c.Flags().Changed("since")
			o.New = !since
			if since {
				o.Since++ // what was seen is not shown again
			}
			return coded(s.explain(watch(c, &s, o)))
		},
		ValidArgs: wire.Mirrored,
	}
	s.nats.Add(c)
	c.Flags().StringVar(&o.Contract, "contract", "", "watch this `CONTRACT` only")
	completeFlag(c, "contract", s.contracts)
	c.Flags().Uint64Var(&o.Since, "since", 0, "begin after this command `SEQ`uence; 0 gives all there is")
	return c
}

func watch(c *cobra.Command, s *source, o client.WatchOptions) error {
	conn, err := s.nats.Connect("reducer watch", withoutServerErrors())
	if err != nil {
		return err
	}
	defer conn.Close()
	reducer, err := client.New(conn, client.Options{Request: s.nats.Timeout})
	if err != nil {
		return err
	}
	defer reducer.Close()
	show := showChange
	if cli.JSON(c) {
		show = jsonChange
	}
	for change, err := range reducer.Watch(c.Context(), o) {
		if err != nil {
			return err
		}
		if err := show(c, &change); err != nil {
			return err
		}
	}
	return nil
}

// withoutServerErrors keeps the client library from printing what the server refuses: the
// client finds another way, or says it.
func withoutServerErrors() nats.Option {
	return nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})
}

// showChange prints what somebody looks for first in the document.
func showChange(c *cobra.Command, change *client.Change) error {
	what := "gone"
	if change.Kind == client.Changed {
		value, err := schema.ParseValue(change.Row)
		if err != nil {
			return fmt.Errorf("%s %q: %w", change.Projection, change.Key, err)
		}
		what = summary(change.Projection, value)
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "%7d  %s  %-10s  %s  %s\n", change.Seq, timeCell(change.At), change.Projection,
		ui.Printable(change.Contract), ui.Printable(what))
	return err
}

// summary tells what somebody looks for first in a document.
func summary(projection string, value schema.Value) string {
	var members []string
	for _, column := range columns[projection] {
		if text := cell(value, column.path); text != "" {
			members = append(members, strings.TrimSuffix(column.title, "#")+" "+text)
		}
	}
	return strings.Join(members, ", ")
}

// jsonChange prints a document as show does; a document that is gone has no value.
func jsonChange(c *cobra.Command, change *client.Change) error {
	line := shown{
		At: change.At, Block: change.Block, Contract: change.Contract, Key: change.Key, Projection: change.Projection,
		Seq: change.Seq, Value: change.Row,
	}
	if change.Kind == client.Deleted {
		line.Value = json.RawMessage("null")
	}
	return ui.JSON(c.OutOrStdout(), line)
}
