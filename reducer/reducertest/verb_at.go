package reducertest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
)

// at moves the time that the stream stamps messages with; it may go back.
//
//	at 5000
//	----
//	now 5000
//
//	at +100
//	----
//	now 5100
func (w *World) at(d *datadriven.TestData) (string, error) {
	if len(d.CmdArgs) != 1 {
		return "", fmt.Errorf("at wants a time")
	}
	text := d.CmdArgs[0].Key
	ms, err := strconv.ParseInt(strings.TrimPrefix(text, "+"), 10, 64)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(text, "+") {
		ms += w.story.now
	}
	w.story.now = ms
	return fmt.Sprintf("now %d", ms), nil
}
