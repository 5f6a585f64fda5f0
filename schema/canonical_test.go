package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

func nest(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// TestCanonicalRefuses has a text for every cause of JSON_INVALID that RULES 2.1 names.
func TestCanonicalRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, pointer string }{
		{"not UTF-8", "{\"a\":\"\xff\"}", "/a"},
		{"not UTF-8: a surrogate", "\"\xed\xa0\x80\"", ""},
		{"byte-order mark", "\ufeff{}", ""},
		{"nothing", "", ""},
		{"only white space", " \n", ""},
		{"other white space", "\u00a0{}", ""},
		{"no value", ":", ""},
		{"cut short", `{"a":`, "/a"},
		{"two values", "{} {}", ""},
		{"trailing data", "{}x", ""},
		{"trailing comma", "[1,]", ""},
		{"comment", "{}//", ""},
		{"control in a string", "\"\n\"", ""},
		{"duplicate names", `{"x":{"a":1,"b":2,"a":3}}`, "/x/a"},
		{"duplicate names, escaped", `{"a":1,"\u0061":3}`, "/a"},
		{"nested 513 deep", nest(513), strings.Repeat("/0", 512)},
		{"nested 20000 deep", nest(20000), strings.Repeat("/0", 512)},
		{"lone high surrogate", `["\ud800"]`, "/0"},
		{"lone low surrogate", `["\udc00"]`, "/0"},
		{"surrogates in the wrong order", `["\udc00\ud800"]`, "/0"},
		{"high surrogate and a letter", `["\ud800\u0041"]`, "/0"},
		{"lone surrogate in a name", `{"\ud800":1}`, ""},
		{"no finite float64", `[0,1e999]`, "/1"},
		{"no finite float64, negative", `-1e999`, ""},
		{"no finite float64, long", "1" + strings.Repeat("0", 400), ""},
		{"becomes zero", `{"a/b":[2e-400]}`, "/a~1b/0"},
		{"becomes zero, negative", "-0.1e-500", ""},
		{"beyond 2^53-1", "9007199254740992", ""},
		{"beyond -(2^53-1)", "-9007199254740992", ""},
		{"far beyond 2^53-1", "123456789012345680000", ""},
		{"leading zero", "01", ""},
		{"plus", "+1", ""},
		{"no digits after the point", "1.", ""},
		{"no number", "NaN", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Canonical([]byte(c.text))
			if f, ok := errors.AsType[*Fault](err); !ok || f.Code != CodeJSONInvalid || f.Pointer != c.pointer {
				t.Errorf("Canonical(%.60q) = %v, want JSON_INVALID at %q", c.text, err, c.pointer)
			}
			if _, f := Decode([]byte(c.text)); f == nil || f.Code != CodeJSONInvalid {
				t.Errorf("Decode(%.60q) = %v, want JSON_INVALID", c.text, f)
			}
		})
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{" \t\r\n null \t\r\n ", "null"},
		{"-0", "0"},
		{"-0.0e5", "0"},
		{"0e999", "0"},
		{"0.000e-999", "0"},
		{"1.0", "1"},
		{"1e21", "1e+21"},
		{"1E20", "100000000000000000000"},
		{"1e-6", "0.000001"},
		{"1e-7", "1e-7"},
		{"1.5e300", "1.5e+300"},
		{"5e-324", "5e-324"},
		{"1.7976931348623157e308", "1.7976931348623157e+308"},
		{"9007199254740991", "9007199254740991"},
		{"-9007199254740991", "-9007199254740991"},
		{"9007199254740993.0", "9007199254740992"},
		{"333333333.33333329", "333333333.3333333"},
		{"0.1000000000000000055511151231257827", "0.1"},
		{`"\u0041\/\u00e9\ud83d\ude00\u001F\u007f\u2028"`, "\"A/é😀\\u001f\x7f\u2028\""},
		{`"\u0008\u0009\u000a\u000b\u000c\u000d\"\\"`, `"\b\t\n\u000b\f\r\"\\"`},
		{`{"\ud83d\ude00":1,"\uffee":2,"\ue000":3,"\ud7ff":4,"z":5,"":6,"aa":7,"a":8}`,
			"{\"\":6,\"a\":8,\"aa\":7,\"z\":5,\"\ud7ff\":4,\"😀\":1,\"\ue000\":3,\"\uffee\":2}"},
		{`{"a\u0000":1,"a":2,"a\"":3,"a!":4}`, `{"a":2,"a\u0000":1,"a!":4,"a\"":3}`},
		{nest(512), nest(512)},
		{`{ "b" : [ 2 , 1 ] , "a" : { } }`, `{"a":{},"b":[2,1]}`},
	} {
		got, err := Canonical([]byte(c.text))
		if err != nil || string(got) != c.want {
			t.Errorf("Canonical(%.60q) = %.60q, %v, want %.60q", c.text, got, err, c.want)
			continue
		}
		again, err := CanonicalStored(got)
		if err != nil || string(again) != c.want {
			t.Errorf("CanonicalStored(%.60q) = %.60q, %v", got, again, err)
		}
		if !isCanonical(got, 0, anyNumbers) {
			t.Errorf("isCanonical(%.60q) = false", got)
		}
	}
}

