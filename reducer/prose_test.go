package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// TestProseIsStable: where an instance breaks its schema in many places, every
// reducer names the same one. Nothing compares pointers and messages, but two
// hosts that write different blocks for one log are hard to tell from a fault.
func TestProseIsStable(t *testing.T) {
	const nodes = `a TASK config={"effect":"none"} out={"required":["p","q"],"properties":{"a":{"type":"integer"},"b":{"type":"integer"},"c":{"maxLength":1}},"anyOf":[{"required":["z"]},{"required":["y"]}]}
end END after=a`
	said := map[string]bool{}
	for range 20 {
		w := reducertest.NewWorld()
		send(t, w, "open-contract", "")
		send(t, w, "register-graph g", nodes)
		for _, line := range []string{"start-run r", "attach-graph g", "transition RUNNING"} {
			send(t, w, line, "")
		}
		for _, line := range []string{
			`complete-node a result={"a":"x","b":"x","c":"xx","d":1}`,
			`complete-node a result={"p":1,"q":1,"a":"x","b":"x","c":"xx","z":1}`,
		} {
			d, err := w.Do(line, "")
			if err != nil {
				t.Fatal(err)
			}
			said[d.String()] = true
		}
	}
	if len(said) != 2 {
		t.Errorf("two refusals are told in %d ways: %v", len(said), said)
	}
}
