package schema

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// object is a JSON object, a parsed schema included.
type object = map[string]any

// parseSchema reads a published schema file.
func parseSchema(tb testing.TB, text []byte) object {
	tb.Helper()
	var o object
	if err := json.Unmarshal(text, &o); err != nil {
		tb.Fatal(err)
	}
	return o
}

// generator makes bodies from the published schema files, and spoils them.
type generator struct {
	*rand.Rand
	wire, host object // their $defs
}

func newGenerator(tb testing.TB, seed uint64) *generator {
	return &generator{
		rand.New(rand.NewPCG(seed, 0)),
		parseSchema(tb, AIWS)["$defs"].(object),
		parseSchema(tb, Host)["$defs"].(object),
	}
}

// command makes a valid command of the given type.
func (g *generator) command(kind string) object {
	defs := g.wire
	if kind == "openContract" || kind == "pinPlan" {
		defs = g.host
	}
	return g.value(defs, defs[kind].(object)).(object)
}

// value makes a value that is valid under s, a schema whose references are to defs.
func (g *generator) value(defs, s object) any {
	if ref, ok := s["$ref"].(string); ok {
		file, name, _ := strings.Cut(ref, "#/$defs/")
		if file != "" {
			defs = g.wire
		}
		return g.value(defs, defs[name].(object))
	}
	if branches, ok := s["oneOf"].([]any); ok {
		return g.value(defs, merge(s, pick(g, branches).(object)))
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if words, ok := s["enum"].([]any); ok {
		return pick(g, words)
	}
	switch s["type"] {
	case "string":
		return g.str(s)
	case "boolean":
		return g.IntN(2) == 0
	case "array":
		return g.array(defs, s)
	case "object":
		return g.object(defs, s)
	}
	return g.any(3)
}

// merge returns s with what a branch of its oneOf adds: narrower properties, none where the branch says false, and more
// required ones.
func merge(s, branch object) object {
	s = maps.Clone(s)
	delete(s, "oneOf")
	properties := maps.Clone(s["properties"].(object))
	for name, p := range branch["properties"].(object) {
		if p == false {
			delete(properties, name)
		} else {
			properties[name] = p
		}
	}
	s["properties"] = properties
	required, _ := branch["required"].([]any)
	s["required"] = slices.Concat(s["required"].([]any), required)
	return s
}

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) str(s object) string {
	switch pattern, _ := s["pattern"].(string); {
	case strings.HasPrefix(pattern, "^(0"):
		return pick(g, []string{"0", "7", "1767225600000", "18446744073709551616", strings.Repeat("9", 100)})
	case pattern != "": // ^[0-9a-f]{n}$
		n, _ := strconv.Atoi(strings.Trim(pattern[strings.Index(pattern, "{"):], "{}$"))
		return strings.Repeat(pick(g, []string{"0", "9", "a", "f"}), n)
	}
	return pick(g, []string{"a", "run-1", "Zoë", "é", "e\u0301", "😀", "\x00", " ", "a.b", "\"\\/\n", "\ufeff", "\u2028",
		strings.Repeat("x", 256), strings.Repeat("é", 256), strings.Repeat("😀", 256)})
}

func (g *generator) array(defs, s object) []any {
	n := g.IntN(4)
	if least, ok := s["minItems"].(float64); ok {
		n += int(least)
	}
	list := []any{}
	for range n {
		v := g.value(defs, s["items"].(object))
		if s["uniqueItems"] == true && slices.Contains(list, v) {
			continue
		}
		list = append(list, v)
	}
	return list
}

func (g *generator) object(defs, s object) object {
	properties, closed := s["properties"].(object)
	if !closed && s["additionalProperties"] == nil {
		return g.free(3)
	}
	o := object{}
	required, _ := s["required"].([]any)
	for name, p := range properties {
		if slices.Contains(required, any(name)) || g.IntN(2) == 0 {
			o[name] = g.value(defs, p.(object))
		}
	}
	if more, ok := s["additionalProperties"].(object); ok {
		for range g.IntN(4) {
			name := g.str(object{})
			if names, ok := s["propertyNames"].(object); ok {
				name = g.value(defs, names).(string)
			}
			o[name] = g.value(defs, more)
		}
	}
	return o
}

// any makes any JSON value, nested at most so deep.
func (g *generator) any(depth int) any {
	switch g.IntN(7) {
	case 0:
		return nil
	case 1:
		return g.IntN(2) == 0
	case 2:
		return json.Number(pick(g, []string{"0", "-0", "1", "-1.50", "1e2", "1E20", "9007199254740991", "1e-7", "123456789012345680000.0"}))
	case 3:
		return g.str(object{})
	case 4:
		list := make([]any, 0)
		for range g.IntN(depth + 1) {
			list = append(list, g.any(depth-1))
		}
		return list
	}
	return g.free(depth)
}

// free makes any JSON object.
func (g *generator) free(depth int) object {
	o := object{}
	for range g.IntN(depth + 1) {
		o[g.str(object{})] = g.any(depth - 1)
	}
	return o
}

