package state

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAscend compares an ordered set with a sorted list, both ways, while its
// changes are anywhere on their way to the store.
func TestAscend(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	rows := NewMemory()
	s := New(rows, Cursor{}, 1)
	prefix := []byte{kindDue}
	var model []string
	var taken [][]Change
	for step := range 20_000 {
		key := string(prefix) + fmt.Sprintf("%02d", rng.IntN(30))
		i, there := slices.BinarySearch(model, key)
		switch n := rng.IntN(10); {
		case n < 4 && !there:
			s.put(prefix, key, true)
			model = slices.Insert(model, i, key)
		case n < 4:
			s.put(prefix, key, false)
			model = slices.Delete(model, i, i+1)
		case n < 6:
			taken = append(taken, s.Take(1))
		case n < 8 && len(taken) > 0:
			rows.Commit(taken[0])
			s.Committed()
			taken = taken[1:]
		}
		for _, reverse := range []bool{false, true} {
			want := slices.Clone(model)
			if reverse {
				slices.Reverse(want)
			}
			want = want[:rng.IntN(len(want)+1)]
			var got []string
			if len(want) > 0 {
				s.ascend(prefix, reverse, func(key string) bool {
					got = append(got, key)
					return len(got) < len(want)
				})
			}
			if !slices.Equal(got, want) {
				t.Fatalf("step %d, reverse=%t:\n got %q\nwant %q", step, reverse, got, want)
			}
		}
		if there := s.contains(prefix, key); there != slices.Contains(model, key) {
			t.Fatalf("step %d: contains %q = %t", step, key, there)
		}
	}
}
