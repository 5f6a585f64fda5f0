package ui

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// Progress is a bar on a terminal and nothing anywhere else, so that logs and
// pipes stay clean.
type Progress struct {
	bar *progressbar.ProgressBar // nil where nobody is watching
}

// NewProgress shows how much of total is done; a total below 0 is not known and
// shows a count and a rate.
func NewProgress(w io.Writer, label string, total int64) *Progress {
	if !IsTerminal(w) {
		return &Progress{}
	}
	return newProgress(w, label, total)
}

func newProgress(w io.Writer, label string, total int64) *Progress {
	return &Progress{bar: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(label),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionFullWidth(),
		progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }),
	)}
}

// Add counts n more.
func (p *Progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a terminal that is gone stops no work
	}
}

// Done ends the bar where it stands.
func (p *Progress) Done() {
	if p.bar != nil && !p.bar.IsFinished() {
		_ = p.bar.Exit()
	}
}

// IsTerminal: w is a terminal, and a person may be watching.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
