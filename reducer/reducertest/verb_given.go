package reducertest

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// given folds events as an older log may hold them: one decision, accepted,
// that this build need not decide so again.
//
//	given
//	{"type": "runStarted", "runId": "r"}
//	----
//	runStarted runId=r
func (w *World) given(d *datadriven.TestData) (string, error) { return w.give(d.Input) }

func (w *World) give(text string) (string, error) {
	m := w.story.message("aiws.cmd."+w.story.contract+".history.startRun", nil, []byte("{}"))
	decision := &events.Decision{
		Contract: w.story.contract, CommandSeq: m.Seq, CommandID: m.IDs[0], Principal: "history", Type: "startRun",
		At: m.Millis().Max(w.State.Ledger(w.story.contract).Now), BodyHash: strings.TrimPrefix(schema.HashOf(m.Body), "sha256:"),
		Outcome: events.OutcomeAccepted,
	}
	for line := range strings.Lines(text) {
		e, err := parseEvent(line)
		if err != nil {
			return "", err
		}
		decision.Events = append(decision.Events, e)
	}
	decision.Seal(w.State.Ledger(w.story.contract).Head)
	return show(decision), w.fold(m, decision, true)
}

func parseEvent(text string) (events.Event, error) {
	value, err := schema.ParseValue([]byte(strings.TrimSpace(text)))
	if err != nil {
		return nil, err
	}
	member, _ := value.Member("type")
	name, _ := member.Str()
	e := events.New(name)
	if e == nil {
		return nil, fmt.Errorf("no event %q", name)
	}
	return e, schema.DecodeRecord([]byte(value), e)
}
