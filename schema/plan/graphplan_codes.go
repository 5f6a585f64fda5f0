package plan

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// codes checks values one after the other and keeps the first fault, as reader does, but each kind of check has its own
// reason. A nil node is a missing member.
type codes struct{ fault *Fault }

func (c *codes) fail(code string, at *jsontree.Node, format string, args ...any) {
	if c.fault == nil {
		c.fault = &Fault{code, at.Pointer(), fmt.Sprintf(format, args...)}
	}
}

func (c *codes) object(n *jsontree.Node) bool {
	if n.Kind() != '{' {
		c.fail(invalidShape, n, "must be an object")
	}
	return c.fault == nil
}

func (c *codes) array(n *jsontree.Node) bool {
	if n.Kind() != '[' {
		c.fail(invalidShape, n, "must be an array")
	}
	return c.fault == nil
}

// fields wants an object with all these members; the first that is missing counts.
func (c *codes) fields(n *jsontree.Node, names ...string) bool {
	if !c.object(n) {
		return false
	}
	for _, name := range names {
		if n.Get(name) == nil {
			c.fault = &Fault{missingField, n.Pointer() + "/" + jsontree.Token(name), "is required"}
			return false
		}
	}
	return true
}

// objects wants an array of objects with all these members.
func (c *codes) objects(n *jsontree.Node, names ...string) {
	if !c.array(n) {
		return
	}
	for _, kid := range n.Kids {
		c.fields(kid, names...)
	}
}

// text wants a string that is more than blanks and has no controls. A fault is at the given node, which need not be n.
func (c *codes) text(n, at *jsontree.Node) string {
	chars, ok := n.Str()
	if !ok || jsTrim(chars) == "" || hasControl(chars) {
		c.fail(invalidText, at, "must be a string that is not blank and has no control characters")
	}
	return chars
}

// id is text that begins and ends with no blank.
func (c *codes) id(n *jsontree.Node) {
	chars, ok := n.Str()
	if !ok || chars == "" || jsTrim(chars) != chars || hasControl(chars) {
		c.fail(invalidID, n, "must be a non-empty string without outer blanks and control characters")
	}
}

func (c *codes) version(n *jsontree.Node) {
	if version, ok := n.Text.Int(); !ok || version < 1 {
		c.fail(invalidVersion, n, "must be a whole number of at least 1")
	}
}

func (c *codes) digest(n *jsontree.Node) {
	if chars, ok := n.Str(); !ok || !isDigest(chars) {
		c.fail(invalidDigest, n, "must be sha256: and 64 lower-case hexadecimal digits")
	}
}

// unique wants texts that differ: of each of nodes its member of that name or, without a name, itself. Faults are at the node.
func (c *codes) unique(nodes []*jsontree.Node, name string) {
	seen := make(map[string]bool, len(nodes))
	for _, n := range nodes {
		value := n
		if name != "" {
			value = n.Get(name)
		}
		chars := c.text(value, n)
		if seen[chars] {
			c.fail(duplicateID, n, "repeats %q", chars)
		}
		seen[chars] = true
	}
}

// target wants an execution target.
func (c *codes) target(n *jsontree.Node) {
	if !c.fields(n, "adapter", "provider", "modelFamily", "model", "tools") {
		return
	}
	for _, name := range []string{"adapter", "provider", "modelFamily", "model"} {
		c.text(n.Get(name), n.Get(name))
	}
	if tools := n.Get("tools"); c.array(tools) {
		c.unique(tools.Kids, "")
	}
}

func (c *codes) permission(n *jsontree.Node) {
	if c.fields(n, "name", "scope") {
		c.text(n.Get("name"), n.Get("name"))
	}
}

func (c *codes) bound(n *jsontree.Node) {
	if !c.fields(n, "kind") {
		return
	}
	switch kind := n.Get("kind"); kind.Text {
	case `"known"`:
		if !c.fields(n, "value") {
			return
		}
		if value, ok := n.Get("value").Text.Int(); !ok || value < 0 {
			c.fail(invalidBound, n.Get("value"), "must be a whole number of at least 0")
		}
	case `"unknown"`:
		if c.fields(n, "reason") {
			c.text(n.Get("reason"), n.Get("reason"))
		}
	default:
		c.fail(invalidBound, kind, "must be known or unknown")
	}
}

func (c *codes) pack(n *jsontree.Node) {
	if !c.fields(n, "source", "version", "digest") {
		return
	}
	c.text(n.Get("source"), n.Get("source"))
	c.text(n.Get("version"), n.Get("version"))
	c.digest(n.Get("digest"))
}
