package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// reader checks values one after the other, under one reason, and keeps the first fault. After it every method does nothing,
// so that a rule reads as the list of what it wants. A nil node is a missing member.
type reader struct {
	reason string
	fault  *Fault
}

// fail notes that what stands at n is wrong, unless something was wrong before.
func (r *reader) fail(n *jsontree.Node, format string, args ...any) {
	if r.fault != nil {
		return
	}
	pointer, name := "", "it"
	if n != nil {
		pointer = n.Pointer()
		name = cmp.Or(n.Name, name)
	}
	r.fault = &Fault{r.reason, pointer, name + " " + fmt.Sprintf(format, args...)}
}

// want fails unless ok holds.
func (r *reader) want(n *jsontree.Node, ok bool, what string) bool {
	if !ok {
		r.fail(n, "is not %s", what)
	}
	return ok && r.fault == nil
}

func (r *reader) object(n *jsontree.Node) bool { return r.want(n, n.Kind() == '{', "an object") }
func (r *reader) array(n *jsontree.Node) bool  { return r.want(n, n.Kind() == '[', "an array") }
func (r *reader) flag(n *jsontree.Node)        { r.want(n, n.Kind() == 't' || n.Kind() == 'f', "a boolean") }

// keys wants an object with the required members, looked for in the order given, and no others but optional ones.
func (r *reader) keys(n *jsontree.Node, required, optional []string) bool {
	if !r.object(n) {
		return false
	}
	for _, name := range required {
		if !r.has(n, name) {
			return false
		}
	}
	for _, kid := range n.Kids {
		if !slices.Contains(required, kid.Name) && !slices.Contains(optional, kid.Name) {
			r.fail(kid, "is no member that is known here")
			return false
		}
	}
	return true
}

// has wants an object with a member of that name.
func (r *reader) has(n *jsontree.Node, name string) bool {
	if r.object(n) && n.Get(name) == nil {
		r.fail(n, "has no member %q", name)
	}
	return r.fault == nil
}

// text wants a string that is not empty, and returns it.
func (r *reader) text(n *jsontree.Node) string {
	chars, ok := n.Str()
	r.want(n, ok && chars != "", "a non-empty string")
	return chars
}

// optionalText wants a string, if n is there.
func (r *reader) optionalText(n *jsontree.Node) {
	if n != nil {
		r.want(n, n.Kind() == '"', "a string")
	}
}

// word wants one of the words.
func (r *reader) word(n *jsontree.Node, words ...string) string {
	chars, ok := n.Str()
	r.want(n, ok && slices.Contains(words, chars), strings.Join(words, " or "))
	return chars
}

// texts wants an array of strings, which may be empty, and returns them.
func (r *reader) texts(n *jsontree.Node) []string {
	if !r.array(n) {
		return nil
	}
	all := make([]string, len(n.Kids))
	for i, kid := range n.Kids {
		chars, ok := kid.Str()
		if !r.want(kid, ok, "a string") {
			return nil
		}
		all[i] = chars
	}
	return all
}

// whole wants a number without fraction, however it is written, of at least 0 or, where positive, 1. It has no upper bound.
func (r *reader) whole(n *jsontree.Node, positive bool) {
	least, ok := "0", isWhole(n) && n.Text[0] != '-'
	if positive {
		least, ok = "1", ok && n.Text != "0"
	}
	r.want(n, ok, "a whole number of at least "+least)
}

// optionalWhole is whole, if n is there.
func (r *reader) optionalWhole(n *jsontree.Node, positive bool) {
	if n != nil {
		r.whole(n, positive)
	}
}

// isWhole: canonical JSON writes a fraction or a negative exponent for the others. It writes a positive exponent from 1e21
// on, where every float64 is whole.
func isWhole(n *jsontree.Node) bool {
	return n.Kind() == '0' && (strings.Contains(string(n.Text), "e+") || !strings.ContainsAny(string(n.Text), ".e"))
}