// TestCanonicalLeavesInput: the fast way and the slow one both return fresh bytes.
func TestCanonicalLeavesInput(t *testing.T) {
	for _, text := range []string{`{"a":1}`, `{"b":1,"a":2}`} {
		raw := []byte(text)
		out, err := Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		clear(out)
		if string(raw) != text {
			t.Errorf("Canonical changed its input to %q", raw)
		}
	}
}

// TestVectors replays the cases that the original implementations answered.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../testdata/vectors/kxm-run-plan.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Canonical, Stricter   bool
		Input, Output, SHA256 string
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, v := range vectors {
		if !v.Canonical {
			continue
		}
		seen++
		got, err := CanonicalStored([]byte(v.Input))
		switch {
		case v.Stricter && err == nil:
			t.Errorf("CanonicalStored(%q) = %q, want a refusal", v.Input, got)
		case v.Stricter:
		case err != nil || string(got) != v.Output || HashOf(got) != v.SHA256:
			t.Errorf("CanonicalStored(%q) = %q, %v, want %q", v.Input, got, err, v.Output)
		}
		// What a publisher sends is refused too where a number would change; else the answer is the same.
		if exact, err := Canonical([]byte(v.Input)); err == nil && string(exact) != v.Output {
			t.Errorf("Canonical(%q) = %q, want %q", v.Input, exact, v.Output)
		}
	}
	if seen < 15 {
		t.Errorf("%d canonical vectors, want at least 15", seen)
	}
}

func TestNumbersRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		f := math.Float64frombits(r.Uint64())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		got, err := CanonicalStored(strconv.AppendFloat(nil, f, 'e', -1, 64))
		if err != nil {
			t.Fatalf("%g: %v", f, err)
		}
		if back, _ := strconv.ParseFloat(string(got), 64); back != f {
			t.Errorf("%g became %s", f, got)
		}
		if !isCanonical(got, 0, anyNumbers) {
			t.Errorf("isCanonical(%s) = false", got)
		}
	}
}

func TestCompareNames(t *testing.T) {
	runes := []rune("\x00aAz~\u007f\u0080éΩ\u07ff\u0800\ud7ff\ue000\uffee\uffff\U00010000😀\U0010ffff")
	r := rand.New(rand.NewPCG(3, 4))
	random := func() string {
		s := make([]rune, r.IntN(4))
		for i := range s {
			s[i] = runes[r.IntN(len(runes))]
		}
		return string(s)
	}
	for range 20_000 {
		a, b := random(), random()
		want := slicesCompare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		if got := compareNames(a, b); sign(got) != want {
			t.Fatalf("compareNames(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
}

func slicesCompare(a, b []uint16) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return sign(int(a[i]) - int(b[i]))
		}
	}
	return sign(len(a) - len(b))
}

func sign(i int) int { return max(-1, min(1, i)) }

// naiveJSON decides RULES 2.1 a second time, with another parser and without regard to speed.
func naiveJSON(text []byte) bool {
	if !utf8.Valid(text) || !json.Valid(text) || hasLoneSurrogate(string(text)) {
		return false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return naiveValue(dec, 0)
}

func naiveValue(dec *json.Decoder, depth int) bool {
	tok, err := dec.Token()
	if err != nil {
		return false
	}
	switch tok := tok.(type) {
	case json.Number:
		return naiveNumber(tok.String())
	case json.Delim:
		ok := depth < 512
		names := map[string]bool{}
		for ok && dec.More() {
			if tok == '{' {
				name, _ := dec.Token()
				ok = !names[name.(string)]
				names[name.(string)] = true
			}
			ok = ok && naiveValue(dec, depth+1)
		}
		if ok {
			_, _ = dec.Token()
		}
		return ok
	}
	return true
}

func naiveNumber(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return false
	}
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	if f == 0 && strings.Trim(mantissa, "-0.") != "" {
		return false
	}
	return strings.ContainsAny(text, ".eE") || math.Abs(f) < 1<<53
}

