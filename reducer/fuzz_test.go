package reducer_test

import (
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// busy is a ledger in the middle of things: each command has something to find.
const busy = `
open-contract skew=100 max-attempts=9
register-graph g
  work TASK config={"effect":"none"} in={"required":["item"]} out={"properties":{"n":{"type":"integer"}}}
  again LOOP after=work config={"maxIterations":2}
  choice DECISION after=work
  left TASK after=choice config={"effect":"none"}
  right APPROVAL after=choice
  ask WAIT after=left
  meet JOIN after=(ask, right)
  end END after=(meet, again)
grant top depth=3
grant g parent=top by=agent depth=2
start-run done
transition RUNNING run=done
transition COMPLETED run=done
verify v0 run=done
start-run r
attach-graph g
transition RUNNING
start-run s
transition RUNNING run=s
pin-plan p document={"a":[1,2]}
activate-plan p
approve ok uses=3 item=lamp
admit o
admit lamp item=lamp approval=ok
dispatch o-1 node=work
admit p run=s
dispatch p-1
settle p-1 cost=7
verify v1 run=s results={"works":"FAIL"}
admit q run=s item=shelf
wait w
wait alarm kind=TIMER deadline=1500
register-trigger t rate-limit=2 field=ok equals=true
register-trigger clock every=100 start=500 catch-up=ALL
register-trigger bell every=100 start=500 action=RESUME_WAIT wait=alarm
register-trigger c kind=CONDITION mode=EDGE field=ok equals=true
fire-trigger t event=e0 run=started data={"ok":true}
`

// FuzzDecide gives any message to a busy ledger. Nothing panics, what is decided
// can be read back, and the invariants hold.
func FuzzDecide(f *testing.F) {
	w := reducertest.NewWorld()
	w.Quick = true
	var block strings.Builder
	flush := func() {
		line, below, _ := strings.Cut(strings.TrimSpace(block.String()), "\n")
		if line != "" {
			if d, err := w.Do(line, below); err != nil || d.Code != "" {
				f.Fatal(line, d, err)
			}
		}
		block.Reset()
	}
	for line := range strings.Lines(busy) {
		if !strings.HasPrefix(line, " ") {
			flush()
		}
		block.WriteString(line)
	}
	flush()
	w.Commit()
	for _, e := range w.Log {
		f.Add(e.Message.Body, e.Message.Subject, "new", int64(2_000_000_000))
		f.Add(e.Message.Body, e.Message.Subject, e.Message.IDs[0], e.Message.Time)
	}
	hash := w.State.Hash()
	f.Fuzz(func(t *testing.T, body []byte, subject, id string, at int64) {
		m := &events.Message{Seq: 1000, Time: at, Subject: subject, Body: body, IDs: []string{id}}
		if id == "" {
			m.IDs = nil
		}
		d, err := w.Fork().Step(m)
		if err != nil {
			t.Fatal(err)
		}
		again := reducer.New().Decide(state.New(w.Rows, state.Cursor{StateHash: hash}, 1), m)
		if string(again.Append(nil)) != string(d.Append(nil)) {
			t.Fatalf("decided anew:\n%s\n%s", d.Append(nil), again.Append(nil))
		}
	})
}
