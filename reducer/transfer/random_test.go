package transfer

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// Random histories come through files and logs unchanged, with their decisions
// and without.
func TestRandomRoundTrips(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := reducertest.NewWorld()
			if err := w.Random(reducertest.NewGenerator(seed, w.State), 250, seed); err != nil {
				t.Fatal(err)
			}
			var bare, decided []byte
			var want bytes.Buffer
			for _, e := range w.Log {
				want.Write(e.Decision.Append(nil))
				bare = logfile.Append(bare, e.Message)
				decided = logfile.AppendDecided(decided, e.Message, e.Decision.Append(nil))
			}
			for name, in := range map[string]Entries{
				"commands":  FromFile(bytes.NewReader(bare)),
				"decisions": FromFile(bytes.NewReader(decided)),
				"a log":     FromLog(t.Context(), build(t, FromFile(bytes.NewReader(bare)))),
			} {
				if got := records(t, build(t, in)); got != want.String() {
					t.Errorf("%s: other records", name)
				}
			}
		})
	}
}
