package nodeschema

import "github.com/aiws-reducer/aiws-reducer/schema/jsontree"

// logicRule holds the keywords that apply schemas to the same value and combine the answers.
type logicRule struct {
	all, any, one         []*rule
	not                   *rule
	when, then, otherwise *rule // if, then, else
}

func (c *checker) logic(r *rule, n *jsontree.Node, seen *marks) verdict {
	result := valid
	for _, inner := range r.logic.all {
		if result = min(result, c.inPlace(inner, n, seen)); result == invalid {
			return invalid
		}
	}
	if r.logic.any != nil {
		result = min(result, c.anyOf(r, n, seen))
	}
	if r.logic.one != nil && result != invalid {
		result = min(result, c.oneOf(r, n, seen))
	}
	if r.logic.not != nil && result != invalid {
		result = min(result, c.not(r, n))
	}
	if r.logic.when != nil && result != invalid {
		result = min(result, c.conditional(r, n, seen))
	}
	return result
}

// inPlace applies inner to the value that the schema around it is about: what it evaluates counts for that one too.
func (c *checker) inPlace(inner *rule, n *jsontree.Node, seen *marks) verdict {
	within := seen.fresh()
	result := c.apply(inner, n, within)
	seen.merge(within, result)
	return result
}

// tryInPlace is inPlace for a schema that the value need not satisfy.
func (c *checker) tryInPlace(inner *rule, n *jsontree.Node, seen *marks) verdict {
	c.quiet++
	result := c.inPlace(inner, n, seen)
	c.quiet--
	return result
}

func (c *checker) anyOf(r *rule, n *jsontree.Node, seen *marks) verdict {
	best := invalid
	for _, inner := range r.logic.any {
		best = max(best, c.tryInPlace(inner, n, seen))
		if best == valid && seen == nil {
			return valid
		}
	}
	if best == invalid {
		return c.refuse(r, "anyOf", n)
	}
	return best
}

func (c *checker) oneOf(r *rule, n *jsontree.Node, seen *marks) verdict {
	sure, possible := 0, 0
	for _, inner := range r.logic.one {
		result := c.tryInPlace(inner, n, seen)
		if result == valid {
			sure++
		}
		if result != invalid {
			possible++
		}
		if sure > 1 {
			break
		}
	}
	switch {
	case sure > 1, possible == 0:
		return c.refuse(r, "oneOf", n)
	case possible > 1 || sure == 0:
		return unsure
	}
	return valid
}

func (c *checker) not(r *rule, n *jsontree.Node) verdict {
	switch c.try(r.logic.not, n) {
	case valid:
		return c.refuse(r, "not", n)
	case unsure:
		return unsure
	}
	return valid
}

// conditional: while it is not known which branch counts, the value is refused only if both refuse it.
func (c *checker) conditional(r *rule, n *jsontree.Node, seen *marks) verdict {
	switch c.tryInPlace(r.logic.when, n, seen) {
	case valid:
		return c.branch(r.logic.then, n, seen)
	case invalid:
		return c.branch(r.logic.otherwise, n, seen)
	}
	seen.doubt()
	c.quiet++
	then, otherwise := c.branch(r.logic.then, n, seen), c.branch(r.logic.otherwise, n, seen)
	c.quiet--
	switch {
	case then == invalid && otherwise == invalid:
		return c.refuse(r, "if", n)
	case then == valid && otherwise == valid:
		return valid
	}
	return unsure
}

func (c *checker) branch(inner *rule, n *jsontree.Node, seen *marks) verdict {
	if inner == nil {
		return valid
	}
	return c.inPlace(inner, n, seen)
}
