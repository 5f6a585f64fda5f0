package projections

import (
	"testing"
	"time"
)

// TestRefusals: a flood is told of itself a bounded number of times, which takes
// none of the next sender's, nor of its own later.
func TestRefusals(t *testing.T) {
	r := refusals{until: time.Now().Add(time.Hour), told: map[string]int{}}
	for i := range refusalsTold + 1 {
		if r.allow("flooder") != (i < refusalsTold) {
			t.Fatalf("refusal %d", i)
		}
	}
	if !r.allow("other") {
		t.Error("another sender is told nothing")
	}
	r.until = time.Time{}
	if !r.allow("flooder") || len(r.told) != 1 {
		t.Errorf("the next window: %v", r.told)
	}
}
