package nodeschema

import (
	"fmt"
	"strconv"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// The limits of one validation.
const (
	MaxWork        = 500_000   // JSON values in the schema times bytes of the instance
	MaxPatternWork = 5_000_000 // instructions of the patterns times bytes of the instance
)

// TooLarge is the reason of a Failure that is about the limits: nothing was validated.
const TooLarge = "too-large"

// Failure says why a schema refuses an instance. Pointer is a place in the instance. Reason is TooLarge or "".
type Failure struct{ Pointer, Reason, Message string }

// Error gives place and message on one line.
func (f *Failure) Error() string {
	if f.Pointer == "" {
		return f.Message
	}
	return "at " + f.Pointer + ": " + f.Message
}

// Check returns why the schema refuses the instance, or nil: it is valid. The failure is the first one in a fixed order.
func (s *Schema) Check(instance schema.Value) *Failure {
	if f := s.tooLarge(instance, ""); f != nil {
		return f
	}
	var c checker
	return c.run(s, jsontree.Parse(instance, ""))
}

// CheckPartly is Check for an array or object of which some elements or members are not known yet: those for which unknown
// says so. It returns a failure only if the schema refuses the instance whatever they will be.
func (s *Schema) CheckPartly(instance *jsontree.Node, unknown func(kid *jsontree.Node) bool) *Failure {
	if f := s.tooLarge(instance.Text, instance.Pointer()); f != nil {
		return f
	}
	c := checker{unknown: map[*jsontree.Node]bool{}}
	for _, kid := range instance.Kids {
		if unknown(kid) {
			c.unknown[kid], c.around = true, instance
		}
	}
	return c.run(s, instance)
}

// Work estimates what validating an instance of so many bytes takes, in the unit of MaxWork: values times bytes.
func (s *Schema) Work(bytes int) int { return s.values*bytes + s.steps*bytes/(MaxPatternWork/MaxWork) }

// BuildWork estimates in the same unit what compiling the schema took.
func (s *Schema) BuildWork() int { return len(s.root.at.Text) + 12*s.steps }

func (s *Schema) tooLarge(instance schema.Value, pointer string) *Failure {
	var what string
	switch bytes := len(instance); {
	case s.values*bytes > MaxWork:
		what = fmt.Sprintf("%d values times %d bytes exceed %d", s.values, bytes, MaxWork)
	case s.steps*bytes > MaxPatternWork:
		what = fmt.Sprintf("%d pattern instructions times %d bytes exceed %d", s.steps, bytes, MaxPatternWork)
	default:
		return nil
	}
	return &Failure{pointer, TooLarge, "too large to validate: schema and instance have " + what}
}

// verdict is what a schema says of a value. unsure comes only of unknown members.
type verdict uint8

const (
	invalid verdict = iota
	unsure
	valid
)

// checker applies the rules of one schema to one instance.
type checker struct {
	unknown map[*jsontree.Node]bool // elements or members of which nothing is known
	around  *jsontree.Node          // the array or object that holds them
	quiet   int                     // over 0 while a refusal need not refuse the instance
	failure *Failure                // the first refusal that does
}

func (c *checker) run(s *Schema, instance *jsontree.Node) *Failure {
	if c.apply(s.root, instance, nil) == invalid {
		return c.failure
	}
	return nil
}

// refuse notes the failure and is the verdict.
func (c *checker) refuse(r *rule, keyword string, n *jsontree.Node) verdict {
	if c.quiet == 0 && c.failure == nil {
		place := r.at.Pointer()
		if keyword != "" {
			place += "/" + keyword
		}
		c.failure = &Failure{Pointer: n.Pointer(), Message: "refused by its schema at " + strconv.Quote(place)}
	}
	return invalid
}

// try applies a rule that the value need not satisfy.
func (c *checker) try(r *rule, n *jsontree.Node) verdict {
	c.quiet++
	result := c.apply(r, n, nil)
	c.quiet--
	return result
}

// apply applies a rule to a value. Into seen, if it is not nil, go the members or elements that the rule evaluates.
func (c *checker) apply(r *rule, n *jsontree.Node, seen *marks) verdict {
	switch {
	case r.empty:
		return valid
	case r.never:
		return c.refuse(r, "", n)
	case c.unknown[n]:
		return unsure
	case r.types != 0 && r.types&typesOf(n) == 0:
		return c.refuse(r, "type", n)
	}
	if seen == nil && (r.unevaluatedItems != nil || r.unevaluatedProperties != nil) {
		seen = newMarks(n)
	}
	result := c.equal(r, n)
	if result != invalid {
		result = min(result, c.byKind(r, n, seen))
	}
	if r.logic != nil && result != invalid {
		result = min(result, c.logic(r, n, seen))
	}
	if r.unevaluatedItems != nil && n.Kind() == '[' && result != invalid {
		result = min(result, c.unevaluated(r.unevaluatedItems, n, seen))
	}
	if r.unevaluatedProperties != nil && n.Kind() == '{' && result != invalid {
		result = min(result, c.unevaluated(r.unevaluatedProperties, n, seen))
	}
	return result
}

// equal compares with const and enum: two values are equal if their canonical texts are.
func (c *checker) equal(r *rule, n *jsontree.Node) verdict {
	switch {
	case r.constant == "" && r.enum == nil:
		return valid
	case n == c.around:
		return unsure
	case r.constant != "" && r.constant != n.Text:
		return c.refuse(r, "const", n)
	case r.enum != nil && !r.enum[n.Text]:
		return c.refuse(r, "enum", n)
	}
	return valid
}

// byKind applies the keywords that are about the value's own kind.
func (c *checker) byKind(r *rule, n *jsontree.Node, seen *marks) verdict {
	var keyword string
	switch kind := n.Kind(); {
	case kind == '{' && r.object != nil:
		return c.object(r, n, seen)
	case kind == '[' && r.array != nil:
		return c.array(r, n, seen)
	case kind == '"' && r.text != nil:
		chars, _ := n.Str()
		keyword = r.text.outside(chars)
	case kind == '0' && r.number != nil:
		keyword = r.number.outside(parseDecimal(string(n.Text)))
	}
	if keyword != "" {
		return c.refuse(r, keyword, n)
	}
	return valid
}
