package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// talkative is an error that shows more than its text with %+v.
type talkative struct{ error }

func (t talkative) Format(s fmt.State, _ rune) { fmt.Fprint(s, "a stack") }

func TestLogger(t *testing.T) {
	var out strings.Builder
	c := &cobra.Command{}
	c.SetErr(&out)
	log := Logger(c, slog.LevelInfo)
	log.Debug("not shown")
	log.Info("broken", "error", talkative{errors.New("the disk is full")})
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `msg=broken error="the disk is full"`) {
		t.Errorf("logged %q", got)
	}
}

// A text that comes a thousand times is not a thousand lines, and others are
// not lost beside it.
func TestLoggerCalm(t *testing.T) {
	var out strings.Builder
	c := &cobra.Command{}
	c.SetErr(&out)
	log := Logger(c, slog.LevelInfo).With("from", "test")
	for n := range 1000 {
		log.Error("no space", "n", n)
	}
	log.Info("something else")
	got := out.String()
	if lines := strings.Count(got, "no space"); lines < linesPerSecond || lines > 3*linesPerSecond {
		t.Errorf("%d lines", lines)
	}
	if !strings.Contains(got, "more_dropped=true") || !strings.Contains(got, `msg="something else" from=test`) {
		t.Errorf("logged %s", got)
	}
}
