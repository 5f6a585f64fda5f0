package projections

import "testing"

// TestBell: who listens is told of a decision once, also of one that could not be
// seen yet when they were told.
func TestBell(t *testing.T) {
	b := bell{ledgers: map[string]*listeners{}}
	ring := b.listen("c1")
	last := map[string]uint64{"c1": 11}
	told := func(seen uint64) bool {
		err := b.tell(seen, func(ledger string) (uint64, error) { return last[ledger], nil })
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-ring:
			return true
		default:
			return false
		}
	}
	for i, step := range []struct {
		last, seen uint64
		want       bool
	}{
		{11, 10, true}, // 11 is decided, and not there to be seen
		{11, 11, true},
		{11, 12, false}, // of another ledger
		{13, 13, true},
		{13, 14, false},
	} {
		last["c1"] = step.last
		if got := told(step.seen); got != step.want {
			t.Errorf("step %d: told %v, want %v", i, got, step.want)
		}
	}
	b.leave("c1", ring)
	if !b.idle() {
		t.Error("who left is still listened to")
	}
}
