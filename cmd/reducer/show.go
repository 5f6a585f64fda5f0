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
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// newShow is a command with one below it for each projection, and for the
// questions that are answered from the log.
func newShow() *cobra.Command {
	c := &cobra.Command{
		Use:   "show PROJECTION [KEY]",
		Short: "show the documents of a projection, or answer an operator's question",
		Long: "Show lists the documents of a projection, of one contract or of all, or prints one document whole. Some of\n" +
			"the commands below it answer what operators ask: what is stuck, what was refused and why, what a grant's\n" +
			"subtree has spent, what a run did, what changed between two moments.\n\n" +
			"It asks a running reducer, or reads the directory of a stopped one with --data.",
		Example: cli.Example(
			"reducer show runs --contract onboarding",
			"reducer show attempts --unsettled --older-than 10m",
			"reducer show decisions --rejected --run laptop-for-kim --contract onboarding",
			"reducer show timeline --run laptop-for-kim --contract onboarding",
			"reducer show exposure contract/onboarding --contract onboarding --json",
		),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Errorf(exit.Usage, "name what to show: %s", strings.Join(shownNames(c), ", "))
			}
			return exit.Errorf(exit.Usage, "there is nothing to show by the name %q; there are %s", args[0], strings.Join(shownNames(c), ", "))
		},
	}
	new(source).add(c) // flags before the projection are read by the command of that projection
	special := []*cobra.Command{newShowAttempts(), newShowDecisions(), newShowGrants(), newShowTimeline(), newShowChanges()}
	for _, projection := range state.Projections() {
		if !slices.ContainsFunc(special, func(s *cobra.Command) bool { return s.Name() == projection }) {
			c.AddCommand(newShowProjection(projection))
		}
	}
	c.AddCommand(special...)
	return c
}

func shownNames(show *cobra.Command) []string {
	var names []string
	for _, c := range show.Commands() {
		names = append(names, c.Name())
	}
	return names
}

// summaries say what each projection holds.
var summaries = map[string]string{
	state.Runs: "runs and their states", state.Exposed: "money of contracts and grants", state.Attempts: "attempts, and what they wait for",
	state.Waits: "what runs wait for", state.Triggers: "triggers and how often they fired", state.Missions: "contracts and their missions",
	state.Grants: "grants, and what their subtrees have spent", state.Approvals: "approvals and how often they were used",
	state.Operations: "operations and their actions", state.Plans: "pinned plans", state.Graphs: "graphs", state.Nodes: "nodes of the runs that have a graph",
	state.Assessments: "verifications and what was decided on them", state.Decisions: "what was decided, the newest first",
}

// showing holds the flags of show for one projection.
type showing struct {
	source   source
	contract string
	filter   wire.ListRequest
	limit    int
	follow   bool
}

// newShowing makes the command for a projection, with the flags that all have.
func newShowing(s *showing, projection, use, long string, run func(c *cobra.Command, args []string) error, examples ...string) *cobra.Command {
	s.filter.Projection = projection
	c := &cobra.Command{
		Use: use, Short: summaries[projection], Long: long, Example: cli.Example(examples...), Args: cobra.MaximumNArgs(1), RunE: run,
	}
	s.source.add(c)
	c.Flags().StringVar(&s.contract, "contract", "", "of this `CONTRACT` only")
	c.Flags().IntVar(&s.limit, "limit", 100, "list at most so many; 0 is all")
	completeFlag(c, "contract", s.source.contracts)
	return c
}

func newShowProjection(projection string) *cobra.Command {
	var s showing
	long := "Without KEY it lists the documents, with it prints one of them whole."
	if wire.Follows(projection) {
		long += " With --follow it\ngoes on with what changes, without a gap."
	}
	c := newShowing(&s, projection, projection+" [KEY]", long, s.ask, "reducer show "+projection+" --contract onboarding")
	s.addFilters(c)
	return c
}

// addFilters adds the flags that fit the projection.
func (s *showing) addFilters(c *cobra.Command) {
	projection := s.filter.Projection
	if projection != state.Missions && projection != state.Grants && projection != state.Graphs && projection != state.Exposed && projection != state.Triggers {
		c.Flags().StringVar(&s.filter.Run, "run", "", "only what belongs to this `RUN`")
		completeFlag(c, "run", s.runs)
	}
	if states := wire.States[projection]; states != nil {
		c.Flags().StringVar(&s.filter.State, "state", "", "only what is in this `STATE`: "+strings.Join(states, ", "))
		completeWords(c, "state", states...)
	}
	if wire.Follows(projection) {
		c.Flags().BoolVar(&s.follow, "follow", false, "go on with what changes; not with --data")
	}
}

