// Package jsontree opens a canonical JSON value as a tree. Reading a document of many rules through schema.Value would scan
// its text once a rule; a tree is built in one pass, finds a member without a scan, and knows where each value stands.
//
// It is pure, and a tree is never changed once it is built.
package jsontree

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Node is one JSON value and its place.
type Node struct {
	Text schema.Value // its canonical JSON
	Name string       // of a member, "" of an element; of the root, the pointer at which the tree starts
	Kids []*Node      // the elements, or the members in canonical order

	parent *Node
	index  int    // among its parent's elements
	chars  string // of a string
}

// Parse opens v. The pointer of the root is base: "", or what leads to v in a larger document.
func Parse(v schema.Value, base string) *Node {
	p := parser{text: v}
	root := p.value()
	root.Name = base
	return root
}

// Kind returns the kind as schema.Value does; the kind of a nil node is 0.
func (n *Node) Kind() byte {
	if n == nil {
		return 0
	}
	return n.Text.Kind()
}

// Str returns the characters of a string.
func (n *Node) Str() (string, bool) {
	if n.Kind() != '"' {
		return "", false
	}
	return n.chars, true
}

// Get returns the member of an object by its name, or nil.
func (n *Node) Get(name string) *Node {
	if n.Kind() != '{' {
		return nil
	}
	at, found := slices.BinarySearchFunc(n.Kids, name, func(kid *Node, name string) int { return Compare(kid.Name, name) })
	if !found {
		return nil
	}
	return n.Kids[at]
}

// Count returns how many JSON values n is: itself and all inside it.
func (n *Node) Count() int {
	count := 1
	for _, kid := range n.Kids {
		count += kid.Count()
	}
	return count
}

// Depth returns how deep n is nested: 0 for a scalar, 1 for an array or object that holds only scalars or nothing.
func (n *Node) Depth() int {
	if n.Kind() != '{' && n.Kind() != '[' {
		return 0
	}
	deepest := 0
	for _, kid := range n.Kids {
		deepest = max(deepest, kid.Depth())
	}
	return deepest + 1
}

// Levels returns how many levels of values there are inside n: 0 for a scalar and for an empty array or object.
func (n *Node) Levels() int {
	levels := 0
	for _, kid := range n.Kids {
		levels = max(levels, kid.Levels()+1)
	}
	return levels
}

// MaxPointer is how many bytes the pointers of this package have at most. Names can be as long as a document, and pointers go
// into messages and records.
const MaxPointer = 2048

// Shorten returns pointer, or the longest pointer to something around it that is not too long.
func Shorten(pointer string) string {
	if len(pointer) <= MaxPointer {
		return pointer
	}
	return pointer[:strings.LastIndexByte(pointer[:MaxPointer+1], '/')]
}

// Pointer returns the RFC 6901 pointer of n, shortened if it must be.
func (n *Node) Pointer() string {
	var places []*Node
	for ; n.parent != nil; n = n.parent {
		places = append(places, n)
	}
	pointer := []byte(n.Name)
	for _, place := range slices.Backward(places) {
		pointer = append(pointer, '/')
		if place.parent.Kind() == '[' {
			pointer = strconv.AppendInt(pointer, int64(place.index), 10)
			continue
		}
		pointer = append(pointer, Token(place.Name)...)
	}
	return Shorten(string(pointer))
}

var tokens = strings.NewReplacer("~", "~0", "/", "~1")

// Token returns a member name as it stands in a pointer.
func Token(name string) string { return tokens.Replace(name) }

// Compare orders strings by their UTF-16 code units, as RFC 8785 orders members and ECMAScript sorts strings. Of valid UTF-8
// only one pair of ranges sorts otherwise than by bytes: U+E000 to U+FFFF, which begin with EE or EF, come after everything
// beyond U+FFFF.
func Compare(a, b string) int {
	for i := range min(len(a), len(b)) {
		c, d := a[i], b[i]
		if c == d {
			continue
		}
		if c >= 0xEE && d >= 0xEE && (c >= 0xF0) != (d >= 0xF0) {
			c, d = d, c
		}
		if c < d {
			return -1
		}
		return 1
	}
	return len(a) - len(b)
}
