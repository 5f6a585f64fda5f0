package reducertest

import (
	"fmt"
	"strconv"

	"github.com/cockroachdb/datadriven"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// redeliver sends the last message once more, or that of a sequence: the same
// id, subject and body at a new place of the stream.
//
//	redeliver
//	----
//	duplicate of 5: accepted
func (w *World) redeliver(d *datadriven.TestData) (string, error) {
	again := w.story.last
	if len(d.CmdArgs) == 1 {
		seq, err := strconv.ParseUint(d.CmdArgs[0].Key, 10, 64)
		if err != nil {
			return "", err
		}
		again = nil
		for _, e := range w.Log {
			if e.Message.Seq == seq {
				again = e.Message
			}
		}
	}
	if again == nil {
		return "", fmt.Errorf("there is nothing to deliver again")
	}
	decision, err := w.Step(w.again(again))
	if err != nil {
		return "", err
	}
	return show(decision), nil
}

func (w *World) again(m *events.Message) *events.Message {
	return w.story.message(m.Subject, &m.IDs, m.Body)
}
