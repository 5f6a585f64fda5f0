package state

import (
	"maps"
	"slices"
)

// member is the newest change of one key of an ordered set.
type member struct {
	present bool
	take    int // number of the Take that hands it out; 0 before
}

// sets holds the changes of ordered sets that are not in the store yet, by the
// prefix that a scan asks for.
type sets map[string]map[string]member

// put adds a key to an ordered set, or removes it. The prefix is the part of
// the key that all of its scans share.
func (s *State) put(prefix []byte, key string, present bool) {
	group := s.sets[string(prefix)]
	if group == nil {
		group = map[string]member{}
		s.sets[string(prefix)] = group
	}
	group[key] = member{present: present}
}

// contains says whether an ordered set has the key.
func (s *State) contains(prefix []byte, key string) bool {
	if m, ok := s.sets[string(prefix)][key]; ok {
		return m.present
	}
	value, err := s.rows.Get([]byte(key))
	if err != nil {
		s.fail(err)
	}
	return value != nil
}

// ascend calls f for each key of an ordered set in order, from the last one
// down when reverse is set, until f returns false.
func (s *State) ascend(prefix []byte, reverse bool, f func(key string) bool) {
	group := s.sets[string(prefix)]
	pending := slices.Sorted(maps.Keys(group))
	if reverse {
		slices.Reverse(pending)
	}
	precedes := func(a, b string) bool { return a < b && !reverse || a > b && reverse }
	next, stopped := 0, false
	emit := func(key string) bool {
		stopped = group[key].present && !f(key)
		return !stopped
	}
	err := s.rows.Scan(prefix, after(prefix), reverse, func(key, _ []byte) bool {
		stored := string(key)
		for next < len(pending) && precedes(pending[next], stored) {
			next++
			if !emit(pending[next-1]) {
				return false
			}
		}
		if next < len(pending) && pending[next] == stored {
			next++
			return emit(stored)
		}
		stopped = !f(stored)
		return !stopped
	})
	if err != nil {
		s.fail(err)
		return
	}
	for ; next < len(pending) && !stopped; next++ {
		emit(pending[next])
	}
}

// takeSets hands out the changes of ordered sets since the last Take.
func (s *State) takeSets(changes []Change) []Change {
	for _, prefix := range slices.Sorted(maps.Keys(s.sets)) {
		group := s.sets[prefix]
		for _, key := range slices.Sorted(maps.Keys(group)) {
			m := group[key]
			if m.take != 0 {
				continue
			}
			m.take = s.takes
			group[key] = m
			c := Change{Key: []byte(key)}
			if m.present {
				c.Value = []byte{rowVersion}
			}
			changes = append(changes, c)
		}
	}
	return changes
}

// forgetSets drops the changes that the store holds now.
func (s *State) forgetSets(take int) {
	for _, prefix := range slices.Sorted(maps.Keys(s.sets)) {
		group := s.sets[prefix]
		maps.DeleteFunc(group, func(_ string, m member) bool { return m.take != 0 && m.take <= take })
		if len(group) == 0 {
			delete(s.sets, prefix)
		}
	}
}
