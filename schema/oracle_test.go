package schema

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// oracle is a JSON Schema validator over the published schema files.
type oracle struct{ wire, host *jsonschema.Schema }

func newOracle(tb testing.TB) oracle {
	return oracle{compile(tb, "urn:aiws:wire:0.4"), compile(tb, "urn:aiws-reducer:host:1")}
}

func compile(tb testing.TB, urn string) *jsonschema.Schema {
	tb.Helper()
	c := jsonschema.NewCompiler()
	for id, text := range map[string][]byte{"urn:aiws:wire:0.4": AIWS, "urn:aiws-reducer:host:1": Host} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			tb.Fatal(err)
		}
		if err := c.AddResource(id, doc); err != nil {
			tb.Fatal(err)
		}
	}
	s, err := c.Compile(urn)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// accepts reports whether a text that is valid JSON is a command.
func (o oracle) accepts(tb testing.TB, body []byte) bool {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		tb.Fatalf("the oracle cannot read %.300q: %v", body, err)
	}
	return o.wire.Validate(v) == nil || o.host.Validate(v) == nil
}

// checkDecode compares Decode with the oracle, and says whether it accepts the body.
func checkDecode(tb testing.TB, o oracle, body []byte) bool {
	tb.Helper()
	c, f := Decode(body)
	valid := naiveJSON(body)
	switch {
	case f == nil && !valid, valid && f != nil && f.Code != CodeSchemaInvalid, !valid && f.Code != CodeJSONInvalid:
		tb.Fatalf("Decode(%.300q) = %v, and the naive parser says valid JSON: %v", body, f, valid)
	case !valid:
		return false
	case o.accepts(tb, body) != (f == nil):
		tb.Fatalf("Decode(%.2000q) = %v, and the schema says otherwise", body, f)
	case f != nil:
		checkFault(tb, f, body)
		return false
	}
	canonical, err := Canonical(body)
	if err != nil {
		tb.Fatal(err)
	}
	out := AppendRecord(nil, c)
	if !bytes.Equal(out, canonical) {
		tb.Fatalf("Decode and AppendRecord give\n%s, want\n%s", out, canonical)
	}
	again := newCommand(c.Type())
	if err := DecodeRecord(out, again); err != nil || !reflect.DeepEqual(c, again) {
		tb.Fatalf("decoding %.300q again gives %v, %+v, want %+v", out, err, again, c)
	}
	return true
}

// checkFault: the parent of the failing place is there, and the message says something.
func checkFault(tb testing.TB, f *Fault, body []byte) {
	tb.Helper()
	v, err := ParseValue(body)
	if err != nil || f.Message == "" {
		tb.Fatalf("%+v, %v", f, err)
	}
	pointer := jsontext.Pointer(f.Pointer)
	if !pointer.IsValid() {
		tb.Fatalf("%v: no RFC 6901 pointer", f)
	}
	for token := range pointer.Parent().Tokens() {
		if v.Kind() == '[' {
			v = element(v, token)
		} else {
			v, _ = v.Member(token)
		}
		if v == "" {
			tb.Fatalf("%v: no such place in %.300q", f, body)
		}
	}
	if name := pointer.LastToken(); pointer.Parent() == "" && isPrintable(name) && !strings.Contains(f.Message, name) {
		tb.Fatalf("%v: the message does not name the member", f)
	}
}

func isPrintable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

func element(v Value, token string) Value {
	i := 0
	for e := range v.Elements() {
		if DecimalOf(uint64(i)).String() == token {
			return e
		}
		i++
	}
	return ""
}

// TestDecodeAgreesWithSchema: over generated bodies of every command, whole and spoiled, Decode accepts what the schema
// accepts.
func TestDecodeAgreesWithSchema(t *testing.T) {
	o := newOracle(t)
	rounds := 80
	if testing.Short() {
		rounds = 15
	}
	for i, kind := range CommandTypes {
		t.Run(kind, func(t *testing.T) {
			g := newGenerator(t, uint64(i))
			refused := 0
			for range rounds {
				if body := g.text(g.command(kind)); !checkDecode(t, o, body) {
					_, f := Decode(body)
					t.Fatalf("%v: the generator made an invalid body: %.600q", f, body)
				}
				for range 5 {
					c := g.command(kind)
					for range 1 + g.IntN(2) {
						g.spoil(c)
					}
					if !checkDecode(t, o, g.text(c)) {
						refused++
					}
				}
			}
			if refused < rounds {
				t.Errorf("only %d of %d spoiled bodies were refused: does spoil still spoil?", refused, 5*rounds)
			}
		})
	}
}

// FuzzDecode makes the same comparison for any bytes.
func FuzzDecode(f *testing.F) {
	o := newOracle(f)
	g := newGenerator(f, 99)
	f.Add([]byte(admitBody))
	for _, kind := range CommandTypes {
		f.Add(g.text(g.command(kind)))
		c := g.command(kind)
		g.spoil(c)
		f.Add(g.text(c))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkDecode(t, o, body) })
}