// hasLoneSurrogate looks at the escapes of a valid JSON text, in which a backslash stands in strings only.
func hasLoneSurrogate(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		i++
		if text[i] != 'u' {
			continue
		}
		unit, _ := strconv.ParseUint(text[i+1:i+5], 16, 16)
		i += 4
		if !utf16.IsSurrogate(rune(unit)) {
			continue
		}
		rest := text[i+1:]
		if unit >= 0xDC00 || !strings.HasPrefix(rest, `\u`) {
			return true
		}
		low, _ := strconv.ParseUint(rest[2:6], 16, 16)
		if low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 6
	}
	return false
}

// FuzzCanonical compares the checks with naiveJSON, and the scan for canonical texts with the JSON library's canonicaliser.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,2.5,-0,1e20,null,true],"a":"\u0041\n😀"}`, `{"a":{"":0},"b":[[],{}]}`, `"\ud83d\ude00"`, "1e-7", "0.1",
		`{"a\u0000":1,"a":2}`, "9007199254740992", "100000000000000000000", `{"\ue000":1,"😀":2}`, `{"😀":2,"` + "\ue000" + `":1}`, nest(512), nest(513),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Canonical(text)
		if (err == nil) != naiveJSON(text) {
			t.Fatalf("Canonical(%q) = %q, %v, and the other parser disagrees", text, got, err)
		}
		if isCanonical(text, 0, exactNumbers) != (err == nil && bytes.Equal(got, text) && checkJSON(text, exactNumbers) == nil) {
			t.Fatalf("isCanonical(%q) is wrong: canonical is %q", text, got)
		}
		if err != nil {
			return
		}
		want := jsontext.Value(bytes.Clone(text))
		if err := want.Canonicalize(); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Canonical(%q) = %q, want %q, %v", text, got, want, err)
		}
		if again, err := CanonicalStored(got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("Canonical(%q) = %q is not stable: %q, %v", text, got, again, err)
		}
	})
}

// The quick way of AppendString writes what the library writes, whatever the
// bytes and wherever they stand.
func TestAppendStringAgrees(t *testing.T) {
	texts := []string{"", "plain", `a "quoted" \ path`, "zwölf", "bad \xff byte", "line\nfeed", "\x7f", `"`, `\\`, strings.Repeat(`{"a":1}`, 50)}
	for c := range 256 {
		b := string([]byte{byte(c)})
		texts = append(texts, b, "x"+b, b+"x", `"`+b, "é"+b+`"`)
	}
	for _, text := range texts {
		want, _ := jsontext.AppendQuote([]byte("["), text)
		if got := AppendString([]byte("["), text); string(got) != string(want) {
			t.Errorf("string %q is written %s, want %s", text, got, want)
		}
		if got := AppendString([]byte("["), []byte(text)); string(got) != string(want) {
			t.Errorf("bytes %q are written %s, want %s", text, got, want)
		}
	}
}

// FuzzCutString: what CutString takes is what Unquote makes of it, and nothing is lost of what stands around.
func FuzzCutString(f *testing.F) {
	for _, text := range []string{
		`""`, `"plain"`, `"a \"word\" and \\"`, `"\n"`, `"\u0041"`, `"héllo 世界, \"x\""tail`, "\"\xff\"", "\"a\x00b\"", `"open`, `"\`, `x`, ``, `"eight by""`,
	} {
		f.Add([]byte(text), []byte("before"))
	}
	f.Fuzz(func(t *testing.T, text, before []byte) {
		got, rest, ok := CutString(bytes.Clone(before), text)
		if !bytes.HasPrefix(got, before) {
			t.Fatalf("CutString(%q, %q) lost what was there: %q", before, text, got)
		}
		if !ok {
			if len(got) != len(before) || !bytes.Equal(rest, text) {
				t.Fatalf("CutString(%q, %q) refuses and changes something", before, text)
			}
			return
		}
		quoted := text[:len(text)-len(rest)]
		want, err := Unquote(nil, quoted)
		if err != nil || !bytes.Equal(got[len(before):], want) || !bytes.HasSuffix(text, rest) {
			t.Fatalf("CutString takes %q as %q, Unquote gives %q, %v", quoted, got[len(before):], want, err)
		}
	})
}

// TestCutString: our own text is taken so, and what is not is left.
func TestCutString(t *testing.T) {
	for text, want := range map[string]string{`"a \"b\" \\ é",`: `a "b" \ é`, `"",`: ""} {
		got, rest, ok := CutString(nil, []byte(text))
		if !ok || string(got) != want || string(rest) != "," {
			t.Errorf("CutString(%s) = %q, %q, %v", text, got, rest, ok)
		}
	}
	for _, text := range []string{`"\n"`, "\"\n\"", "\"\xff\"", `"no end`, `bare`} {
		if _, rest, ok := CutString(nil, []byte(text)); ok || string(rest) != text {
			t.Errorf("CutString takes %q", text)
		}
	}
}
