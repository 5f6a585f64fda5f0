package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// newShowTimeline tells what a run did.
func newShowTimeline() *cobra.Command {
	h := ledgerHistory{since: cli.NoMoment, until: cli.NoMoment}
	c := newShowing(&h.showing, "timeline", "timeline",
		"It lists everything that was decided about a run, in the order of the log and in words: what the run did, its\n"+
			"attempts, waits and approvals, and what was refused. With --follow it goes on, without a gap.",
		h.timelineOf,
		"reducer show timeline --run laptop-for-kim --contract onboarding",
		"reducer show timeline --run laptop-for-kim --contract onboarding --follow")
	c.Short, c.Args = "what a run did, in order", cobra.NoArgs
	h.addFlags(c)
	return c
}

func (h *ledgerHistory) timelineOf(c *cobra.Command, _ []string) error {
	if err := h.check(); err != nil {
		return err
	}
	if h.request.Run == "" {
		return exit.Errorf(exit.Usage, "say with --run whose timeline is wanted")
	}
	h.request.Commands = cli.JSON(c)
	if h.follow {
		return h.source.following(func(reducer *client.Client) error { return h.followTimeline(c, reducer) })
	}
	return h.source.asking(c.Context(), func(reducer *client.Client) error {
		contracts, err := h.contracts(c.Context(), reducer)
		if err != nil {
			return err
		}
		return h.listed(c, reducer, contracts, newDecisionLines(c, len(contracts) != 1))
	})
}

// followTimeline shows the run from its start and goes on.
func (h *ledgerHistory) followTimeline(c *cobra.Command, reducer *client.Client) error {
	contract, err := h.only(c.Context(), reducer)
	if err != nil {
		return err
	}
	lines := newDecisionLines(c, false)
	lines.now = true
	err = followHistory(c.Context(), reducer, contract, h.request, func(d *wire.Decided) error { return lines.add(contract, d) })
	if noSuchRun(err) {
		return noRun(h.request.Run)
	}
	return err
}

// noSuchRun: the history of a run that is not there was asked for.
func noSuchRun(err error) bool { return errors.Is(err, client.ErrNotFound) }
