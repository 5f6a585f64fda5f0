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
	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// maxWaiting is how many commands may be without a decision at a time: enough
// for the reducer to put many into one block.
const maxWaiting = 1024

// firstSilence is how long nothing may be heard until what waits is sent again,
// under the same ids. The pauses after that double.
const firstSilence = time.Second

// waiter collects the decisions of what was published. What is answered is
// certain; all else may be lost with the inbox or on the way, and is sent again
// when the connection comes back or nothing is heard.
type waiter struct {
	p        *publisher
	sub      *nats.Subscription
	prefix   string
	print    *printer
	timeout  time.Duration
	waiting  []*flight // in the order of the file
	byToken  map[string]*flight
	lives    uint64 // of the connection, when all that waits was sent
	sent     int
	rejected int
}

// flight is a command that was published.
type flight struct {
	*command
	token string // last token of the reply subject
}

func newWaiter(p *publisher, print *printer) (*waiter, error) {
	prefix := p.conn.NewInbox() + "."
	sub, err := p.conn.SubscribeSync(prefix + "*")
	if err != nil {
		return nil, err
	}
	return &waiter{p: p, sub: sub, prefix: prefix, print: print, timeout: p.timeout, byToken: map[string]*flight{}}, nil
}

// send publishes a command. It first takes decisions that are here already, and
// waits for some where too many are out.
func (w *waiter) send(ctx context.Context, command *command) error {
	for len(w.waiting) >= maxWaiting || w.pending() {
		if err := w.receive(ctx); err != nil {
			return err
		}
	}
	w.sent++
	f := &flight{command: command, token: strconv.Itoa(w.sent)}
	w.waiting = append(w.waiting, f)
	w.byToken[f.token] = f
	return w.p.publish(ctx, command, w.prefix+f.token)
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
	return rejections(w.rejected, w.sent)
}

// rejections is exit code 4 where there were any.
func rejections(rejected, sent int) error {
	if rejected > 0 {
		return exit.Errorf(exit.Rejected, "%d of %d commands were rejected", rejected, sent)
	}
	return nil
}

// flush implements [sender].
func (w *waiter) flush(ctx context.Context) error { return w.p.flush(ctx) }

// receive takes one decision, and sends everything again as often as it takes.
func (w *waiter) receive(ctx context.Context) error {
	if !w.pending() { // it is about to wait, so nothing may be held back
		if err := w.p.flush(ctx); err != nil {
			return err
		}
	}
	silence := firstSilence
	for began, heard := time.Now(), time.Now(); ; {
		msg, err := w.next(ctx)
		switch {
		case err == nil:
			return w.take(msg)
		case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
			return err
		case time.Since(began) >= w.timeout:
			return fmt.Errorf("no decision within %s for line %d and %d more; publish the file again, the same ids are decided once",
				w.timeout, w.waiting[0].Line, len(w.waiting)-1)
		}
		lives := w.p.lives.Load()
		if lives == w.lives && time.Since(heard) < silence {
			continue
		}
		if lives == w.lives {
			silence *= 2
		}
		if err := w.again(ctx); err != nil {
			return err
		}
		w.lives, heard = lives, time.Now()
	}
}

// lookEvery is how soon it is noticed that the connection came back.
const lookEvery = 50 * time.Millisecond

func (w *waiter) next(ctx context.Context) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, min(lookEvery, w.timeout))
	defer cancel()
	return w.sub.NextMsgWithContext(ctx)
}

// again publishes what waits, in its order.
func (w *waiter) again(ctx context.Context) error {
	for _, f := range w.waiting {
		if err := w.p.publish(ctx, f.command, w.prefix+f.token); err != nil {
			return fmt.Errorf("again: %w", err)
		}
	}
	if err := w.p.flush(ctx); err != nil {
		return fmt.Errorf("again: %w", err)
	}
	return nil
}

// take takes the decision in a message.
func (w *waiter) take(msg *nats.Msg) error {
	f, ok := w.byToken[strings.TrimPrefix(msg.Subject, w.prefix)]
	if !ok {
		return nil // sent twice, answered twice
	}
	delete(w.byToken, f.token)
	w.waiting = slices.DeleteFunc(w.waiting, func(other *flight) bool { return other == f })
	d, err := events.ParseDecision(msg.Data)
	if err != nil {
		return fmt.Errorf("line %d: %w", f.Line, err)
	}
	if isRejection(d) {
		w.rejected++
	}
	return w.print.decision(f.Line, d, msg.Data, msg.Header.Get(wire.HeaderFinal) != "false")
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

func (p *printer) decision(line int, d *events.Decision, record []byte, final bool) error {
	if p.json {
		_, err := fmt.Fprintf(p.c.OutOrStdout(), "%s\n", record)
		return err
	}
	text := summary(d)
	if !final {
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
