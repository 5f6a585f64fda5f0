package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// ledgerHistory holds the flags of what is answered from the log of a ledger.
type ledgerHistory struct {
	showing
	request      wire.HistoryRequest
	rejected     bool
	since, until cli.Moment
}

func newShowDecisions() *cobra.Command {
	h := ledgerHistory{since: cli.NoMoment, until: cli.NoMoment}
	c := newShowing(&h.showing, state.Decisions, "decisions [SEQ]",
		"It lists decisions, the newest first: what was accepted, and what was refused and why. With SEQ it prints one\n"+
			"of them whole, with its command. What was refused before its ledger was open is in --contract "+events.Unrouted+".\n\n"+
			"With --run it lists what names the run, or an attempt, operation, wait or approval of it, since the run began.\n"+
			"--since and --until go by the ledger's time: RFC 3339, milliseconds, or how long ago, as 10m.",
		h.decisions,
		"reducer show decisions --rejected --run laptop-for-kim --contract onboarding",
		"reducer show decisions --code BUDGET_EXCEEDED --since 24h",
		"reducer show decisions 14 --contract onboarding")
	h.addFlags(c)
	c.Flags().BoolVar(&h.rejected, "rejected", false, "only what was refused; as --outcome rejected")
	return c
}

// addFlags adds what a history can be filtered by.
func (h *ledgerHistory) addFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&h.request.Run, "run", "", "only what is about this `RUN`")
	flags.StringVar(&h.request.Outcome, "outcome", "", "only this `OUTCOME`: "+strings.Join(wire.Outcomes, ", "))
	flags.StringVar(&h.request.Code, "code", "", "only what was refused with this `CODE`")
	flags.StringVar(&h.request.Principal, "principal", "", "only what this `PRINCIPAL` sent")
	flags.StringVar(&h.request.Type, "type", "", "only commands of this `TYPE`")
	flags.Var(&h.since, "since", "only what was decided then or later")
	flags.Var(&h.until, "until", "only what was decided then or before")
	flags.BoolVar(&h.follow, "follow", false, "go on with what is decided; not with --data")
	completeFlag(c, "run", h.runs)
	completeWords(c, "outcome", wire.Outcomes...)
	completeWords(c, "code", codes()...)
	completeWords(c, "type", schema.CommandTypes...)
}

// check refuses filters that match nothing, ever.
func (h *ledgerHistory) check() error {
	r := &h.request
	if h.rejected {
		if r.Outcome != "" && r.Outcome != string(events.OutcomeRejected) {
			return exit.Errorf(exit.Usage, "--rejected and --outcome %s exclude each other", r.Outcome)
		}
		r.Outcome = string(events.OutcomeRejected)
	}
	switch {
	case r.Outcome != "" && !slices.Contains(wire.Outcomes, r.Outcome):
		return exit.Errorf(exit.Usage, "there is no outcome %q; there are %s", r.Outcome, strings.Join(wire.Outcomes, ", "))
	case r.Code != "" && !slices.Contains(codes(), r.Code):
		return exit.Errorf(exit.Usage, "there is no code %q; docs/codes.md lists them, and so does completion", r.Code)
	case r.Type != "" && !slices.Contains(schema.CommandTypes, r.Type):
		return exit.Errorf(exit.Usage, "there is no command %q; there are %s", r.Type, strings.Join(schema.CommandTypes, ", "))
	}
	now := time.Now()
	r.Since, r.Until = h.since.Millis(now), h.until.Millis(now)
	h.filter.Run = r.Run
	return nil
}

func (h *ledgerHistory) decisions(c *cobra.Command, key []string) error {
	if err := h.check(); err != nil {
		return err
	}
	if h.follow {
		return h.followDecisions(c)
	}
	return h.source.asking(c.Context(), func(reducer *client.Client) error {
		contracts, err := h.contracts(c.Context(), reducer)
		if err != nil {
			return err
		}
		if len(key) > 0 {
			return h.oneDecision(c, reducer, key[0])
		}
		h.request.Newest = true
		return h.listed(c, reducer, contracts, newDecisionLines(c, len(contracts) != 1))
	})
}

// listed shows decisions up to the limit.
func (h *ledgerHistory) listed(c *cobra.Command, reducer *client.Client, contracts []string, lines *decisionLines) error {
	count := 0
	for _, contract := range contracts {
		request := h.request
		request.Limit = pageSize(h.limit, count)
		for d, err := range reducer.History(c.Context(), contract, request) {
			if noSuchRun(err) && len(contracts) > 1 {
				break // it is of another contract
			}
			switch {
			case noSuchRun(err):
				return noRun(h.request.Run)
			case err != nil:
				return err
			case h.limit > 0 && count == h.limit:
				more(c)
				return lines.end()
			}
			count++
			if err := lines.add(contract, &d); err != nil {
				return err
			}
		}
	}
	if count == 0 && len(contracts) > 1 {
		if err := h.checkRun(c.Context(), reducer, contracts); err != nil {
			return err
		}
	}
	return lines.end()
}

