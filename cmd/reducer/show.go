package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// showing holds the flags of show.
type showing struct {
	source   source
	contract string
	filter   wire.ListRequest
	limit    int
}

func newShow() *cobra.Command {
	var s showing
	c := &cobra.Command{
		Use:   "show PROJECTION [KEY]",
		Short: "show the documents of a projection, or one of them",
		Long: "Show lists the documents of a projection, of one contract or of all, or prints one document whole.\n" +
			"It asks a running reducer, or reads the directory of a stopped one with --data.\n\n" +
			"Projections: " + strings.Join(state.Projections(), ", ") + ".\n" +
			"What was refused before its ledger was open is in the decisions of --contract " + "_unrouted.",
		Example: cli.Example(
			"reducer show runs --contract onboarding",
			"reducer show attempts --contract onboarding --state UNKNOWN",
			"reducer show exposure contract/onboarding --contract onboarding --json",
			"reducer show decisions --outcome rejected --data aiws-data",
		),
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(state.Projections(), args[0]) {
				return exit.Errorf(exit.Usage, "there is no projection %q; there are %s", args[0], strings.Join(state.Projections(), ", "))
			}
			s.filter.Projection = args[0]
			return s.source.asking(c.Context(), func(reducer *client.Client) error { return s.run(c, reducer, args[1:]) })
		},
	}
	s.source.add(c)
	c.Flags().StringVar(&s.contract, "contract", "", "show this `CONTRACT` only")
	c.Flags().StringVar(&s.filter.Run, "run", "", "list only what belongs to this `RUN`")
	c.Flags().StringVar(&s.filter.State, "state", "", "list only what is in this `STATE`")
	c.Flags().StringVar(&s.filter.Outcome, "outcome", "", "list only decisions with this `OUTCOME`: accepted, rejected, duplicate")
	c.Flags().IntVar(&s.limit, "limit", 100, "list at most so many documents; 0 is all")
	return c
}

func (s *showing) run(c *cobra.Command, reducer *client.Client, key []string) error {
	contracts, err := s.contracts(c.Context(), reducer)
	if err != nil {
		return err
	}
	view := newView(c, s.filter.Projection, len(contracts) != 1)
	if len(key) == 0 {
		return s.list(c, reducer, view, contracts)
	}
	if len(contracts) != 1 {
		return exit.Errorf(exit.Usage, "say with --contract which of %d contracts is meant", len(contracts))
	}
	d, err := reducer.Get(c.Context(), contracts[0], s.filter.Projection, key[0])
	if err != nil {
		return err
	}
	return view.whole(contracts[0], &d)
}

// contracts are those to look at: the one that was named, or all open ones.
func (s *showing) contracts(ctx context.Context, reducer *client.Client) ([]string, error) {
	if s.contract != "" {
		return []string{s.contract}, nil
	}
	var all []string
	for d, err := range reducer.Contracts(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, d.Key)
	}
	return all, nil
}

// list shows documents up to the limit, and says when there are more.
func (s *showing) list(c *cobra.Command, reducer *client.Client, view *view, contracts []string) error {
	count := 0
	for _, contract := range contracts {
		for d, err := range reducer.Documents(c.Context(), contract, s.page(count)) {
			switch {
			case err != nil:
				return err
			case s.limit > 0 && count == s.limit:
				fmt.Fprintln(c.ErrOrStderr(), "there are more; --limit 0 shows all")
				return view.end()
			}
			count++
			if err := view.row(contract, &d); err != nil {
				return err
			}
		}
	}
	return view.end()
}

// page asks for no more at a time than is still wanted, and one that tells
// whether there are more.
func (s *showing) page(shown int) wire.ListRequest {
	question := s.filter
	question.Limit = wire.MaxPage
	if s.limit > 0 {
		question.Limit = min(s.limit-shown+1, wire.MaxPage)
	}
	return question
}

// shown is a document as --json prints it: what fold --state prints, and where
// it comes from.
type shown struct {
	At         string          `json:"at"`
	Block      uint64          `json:"block"`
	Contract   string          `json:"contract"`
	Key        string          `json:"key"`
	Projection string          `json:"projection"`
	Seq        uint64          `json:"seq"`
	Value      json.RawMessage `json:"value"`
}
