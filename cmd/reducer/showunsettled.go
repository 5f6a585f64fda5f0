package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// attempts holds the flags of show attempts.
type attempts struct {
	showing
	unsettled bool
	olderThan time.Duration
}

func newShowAttempts() *cobra.Command {
	var a attempts
	c := newShowing(&a.showing, state.Attempts, "attempts [KEY]",
		"Without KEY it lists the attempts, with it prints one of them whole. With --follow it goes on with what changes,\n"+
			"without a gap.\n\n"+
			"With --unsettled it lists those that hold a reservation, each with what it waits for: to be settled, to be\n"+
			"dispatched, or for something to change. The last is what the rules would answer to its dispatch now, sent by\n"+
			"somebody who may send it and with a policy check made now. Its age is from the log's time of its last event\n"+
			"to this machine's clock.",
		a.ask,
		"reducer show attempts --contract onboarding --state UNKNOWN",
		"reducer show attempts --unsettled --older-than 10m")
	a.addFilters(c)
	c.Flags().BoolVar(&a.unsettled, "unsettled", false, "only what is not settled, and what it waits for")
	c.Flags().DurationVar(&a.olderThan, "older-than", 0, "with --unsettled: only those whose last event is at least so long `AGO`")
	return c
}

func (a *attempts) ask(c *cobra.Command, key []string) error {
	if !a.unsettled {
		if a.olderThan != 0 {
			return exit.Errorf(exit.Usage, "--older-than goes with --unsettled")
		}
		return a.showing.ask(c, key)
	}
	switch state := a.filter.State; {
	case len(key) > 0 || a.follow:
		return exit.Errorf(exit.Usage, "--unsettled lists what there is now: without a key, without --follow")
	case state != "" && !slices.Contains(wire.UnsettledStates, state):
		return exit.Errorf(exit.Usage, "an attempt that is not settled has no state %q; there are %s", state, strings.Join(wire.UnsettledStates, ", "))
	}
	return a.source.asking(c.Context(), func(reducer *client.Client) error {
		contracts, err := a.contracts(c.Context(), reducer)
		if err != nil {
			return err
		}
		return a.listUnsettled(c, reducer, contracts)
	})
}

// listUnsettled shows them in the order of their ids, up to the limit.
func (a *attempts) listUnsettled(c *cobra.Command, reducer *client.Client, contracts []string) error {
	now := time.Now()
	lines := newUnsettledLines(c, now, len(contracts) != 1)
	count := 0
	for _, contract := range contracts {
		request := wire.UnsettledRequest{Run: a.filter.Run, State: a.filter.State, Limit: pageSize(a.limit, count)}
		if a.olderThan > 0 {
			request.Before = strconv.FormatInt(max(now.Add(-a.olderThan).UnixMilli(), 0), 10)
		}
		for found, err := range reducer.Unsettled(c.Context(), contract, request) {
			switch {
			case err != nil:
				return err
			case a.limit > 0 && count == a.limit:
				more(c)
				return lines.end()
			}
			count++
			if err := lines.add(contract, &found); err != nil {
				return err
			}
		}
	}
	if count == 0 {
		if err := a.checkRun(c.Context(), reducer, contracts); err != nil {
			return err
		}
	}
	return lines.end()
}

// unsettledLines shows attempts that are not settled.
type unsettledLines struct {
	c     *cobra.Command
	now   time.Time
	many  bool
	table *ui.Table
}

func newUnsettledLines(c *cobra.Command, now time.Time, many bool) *unsettledLines {
	titles := []string{"attempt", "state", "age#", "run", "operation", "grant", "reserved#", "waits for", "why"}
	if many {
		titles = append([]string{"contract"}, titles...)
	}
	return &unsettledLines{c: c, now: now, many: many, table: ui.NewTable(titles...)}
}

// shownUnsettled is an attempt as --json prints it.
type shownUnsettled struct {
	shown
	AgeMs   int64        `json:"ageMs"`
	Waiting wire.Waiting `json:"waiting"`
}

func (l *unsettledLines) add(contract string, a *wire.UnsettledAttempt) error {
	d := &a.Document
	at, err := strconv.ParseInt(d.At, 10, 64)
	if err != nil {
		return fmt.Errorf("attempt %q: at: %w", d.Key, err)
	}
	age := max(l.now.Sub(time.UnixMilli(at)), 0)
	if cli.JSON(l.c) {
		return ui.JSON(l.c.OutOrStdout(), shownUnsettled{
			shown:   shown{At: d.At, Block: d.Block, Contract: contract, Key: d.Key, Projection: state.Attempts, Seq: d.Seq, Value: d.Row},
			AgeMs:   age.Milliseconds(),
			Waiting: a.Waiting,
		})
	}
	row, err := schema.ParseValue(d.Row)
	if err != nil {
		return fmt.Errorf("attempt %q: %w", d.Key, err)
	}
	why := a.Waiting.Message
	if a.Waiting.Code != "" {
		why = a.Waiting.Code + ": " + why
	}
	cells := []string{
		d.Key, cell(row, "state"), ageCell(age), cell(row, "runId"), cell(row, "operationId"), cell(row, "grantId"),
		cell(row, "reserved"), a.Waiting.For, why,
	}
	if l.many {
		cells = append([]string{contract}, cells...)
	}
	l.table.Row(cells...)
	return nil
}

// ageCell is an age in its two largest units.
func ageCell(age time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case age >= day:
		return fmt.Sprintf("%dd%dh", age/day, age%day/time.Hour)
	case age >= time.Hour:
		return fmt.Sprintf("%dh%dm", age/time.Hour, age%time.Hour/time.Minute)
	}
	return age.Truncate(time.Second).String()
}

// end shows what was kept for the end.
func (l *unsettledLines) end() error {
	if cli.JSON(l.c) {
		return nil
	}
	return l.table.Write(l.c.OutOrStdout())
}
