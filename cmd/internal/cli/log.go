package cli

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// Logger logs to the command's standard error from a level on, as JSON lines
// with --json. What goes wrong again and again, as on a full disk, does not
// fill another disk: of one text a few lines a second are kept.
func Logger(c *cobra.Command, level slog.Level) *slog.Logger {
	return slog.New(&calm{next: newHandler(c.ErrOrStderr(), level, JSON(c)), said: &said{}})
}

func newHandler(w io.Writer, level slog.Level, json bool) slog.Handler {
	options := &slog.HandlerOptions{Level: level, ReplaceAttr: plainErrors}
	if json {
		return slog.NewJSONHandler(w, options)
	}
	return slog.NewTextHandler(w, options)
}

// plainErrors shows errors as their text: some would show a stack otherwise.
func plainErrors(_ []string, a slog.Attr) slog.Attr {
	if err, ok := a.Value.Any().(error); ok {
		a.Value = slog.StringValue(err.Error())
	}
	return a
}

// linesPerSecond is how many lines of one text are kept in a second.
const linesPerSecond = 10

// calm is a handler that drops repetitions.
type calm struct {
	next slog.Handler
	said *said
}

// said counts the texts of one second.
type said struct {
	mu    sync.Mutex
	since time.Time
	times map[string]int
}

// Enabled implements [slog.Handler].
func (h *calm) Enabled(ctx context.Context, level slog.Level) bool { return h.next.Enabled(ctx, level) }

// Handle implements [slog.Handler].
func (h *calm) Handle(ctx context.Context, r slog.Record) error {
	switch h.said.count(r.Message, r.Time) {
	case linesPerSecond:
		r.AddAttrs(slog.Bool("more_dropped", true))
	case linesPerSecond + 1:
		return nil
	}
	return h.next.Handle(ctx, r)
}

// count says how often the text was said in this second; more than
// linesPerSecond is not told apart.
func (s *said) count(text string, now time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.times == nil || now.Sub(s.since) >= time.Second {
		s.since, s.times = now, map[string]int{}
	}
	s.times[text] = min(s.times[text]+1, linesPerSecond+1)
	return s.times[text]
}

// WithAttrs implements [slog.Handler].
func (h *calm) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &calm{next: h.next.WithAttrs(attrs), said: h.said}
}

// WithGroup implements [slog.Handler].
func (h *calm) WithGroup(name string) slog.Handler {
	return &calm{next: h.next.WithGroup(name), said: h.said}
}
