package nodeschema

import "github.com/aiws-reducer/aiws-reducer/schema/jsontree"

// marks are the members or elements of one value that a schema evaluates: a member or element is evaluated by a keyword that
// applies a schema to it, unless the schema around that keyword refuses the value. A nil marks stands where nobody asks.
type marks struct {
	kids     []bool
	doubtful bool // some of them only perhaps: what is unknown decides
}

func newMarks(n *jsontree.Node) *marks { return &marks{kids: make([]bool, len(n.Kids))} }

func (m *marks) add(i int) {
	if m != nil {
		m.kids[i] = true
	}
}

func (m *marks) doubt() {
	if m != nil {
		m.doubtful = true
	}
}

// fresh returns empty marks for the same value.
func (m *marks) fresh() *marks {
	if m == nil {
		return nil
	}
	return &marks{kids: make([]bool, len(m.kids))}
}

// merge adds what a schema within evaluates, which answered result.
func (m *marks) merge(within *marks, result verdict) {
	if m == nil || result == invalid {
		return
	}
	for i, marked := range within.kids {
		m.kids[i] = m.kids[i] || marked
	}
	m.doubtful = m.doubtful || within.doubtful || result == unsure
}

// unevaluated applies a rule to what nothing else in the schema evaluates. Where the marks are doubtful a refusal is too.
func (c *checker) unevaluated(r *rule, n *jsontree.Node, seen *marks) verdict {
	result := valid
	for i, kid := range n.Kids {
		if seen.kids[i] {
			continue
		}
		seen.add(i)
		if !seen.doubtful {
			result = min(result, c.apply(r, kid, nil))
		} else if c.try(r, kid) != valid {
			result = unsure
		}
		if result == invalid {
			return invalid
		}
	}
	return result
}
