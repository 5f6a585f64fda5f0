package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
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
			return s.source.asking(c.Context(), func(a *asker) error { return s.run(c, a, args[1:]) })
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

func (s *showing) run(c *cobra.Command, a *asker, key []string) error {
	contracts, err := s.contracts(c.Context(), a)
	if err != nil {
		return err
	}
	view := newView(c, s.filter.Projection, len(contracts) != 1)
	if len(key) > 0 {
		if len(contracts) != 1 {
			return exit.Errorf(exit.Usage, "say with --contract which of %d contracts is meant", len(contracts))
		}
		return s.one(c.Context(), a, view, contracts[0], key[0])
	}
	more, err := s.list(c.Context(), a, view, contracts)
	if err := errors.Join(err, view.end()); err != nil {
		return err
	}
	if more {
		fmt.Fprintf(c.ErrOrStderr(), "there are more; --limit 0 shows all\n")
	}
	return nil
}

// contracts are those to look at: the one that was named, or all open ones.
func (s *showing) contracts(ctx context.Context, a *asker) ([]string, error) {
	if s.contract != "" {
		return []string{s.contract}, nil
	}
	var all []string
	for question := (wire.ContractsRequest{Limit: wire.MaxPage}); ; {
		var page wire.ContractsResponse
		if err := a.request(ctx, wire.Contracts, "", question, &page); err != nil {
			return nil, err
		}
		for _, d := range page.Documents {
			all = append(all, d.Key)
		}
		if question.After = page.Next; page.Next == "" {
			return all, nil
		}
	}
}

func (s *showing) one(ctx context.Context, a *asker, view *view, contract, key string) error {
	var answer wire.GetResponse
	question := wire.GetRequest{Projection: s.filter.Projection, Key: key}
	if err := a.request(ctx, wire.Get, contract, question, &answer); err != nil {
		return err
	}
	return view.whole(contract, &answer.Document)
}

// list shows the documents page by page; more says that the limit left some out.
func (s *showing) list(ctx context.Context, a *asker, view *view, contracts []string) (more bool, err error) {
	left := s.limit
	for _, contract := range contracts {
		for question := s.filter; ; {
			question.Limit = wire.MaxPage
			if s.limit > 0 {
				question.Limit = min(left+1, wire.MaxPage) // one more tells whether there is one
			}
			var page wire.ListResponse
			if err := a.request(ctx, wire.List, contract, question, &page); err != nil {
				return false, err
			}
			for i := range page.Documents {
				if s.limit > 0 && left == 0 {
					return true, nil
				}
				left--
				if err := view.row(contract, &page.Documents[i]); err != nil {
					return false, err
				}
			}
			if question.After = page.Next; page.Next == "" {
				break
			}
		}
	}
	return false, nil
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