// ask lists, or prints one document.
func (s *showing) ask(c *cobra.Command, key []string) error {
	if states := wire.States[s.filter.Projection]; s.filter.State != "" && !slices.Contains(states, s.filter.State) {
		return exit.Errorf(exit.Usage, "%s have no state %q; there are %s", s.filter.Projection, s.filter.State, strings.Join(states, ", "))
	}
	if s.follow {
		return s.followed(c, key)
	}
	return s.source.asking(c.Context(), func(reducer *client.Client) error {
		contracts, err := s.contracts(c.Context(), reducer)
		if err != nil {
			return err
		}
		if len(key) == 0 {
			return s.list(c, reducer, newView(c, s.filter.Projection, len(contracts) != 1), contracts)
		}
		return s.one(c, reducer, contracts, key[0])
	})
}

// one prints a document whole.
func (s *showing) one(c *cobra.Command, reducer *client.Client, contracts []string, key string) error {
	if len(contracts) != 1 {
		return exit.Errorf(exit.Usage, "say with --contract which of %d contracts is meant", len(contracts))
	}
	d, err := reducer.Get(c.Context(), contracts[0], s.filter.Projection, key)
	if errors.Is(err, client.ErrNotFound) {
		return fmt.Errorf("%w; list what there is: reducer show %s --contract %s", err, s.filter.Projection, contracts[0])
	}
	if err != nil {
		return err
	}
	return newView(c, s.filter.Projection, false).whole(contracts[0], &d)
}

// contracts are those to look at: the one that was named, or all open ones.
func (s *showing) contracts(ctx context.Context, reducer *client.Client) ([]string, error) {
	if s.contract != "" {
		return []string{s.contract}, s.checkContract(ctx, reducer)
	}
	return openContracts(ctx, reducer)
}

func openContracts(ctx context.Context, reducer *client.Client) ([]string, error) {
	var all []string
	for d, err := range reducer.Contracts(ctx) {
		if err != nil {
			return nil, err
		}
		all = append(all, d.Key)
	}
	return all, nil
}

// checkContract refuses a contract that is not open: a misspelt one would look
// empty.
func (s *showing) checkContract(ctx context.Context, reducer *client.Client) error {
	if s.contract == events.Unrouted {
		return nil
	}
	_, err := reducer.Get(ctx, s.contract, state.Missions, s.contract)
	if errors.Is(err, client.ErrNotFound) {
		return fmt.Errorf("no contract %q is open; list those that are: reducer show missions", s.contract)
	}
	return err
}

// only is the one contract that a question is about.
func (s *showing) only(ctx context.Context, reducer *client.Client) (string, error) {
	contracts, err := s.contracts(ctx, reducer)
	switch {
	case err != nil:
		return "", err
	case len(contracts) == 0:
		return "", errors.New("no contract is open")
	case len(contracts) > 1:
		return "", exit.Errorf(exit.Usage, "say with --contract which of %d contracts is meant", len(contracts))
	}
	return contracts[0], nil
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
				more(c)
				return view.end()
			}
			count++
			if err := view.row(contract, &d); err != nil {
				return err
			}
		}
	}
	if count == 0 {
		if err := s.checkRun(c.Context(), reducer, contracts); err != nil {
			return err
		}
	}
	return view.end()
}

// more says on the side that the list was cut off.
func more(c *cobra.Command) { fmt.Fprintln(c.ErrOrStderr(), "there are more; --limit 0 shows all") }

// checkRun says that the run which nothing was found of is not there at all.
func (s *showing) checkRun(ctx context.Context, reducer *client.Client, contracts []string) error {
	if s.filter.Run == "" {
		return nil
	}
	for _, contract := range contracts {
		_, err := reducer.Get(ctx, contract, state.Runs, s.filter.Run)
		if !errors.Is(err, client.ErrNotFound) {
			return err
		}
	}
	return noRun(s.filter.Run)
}

func noRun(run string) error {
	return fmt.Errorf("there is no run %q; list those that are there: reducer show runs", run)
}

// page asks for no more at a time than is still wanted, and one that tells
// whether there are more.
func (s *showing) page(shown int) wire.ListRequest {
	question := s.filter
	question.Limit = pageSize(s.limit, shown)
	return question
}

func pageSize(limit, shown int) int {
	if limit <= 0 {
		return wire.MaxPage
	}
	return min(limit-shown+1, wire.MaxPage)
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
