package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/spf13/cobra"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/cli"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/cmd/internal/ui"
	"github.com/aiws-reducer/aiws-reducer/events"
)

// maxWaiting is how many commands may be without a decision at a time: enough
// for the reducer to put many into one block.
const maxWaiting = 1024

// waiter collects the decisions of what was published.
type waiter struct {
	sub      *nats.Subscription
	prefix   string
	print    *printer
	timeout  time.Duration
	waiting  map[string]int // token of the reply subject to line
	sent     int
	rejected int
}

func newWaiter(conn *nats.Conn, print *printer, timeout time.Duration) (*waiter, error) {
	prefix := conn.NewInbox() + "."
	sub, err := conn.SubscribeSync(prefix + "*")
	if err != nil {
		return nil, err
	}
	return &waiter{sub: sub, prefix: prefix, print: print, timeout: timeout, waiting: map[string]int{}}, nil
}

// expect gives the reply subject for a command. It first takes decisions that
// are here already, and waits for some where too many are out.
func (w *waiter) expect(ctx context.Context, command *command) (string, error) {
	for len(w.waiting) >= maxWaiting || w.pending() {
		if err := w.receive(ctx); err != nil {
			return "", err
		}
	}
	w.sent++
	token := strconv.Itoa(w.sent)
	w.waiting[token] = command.Line
	return w.prefix + token, nil
}

func (w *waiter) pending() bool {
	n, _, err := w.sub.Pending()
	return err == nil && n > 0
}

// finish waits for what is still out. Its error is exit code 4 where a decision
// was a rejection, or repeated one.
func (w *waiter) finish(ctx context.Context) error {
	for len(w.waiting) > 0 {
		if err := w.receive(ctx); err != nil {
			return err
		}
	}
	if w.rejected > 0 {
		return exit.Errorf(exit.Rejected, "%d of %d commands were rejected", w.rejected, w.sent)
	}
	return nil
}

// receive takes one decision.
func (w *waiter) receive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, w.timeout)
	defer cancel()
	msg, err := w.sub.NextMsgWithContext(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no decision within %s for line %d and %d more; publish the file again, the same ids are decided once",
			w.timeout, slices.Min(lines(w.waiting)), len(w.waiting)-1)
	}
	if err != nil {
		return err
	}
	token := strings.TrimPrefix(msg.Subject, w.prefix)
	line, ok := w.waiting[token]
	if !ok {
		return nil // sent twice, answered twice
	}
	delete(w.waiting, token)
	d, err := events.ParseDecision(msg.Data)
	if err != nil {
		return fmt.Errorf("line %d: %w", line, err)
	}
	if isRejection(d) {
		w.rejected++
	}
	return w.print.decision(line, d, msg)
}

func lines(waiting map[string]int) []int {
	var all []int
	for _, line := range waiting {
		all = append(all, line)
	}
	return all
}

// isRejection: a duplicate counts as what it repeats.
func isRejection(d *events.Decision) bool {
	return d.Outcome == events.OutcomeRejected ||
		d.Outcome == events.OutcomeDuplicate && d.OfOutcome == events.OutcomeRejected
}

// printer shows decisions as they come.
type printer struct {
	c    *cobra.Command
	json bool
}

func newPrinter(c *cobra.Command) *printer { return &printer{c: c, json: cli.JSON(c)} }

func (p *printer) decision(line int, d *events.Decision, msg *nats.Msg) error {
	if p.json {
		_, err := fmt.Fprintf(p.c.OutOrStdout(), "%s\n", msg.Data)
		return err
	}
	text := summary(d)
	if msg.Header.Get(headerFinal) == "false" {
		text += "  (not final: the same id may be decided later)"
	}
	_, err := fmt.Fprintf(p.c.OutOrStdout(), "%5d  %-16s %-12s %s\n", line, d.Type, ui.Printable(d.Principal), ui.Printable(text))
	return err
}

// summary tells a decision in a few words.
func summary(d *events.Decision) string {
	switch d.Outcome {
	case events.OutcomeAccepted:
		return "accepted  " + strings.Join(eventTypes(d), ", ")
	case events.OutcomeDuplicate:
		return fmt.Sprintf("duplicate  of %d, %s %s", d.Of, d.OfOutcome, d.OfCode)
	}
	text := "rejected  " + string(d.Code)
	for _, more := range []string{d.Reason, d.Pointer, d.Message} {
		if more != "" {
			text += "  " + more
		}
	}
	return text
}

func eventTypes(d *events.Decision) []string {
	var types []string
	for _, e := range d.Events {
		types = append(types, e.Type())
	}
	return types
}
