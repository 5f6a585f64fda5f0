package main

import (
	"context"
	"encoding/json"
	"errors"
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
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// changes holds the flags of show changes.
type changes struct {
	source   source
	contract string
	from, to logMoment
	limit    int
}

func newShowChanges() *cobra.Command {
	var s changes
	c := &cobra.Command{
		Use:   "changes [PROJECTION]",
		Short: "what changed between two moments",
		Long: "It shows which documents of the projections differ between two moments, and how: of the mirrored projections,\n" +
			"or of the one that is named. It reads the log and folds it twice beside the reducer, up to each moment; the\n" +
			"reducer answers nothing and waits for nothing. That takes as long as reading the log up to --to does.\n\n" +
			"A moment is a command sequence, whose command then is the last one in it, a time as RFC 3339, or how long ago,\n" +
			"as 10m. That a mission's now and chain head move with every decision is left out.",
		Example: cli.Example(
			"reducer show changes --from 1200 --to 1250",
			"reducer show changes runs --from 2026-01-31T09:00:00Z --contract onboarding",
			"reducer show changes --from 1h --data aiws-data --json",
		),
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return coded(s.source.explain(s.run(c, args))) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return comparable(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	s.source.add(c)
	c.Flags().StringVar(&s.contract, "contract", "", "of this `CONTRACT` only")
	c.Flags().Var(&s.from, "from", "compare the state after this `MOMENT`; before all, if it is left out")
	c.Flags().Var(&s.to, "to", "with the state after this `MOMENT`; the end of the log, if it is left out")
	c.Flags().IntVar(&s.limit, "limit", 100, "show at most so many documents; 0 is all")
	completeFlag(c, "contract", s.source.contracts)
	return c
}

// comparable are the projections that have a state at a moment.
func comparable() []string {
	return slices.DeleteFunc(state.Projections(), func(p string) bool { return p == state.Decisions })
}

func (s *changes) run(c *cobra.Command, args []string) error {
	wanted := wire.Mirrored
	if len(args) == 1 {
		if wanted = args; !slices.Contains(comparable(), args[0]) {
			return exit.Errorf(exit.Usage, "%q has no state to compare; there are %s", args[0], strings.Join(comparable(), ", "))
		}
	}
	if s.from.seq > s.to.seq && s.to.kind == momentSeq {
		return exit.Errorf(exit.Usage, "--from %d is after --to %d", s.from.seq, s.to.seq)
	}
	log, err := s.source.openLog(c.Context())
	if err != nil {
		return err
	}
	defer log.close()
	now := time.Now()
	return inScratch(func(before *projections.Store) error {
		if s.from.kind != momentNone {
			if err := foldUntil(c, log, before, s.from.until(now)); err != nil {
				return err
			}
		}
		return inScratch(func(after *projections.Store) error {
			if err := foldUntil(c, log, after, s.to.until(now)); err != nil {
				return err
			}
			d := stateDiffer{c: c, before: state.NewReader(before), limit: s.limit, table: ui.NewTable("contract", "projection", "key", "member", "before", "after")}
			return d.show(c.Context(), state.NewReader(after), wanted, s.contract)
		})
	})
}

// foldUntil folds the log into an empty store, up to a moment.
func foldUntil(c *cobra.Command, log *openedLog, store *projections.Store, until func(*events.Message) bool) error {
	_, err := walkWithBar(c, log, &audit.Walk{Store: store, Until: until})
	return err
}

// stateDiffer shows how documents differ. Documents are never taken away, so
// those of the later state are all there are.
type stateDiffer struct {
	c      *cobra.Command
	before *state.Reader
	limit  int
	count  int
	table  *ui.Table
}

var errEnough = errors.New("enough")

func (d *stateDiffer) show(ctx context.Context, after *state.Reader, wanted []string, contract string) error {
	for _, projection := range wanted {
		var failed error
		err := after.Documents(projection, contract, "", func(doc *state.Document) bool {
			failed = d.compare(doc)
			return failed == nil && ctx.Err() == nil
		})
		if errors.Is(failed, errEnough) {
			more(d.c)
			break
		}
		if err := errors.Join(err, failed, ctx.Err()); err != nil {
			return err
		}
	}
	if cli.JSON(d.c) {
		return nil
	}
	return d.table.Write(d.c.OutOrStdout())
}

// compare shows a document if it was another before, or none.
func (d *stateDiffer) compare(after *state.Document) error {
	before, was, err := d.before.Get(after.Projection, after.Contract, after.Key)
	if err != nil {
		return err
	}
	var members []string
	if was {
		if members = changedMembers(after.Projection, before.Value, after.Value); len(members) == 0 {
			return nil
		}
	}
	if d.limit > 0 && d.count == d.limit {
		return errEnough
	}
	d.count++
	if cli.JSON(d.c) {
		return d.json(before, after)
	}
	if !was {
		d.table.Row(after.Contract, after.Projection, after.Key, "", "none", summary(after.Projection, after.Value))
	}
	for i, name := range members {
		place := []string{after.Contract, after.Projection, after.Key}
		if i > 0 {
			place = []string{"", "", ""}
		}
		d.table.Row(append(place, name, cell(before.Value, name), cell(after.Value, name))...)
	}
	return nil
}

// changedMembers names the members that differ, in their order.
func changedMembers(projection string, before, after schema.Value) []string {
	var names []string
	for name, is := range after.Members() {
		moves := projection == state.Missions && (name == "now" || name == "head")
		if was, ok := before.Member(name); !moves && (!ok || was != is) {
			names = append(names, name)
		}
	}
	for name := range before.Members() {
		if _, ok := after.Member(name); !ok {
			names = append(names, name)
		}
	}
	return names
}

// shownChange is a change as --json prints it.
type shownChange struct {
	After      json.RawMessage `json:"after"`
	At         string          `json:"at"`
	Before     json.RawMessage `json:"before"` // null: there was none
	Contract   string          `json:"contract"`
	Key        string          `json:"key"`
	Projection string          `json:"projection"`
	Seq        uint64          `json:"seq"` // of the decision that changed it last
}

func (d *stateDiffer) json(before, after *state.Document) error {
	line := shownChange{
		After: json.RawMessage(after.Value), At: after.Meta.At.String(), Before: json.RawMessage("null"), Contract: after.Contract,
		Key: after.Key, Projection: after.Projection, Seq: after.Meta.CommandSeq,
	}
	if before != nil {
		line.Before = json.RawMessage(before.Value)
	}
	return ui.JSON(d.c.OutOrStdout(), line)
}

// logMoment is the value of a flag that names a place in the log.
type logMoment struct {
	kind momentKind
	seq  uint64
	time cli.Moment
	text string
}

type momentKind int

const (
	momentNone momentKind = iota // the end, or the beginning
	momentSeq
	momentTime
)

// Set implements pflag.Value. Digits are a command sequence.
func (m *logMoment) Set(text string) error {
	*m = logMoment{text: text}
	seq, err := strconv.ParseUint(text, 10, 64)
	if err == nil {
		m.kind, m.seq = momentSeq, seq
		return nil
	}
	if err := m.time.Set(text); err != nil {
		return fmt.Errorf("want a command sequence, a time as 2026-01-31T09:00:00Z, or how long ago, as 10m")
	}
	m.kind = momentTime
	return nil
}

// String implements pflag.Value.
func (m *logMoment) String() string { return m.text }

// Type implements pflag.Value.
func (m *logMoment) Type() string { return "moment" }

// until says that a command came after the moment; nil where all come before it.
func (m *logMoment) until(now time.Time) func(*events.Message) bool {
	switch m.kind {
	case momentSeq:
		return func(message *events.Message) bool { return message.Seq > m.seq }
	case momentTime:
		at, _ := m.time.At(now) // it was given
		return func(message *events.Message) bool { return message.Time/events.NanosPerMilli > at }
	}
	return nil
}