// followDecisions shows the last decisions in their order, and goes on.
func (h *ledgerHistory) followDecisions(c *cobra.Command) error {
	return h.source.following(func(reducer *client.Client) error {
		contract, err := h.only(c.Context(), reducer)
		if err != nil {
			return err
		}
		lines := newDecisionLines(c, false)
		lines.now = true
		request := h.request
		request.Newest, request.Limit = true, pageSize(h.limit, 1) // the limit itself
		page, err := reducer.HistoryPage(c.Context(), contract, request)
		if noSuchRun(err) {
			return noRun(h.request.Run)
		}
		if err != nil {
			return err
		}
		for i := range slices.Backward(page.Decisions) {
			if err := lines.add(contract, &page.Decisions[i]); err != nil {
				return err
			}
		}
		h.request.After = page.AsOf.Seq
		return followHistory(c.Context(), reducer, contract, h.request, func(d *wire.Decided) error { return lines.add(contract, d) })
	})
}

// oneDecision prints a decision whole, with its command.
func (h *ledgerHistory) oneDecision(c *cobra.Command, reducer *client.Client, key string) error {
	seq, err := strconv.ParseUint(key, 10, 64)
	if err != nil || seq == 0 {
		return exit.Errorf(exit.Usage, "%q is no command sequence", key)
	}
	contract, err := h.only(c.Context(), reducer)
	if err != nil {
		return err
	}
	page, err := reducer.HistoryPage(c.Context(), contract, wire.HistoryRequest{After: seq - 1, Limit: 1, Commands: true})
	if err != nil {
		return err
	}
	if len(page.Decisions) == 0 {
		return notDecided(contract, seq)
	}
	found := &page.Decisions[0]
	d, err := events.ParseDecision(found.Record)
	if err != nil {
		return err
	}
	if d.CommandSeq != seq {
		return notDecided(contract, seq)
	}
	if cli.JSON(c) {
		return ui.JSON(c.OutOrStdout(), decisionShown(contract, found, d))
	}
	return printDecision(c, found, d)
}

func notDecided(contract string, seq uint64) error {
	return fmt.Errorf("no command %d was decided in contract %q; list what was: reducer show decisions --contract %s", seq, contract, contract)
}

func printDecision(c *cobra.Command, found *wire.Decided, d *events.Decision) error {
	value, err := schema.ParseValue(found.Record)
	if err != nil {
		return err
	}
	table := ui.NewTable("member", "value")
	for name := range value.Members() {
		if name != "events" {
			table.Row(name, cell(value, name))
		}
	}
	table.Row("block", strconv.FormatUint(found.Block, 10))
	table.Row("command", string(found.Command))
	for _, e := range d.Events {
		table.Row("event", words(e))
	}
	return table.Write(c.OutOrStdout())
}

// shownDecision is a decision as --json prints it.
type shownDecision struct {
	shown
	Command json.RawMessage `json:"command,omitempty"`
	What    []string        `json:"what"` // in words
}

func decisionShown(contract string, found *wire.Decided, d *events.Decision) shownDecision {
	return shownDecision{
		shown: shown{
			At: d.At.String(), Block: found.Block, Contract: contract, Key: strconv.FormatUint(d.CommandSeq, 10),
			Projection: state.Decisions, Seq: d.CommandSeq, Value: found.Record,
		},
		Command: found.Command, What: whatOf(d),
	}
}

// decisionLines shows decisions: as JSON lines, as lines that come now, or as a
// table at the end.
type decisionLines struct {
	c     *cobra.Command
	many  bool // several contracts
	now   bool // each line as it comes
	table *ui.Table
}

func newDecisionLines(c *cobra.Command, many bool) *decisionLines {
	l := &decisionLines{c: c, many: many}
	titles := []string{"seq#", "at", "principal", "type", "outcome", "what"}
	if many {
		titles = append([]string{"contract"}, titles...)
	}
	l.table = ui.NewTable(titles...)
	return l
}

func (l *decisionLines) add(contract string, found *wire.Decided) error {
	d, err := events.ParseDecision(found.Record)
	if err != nil {
		return err
	}
	if cli.JSON(l.c) {
		return ui.JSON(l.c.OutOrStdout(), decisionShown(contract, found, d))
	}
	cells := []string{strconv.FormatUint(d.CommandSeq, 10), timeCell(d.At.String()), d.Principal, d.Type, string(d.Outcome)}
	for i, what := range whatOf(d) {
		switch {
		case l.now:
			fmt.Fprintf(l.c.OutOrStdout(), "%7s  %s  %s  %s  %s  %s\n", cells[0], cells[1], ui.Printable(cells[2]), ui.Printable(cells[3]), cells[4], ui.Printable(what))
			continue
		case i > 0:
			cells = make([]string, len(cells)) // the same decision
		case l.many:
			cells = append([]string{contract}, cells...)
		}
		l.table.Row(append(slices.Clone(cells), what)...)
	}
	return nil
}

// end shows what was kept for the end.
func (l *decisionLines) end() error {
	if cli.JSON(l.c) || l.now {
		return nil
	}
	return l.table.Write(l.c.OutOrStdout())
}