// place is where a value stands: it can be replaced there.
type place struct {
	value any
	put   func(any)
}

// places lists every value of a body but the body itself.
func places(v any, found []place) []place {
	switch v := v.(type) {
	case object:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			found = append(found, place{v[name], func(new any) { v[name] = new }})
			found = places(v[name], found)
		}
	case []any:
		for i := range v {
			found = append(found, place{v[i], func(new any) { v[i] = new }})
			found = places(v[i], found)
		}
	}
	return found
}

// spoil changes one thing in a body: it may stay valid or not.
func (g *generator) spoil(body object) {
	all := append(places(body, nil), place{body, func(any) {}})
	p := pick(g, all)
	if g.IntN(8) == 0 {
		p.put(g.any(2))
		return
	}
	switch v := p.value.(type) {
	case object:
		g.spoilObject(v)
	case []any:
		p.put(g.spoilList(v))
	case string:
		p.put(g.spoilString(v))
	case bool:
		p.put(pick(g, []any{nil, 0, 1, "true", "false", !v}))
	default:
		p.put(g.any(2))
	}
}

func (g *generator) spoilObject(o object) {
	if len(o) == 0 || g.IntN(4) == 0 {
		name := pick(g, []string{"extra", "", "type", "Type", "context", "policy", "params", "identity", "admission", "id", "nodeId"})
		o[name] = pick(g, []any{nil, true, "x", object{}, []any{}})
		return
	}
	name := pick(g, slices.Sorted(maps.Keys(o)))
	value := o[name]
	delete(o, name)
	if g.IntN(2) == 0 {
		return // dropped
	}
	renamed := pick(g, []string{strings.ToUpper(name), strings.ToLower(name), name + " ", " " + name, name + "\x00", name + "s", name + `\`})
	if name != "" {
		renamed = pick(g, []string{renamed, name[:len(name)-1]})
	}
	o[renamed] = value
}

func (g *generator) spoilList(list []any) any {
	switch g.IntN(6) {
	case 0:
		return []any{}
	case 1:
		return append(slices.Clone(list), slices.Clone(list)...)
	case 2:
		return append(slices.Clone(list), g.any(1))
	case 3: // about as many as may be
		long := []any{}
		for i := range 999 + g.IntN(3) {
			var item any = "item-" + strconv.Itoa(i)
			if len(list) > 0 {
				if o, ok := list[0].(object); ok {
					item = o
				}
			}
			long = append(long, item)
		}
		return long
	case 4:
		return object{"0": list}
	}
	return slices.Insert(slices.Clone(list), g.IntN(len(list)+1), any("x"))
}

func (g *generator) spoilString(s string) any {
	n := pick(g, []int{0, 1, 15, 16, 17, 31, 32, 33, 99, 100, 101, 255, 256, 257})
	switch g.IntN(6) {
	case 0:
		return strings.Repeat(pick(g, []string{"a", "é", "😀", "e\u0301", "\x00", "\n"}), n)
	case 1:
		return strings.Repeat(pick(g, []string{"1", "9", "0", "f", "F", "g", "１"}), n)
	case 2:
		return pick(g, []string{"00", "01", "-1", "+1", "1.0", "1e3", " 1", "1 ", "1\n", "\n1", "٣", "0x1", "1\x00", ""})
	case 3:
		return pick(g, []string{s + "\n", s + " ", " " + s, s + "\r\n", s + "\u2028", strings.ToLower(s), strings.ToUpper(s), s + s, "\ufeff" + s})
	case 4:
		return pick(g, []any{nil, true, 5, 0.5, object{}, []any{}, []any{s}})
	}
	return pick(g, append(slices.Clone(CommandTypes), Forms...))
}

// text writes a body as JSON: its members in any order, with spaces and escapes here and there.
func (g *generator) text(v any) []byte {
	var b bytes.Buffer
	g.write(&b, v)
	return b.Bytes()
}

func (g *generator) write(b *bytes.Buffer, v any) {
	space := func() { b.WriteString([]string{"", "", "", "", " ", "\n\t", "\r"}[g.IntN(7)]) }
	space()
	switch v := v.(type) {
	case object:
		b.WriteByte('{')
		names := slices.Sorted(maps.Keys(v))
		g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for i, name := range names {
			if i > 0 {
				b.WriteByte(',')
			}
			space()
			g.writeString(b, name)
			space()
			b.WriteByte(':')
			g.write(b, v[name])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			g.write(b, e)
		}
		b.WriteByte(']')
	case string:
		g.writeString(b, v)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		b.Write(text)
	}
	space()
}

func (g *generator) writeString(b *bytes.Buffer, s string) {
	often := g.IntN(10) == 0
	b.WriteByte('"')
	for _, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && !(often && g.IntN(3) == 0) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			b.WriteString(`\u`)
			hex := "000" + strconv.FormatUint(uint64(unit), 16)
			b.WriteString(pick(g, []string{hex[len(hex)-4:], strings.ToUpper(hex[len(hex)-4:])}))
		}
	}
	b.WriteByte('"')
}
