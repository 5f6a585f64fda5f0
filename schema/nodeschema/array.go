package nodeschema

import (
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// arrayRule holds the keywords about arrays.
type arrayRule struct {
	maximum, minimum         *int
	unique                   bool
	prefix                   []*rule
	items                    *rule
	contains                 *rule
	maxContains, minContains *int
}

func compileUniqueItems(_ *compiler, r *rule, n *jsontree.Node) error {
	r.arrays().unique = n.Kind() == 't'
	return want(n, isFlag(n), "a boolean")
}

func (c *checker) array(r *rule, n *jsontree.Node, seen *marks) verdict {
	a := r.array
	if a.maximum != nil && len(n.Kids) > *a.maximum {
		return c.refuse(r, "maxItems", n)
	}
	if a.minimum != nil && len(n.Kids) < *a.minimum {
		return c.refuse(r, "minItems", n)
	}
	result := valid
	if a.unique {
		result = c.unique(r, n)
	}
	for i, kid := range n.Kids {
		inner := a.items
		if i < len(a.prefix) {
			inner = a.prefix[i]
		}
		if result == invalid || inner == nil {
			break
		}
		seen.add(i)
		result = min(result, c.apply(inner, kid, nil))
	}
	if a.contains == nil || result == invalid {
		return result
	}
	return min(result, c.contains(r, n, seen))
}

// unique: elements are equal if their canonical texts are.
func (c *checker) unique(r *rule, n *jsontree.Node) verdict {
	result := valid
	texts := make(map[schema.Value]bool, len(n.Kids))
	for _, kid := range n.Kids {
		switch {
		case c.unknown[kid]:
			result = unsure
		case texts[kid.Text]:
			return c.refuse(r, "uniqueItems", n)
		}
		texts[kid.Text] = true
	}
	return result
}

func (c *checker) contains(r *rule, n *jsontree.Node, seen *marks) verdict {
	sure, possible := 0, 0
	for i, kid := range n.Kids {
		switch c.try(r.array.contains, kid) {
		case valid:
			sure++
			possible++
			seen.add(i)
		case unsure:
			possible++
			seen.add(i)
			seen.doubt()
		}
	}
	least, most := 1, maxCount
	if r.array.minContains != nil {
		least = *r.array.minContains
	}
	if r.array.maxContains != nil {
		most = *r.array.maxContains
	}
	switch {
	case possible < least:
		return c.refuse(r, "contains", n)
	case sure > most:
		return c.refuse(r, "maxContains", n)
	case sure < least || possible > most:
		return unsure
	}
	return valid
}
