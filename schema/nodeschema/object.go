package nodeschema

import (
	"regexp"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// objectRule holds the keywords about objects.
type objectRule struct {
	maximum, minimum  *int
	required          []string
	dependentRequired []dependency
	properties        map[string]*rule
	patterns          []patternRule
	additional        *rule
	names             *rule
	dependentSchemas  []dependency
}

// dependency is what an object needs that has the member name: more members, or to satisfy a schema.
type dependency struct {
	name     string
	required []string
	schema   *rule
}

type patternRule struct {
	pattern *regexp.Regexp
	rule    *rule
}

func compileRequired(_ *compiler, r *rule, n *jsontree.Node) error {
	required, err := names(n)
	r.objects().required = required
	return want(n, err == nil, "an array of unique strings")
}

func compileDependentRequired(_ *compiler, r *rule, n *jsontree.Node) error {
	if err := want(n, n.Kind() == '{', "an object of arrays of unique strings"); err != nil {
		return err
	}
	for _, kid := range n.Kids {
		required, err := names(kid)
		if err != nil {
			return wrong(kid, "dependentRequired: %v", err)
		}
		r.objects().dependentRequired = append(r.objects().dependentRequired, dependency{name: kid.Name, required: required})
	}
	return nil
}

func compileProperties(c *compiler, r *rule, n *jsontree.Node) error {
	o := r.objects()
	o.properties = make(map[string]*rule, len(n.Kids))
	return c.named(n, func(name *jsontree.Node, inner *rule) error {
		o.properties[name.Name] = inner
		return nil
	})
}

func compilePatternProperties(c *compiler, r *rule, n *jsontree.Node) error {
	return c.named(n, func(name *jsontree.Node, inner *rule) error {
		pattern, err := c.pattern(name, name.Name)
		r.objects().patterns = append(r.objects().patterns, patternRule{pattern, inner})
		return err
	})
}

func compileDependentSchemas(c *compiler, r *rule, n *jsontree.Node) error {
	return c.named(n, func(name *jsontree.Node, inner *rule) error {
		r.objects().dependentSchemas = append(r.objects().dependentSchemas, dependency{name: name.Name, schema: inner})
		return nil
	})
}

func (c *checker) object(r *rule, n *jsontree.Node, seen *marks) verdict {
	if keyword := r.object.outside(n); keyword != "" {
		return c.refuse(r, keyword, n)
	}
	result := valid
	for i, kid := range n.Kids {
		if result = min(result, c.member(r, i, kid, seen)); result == invalid {
			return invalid
		}
	}
	for _, d := range r.object.dependentSchemas {
		if n.Get(d.name) == nil {
			continue
		}
		if result = min(result, c.inPlace(d.schema, n, seen)); result == invalid {
			return invalid
		}
	}
	return result
}

// outside names the keyword that refuses an object for the names and the number of its members, or "".
func (r *objectRule) outside(n *jsontree.Node) string {
	switch {
	case r.maximum != nil && len(n.Kids) > *r.maximum:
		return "maxProperties"
	case r.minimum != nil && len(n.Kids) < *r.minimum:
		return "minProperties"
	case !hasAll(n, r.required):
		return "required"
	}
	for _, d := range r.dependentRequired {
		if n.Get(d.name) != nil && !hasAll(n, d.required) {
			return "dependentRequired"
		}
	}
	return ""
}

func hasAll(n *jsontree.Node, names []string) bool {
	for _, name := range names {
		if n.Get(name) == nil {
			return false
		}
	}
	return true
}

// member applies to one member its property, every pattern that its name matches, or what is for additional ones.
func (c *checker) member(r *rule, i int, kid *jsontree.Node, seen *marks) verdict {
	o, result, matched := r.object, valid, false
	check := func(inner *rule) {
		matched = true
		if result != invalid {
			result = min(result, c.apply(inner, kid, nil))
		}
	}
	if inner := o.properties[kid.Name]; inner != nil {
		check(inner)
	}
	for _, p := range o.patterns {
		if p.pattern.MatchString(kid.Name) {
			check(p.rule)
		}
	}
	if !matched && o.additional != nil {
		check(o.additional)
	}
	if matched {
		seen.add(i)
	}
	if o.names == nil || result == invalid {
		return result
	}
	return min(result, c.name(r, kid))
}

// name applies propertyNames to the name of a member. Names are always known.
func (c *checker) name(r *rule, kid *jsontree.Node) verdict {
	name := jsontree.Parse(schema.Value(schema.AppendString(nil, kid.Name)), "")
	if c.try(r.object.names, name) == invalid {
		return c.refuse(r, "propertyNames", kid)
	}
	return valid
}
