package jsontree_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

func parse(t testing.TB, text string) *jsontree.Node {
	t.Helper()
	v, err := schema.ParseValue([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return jsontree.Parse(v, "")
}

func TestNode(t *testing.T) {
	root := parse(t, `{"b": [1, {"x/y~z": null}, "a\"\n😀"], "a": {}, "": false}`)
	for _, c := range []struct {
		pointer string
		text    schema.Value
		count   int
		depth   int
		levels  int
	}{
		{"", `{"":false,"a":{},"b":[1,{"x/y~z":null},"a\"\n😀"]}`, 8, 3, 3},
		{"/", "false", 1, 0, 0},
		{"/a", "{}", 1, 1, 0},
		{"/b", `[1,{"x/y~z":null},"a\"\n😀"]`, 5, 2, 2},
		{"/b/0", "1", 1, 0, 0},
		{"/b/1", `{"x/y~z":null}`, 2, 1, 1},
		{"/b/1/x~1y~0z", "null", 1, 0, 0},
		{"/b/2", `"a\"\n😀"`, 1, 0, 0},
	} {
		n := find(root, c.pointer)
		if n == nil {
			t.Errorf("no node at %q", c.pointer)
			continue
		}
		if diff := cmp.Diff([]any{c.text, c.count, c.depth, c.levels}, []any{n.Text, n.Count(), n.Depth(), n.Levels()}); diff != "" {
			t.Errorf("%s:\n%s", c.pointer, diff)
		}
	}
	if chars, ok := find(root, "/b/2").Str(); !ok || chars != "a\"\n😀" {
		t.Errorf("Str = %q, %v", chars, ok)
	}
	if chars, ok := root.Get("c").Str(); ok || chars != "" {
		t.Error("a missing member is a string")
	}
	if root.Get("c") != nil || root.Get("b").Get("0") != nil || root.Get("c").Kind() != 0 {
		t.Error("Get finds what is not there")
	}
}

func find(n *jsontree.Node, pointer string) *jsontree.Node {
	if n.Pointer() == pointer {
		return n
	}
	for _, kid := range n.Kids {
		if hit := find(kid, pointer); hit != nil {
			return hit
		}
	}
	return nil
}

func TestBase(t *testing.T) {
	n := jsontree.Parse(`{"a":[0]}`, "/admission")
	if got := n.Get("a").Kids[0].Pointer(); got != "/admission/a/0" {
		t.Error(got)
	}
}

func TestShorten(t *testing.T) {
	long := strings.Repeat("x", 3000)
	n := parse(t, `{"a":{"`+long+`":[[7]]}}`).Get("a")
	if got := n.Kids[0].Kids[0].Kids[0].Pointer(); got != "/a" {
		t.Error(got)
	}
	for _, c := range []struct{ length, want int }{{2047, 2048}, {2048, 0}} {
		if got := jsontree.Shorten("/" + strings.Repeat("y", c.length)); len(got) != c.want {
			t.Errorf("a name of %d: %d bytes", c.length, len(got))
		}
	}
}

// TestCompare: the order is that of the UTF-16 code units.
func TestCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune{'a', 'b', 0, 'é', 0xD7FF, 0xE000, 0xFFEE, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF}))
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := jsontree.Compare(a, b); (got < 0) != (want < 0) || (got > 0) != (want > 0) {
			t.Errorf("Compare(%q, %q) = %d, want %d", a, b, got, want)
		}
	})
}

// TestTree: a tree says the same of a value as schema.Value does.
func TestTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := schema.Value(drawJSON(t, 4))
		text, err := schema.CanonicalStored([]byte(v))
		if err != nil {
			t.Fatal(err)
		}
		compare(t, schema.Value(text), jsontree.Parse(schema.Value(text), ""))
	})
}

func compare(t *rapid.T, v schema.Value, n *jsontree.Node) {
	if n.Text != v || n.Kind() != v.Kind() {
		t.Fatalf("%s is %s", v, n.Text)
	}
	wantChars, wantOK := v.Str()
	if chars, ok := n.Str(); chars != wantChars || ok != wantOK {
		t.Fatalf("%s: Str = %q, %v", v, chars, ok)
	}
	i := 0
	for name, member := range v.Members() {
		if n.Kids[i].Name != name || n.Get(name) != n.Kids[i] {
			t.Fatalf("%s: member %d is %q", v, i, n.Kids[i].Name)
		}
		compare(t, member, n.Kids[i])
		i++
	}
	for element := range v.Elements() {
		compare(t, element, n.Kids[i])
		i++
	}
	if i != len(n.Kids) {
		t.Fatalf("%s has %d kids", v, len(n.Kids))
	}
}

func drawJSON(t *rapid.T, depth int) string {
	str := func() string {
		return string(schema.AppendString(nil, rapid.StringOf(rapid.RuneFrom([]rune("a,:]}[{\"\\\n😀"))).Draw(t, "string")))
	}
	kinds := []string{"null", "true", "-1.5e-9", "12", "string", "array", "object"}
	if depth == 0 {
		kinds = kinds[:5]
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "string":
		return str()
	case "array":
		text := ""
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			text += "," + drawJSON(t, depth-1)
		}
		return "[" + text[min(1, len(text)):] + "]"
	case "object":
		text, seen := "", map[string]bool{}
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			if name := str(); !seen[name] {
				seen[name] = true
				text += "," + name + ":" + drawJSON(t, depth-1)
			}
		}
		return "{" + text[min(1, len(text)):] + "}"
	default:
		return kind
	}
}
