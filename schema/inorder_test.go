package schema

import (
	"bytes"
	"reflect"
	"testing"
)

// TestCanonicalIsTaken: the canonical body of every command, long ones too, is taken as it comes, never by way of the reader
// of any JSON. So it is for a record that says what its members are.
func TestCanonicalIsTaken(t *testing.T) {
	for i, kind := range CommandTypes {
		g := newGenerator(t, uint64(1000+i))
		for range 50 {
			body, err := Canonical(g.text(g.command(kind)))
			if err != nil {
				t.Fatal(err)
			}
			if c := newCommand(kind); !DecodeCanonical(body, c) {
				t.Fatalf("not taken: %.2000s", body)
			}
		}
	}
}

// checkBothReaders compares taking and reading a text as a command of a kind.
func checkBothReaders(tb testing.TB, kind string, text []byte, n numbers) {
	tb.Helper()
	var m Members
	m.share(text)
	taken, read := newCommand(kind), newCommand(kind)
	if !m.takeAll(text, taken, n) {
		return
	}
	if f := m.readAll(text, read, n); f != nil {
		tb.Fatalf("%.2000q is taken as %s, and refused by the reader of any JSON: %v", text, kind, f)
	}
	if !reflect.DeepEqual(taken, read) {
		tb.Fatalf("%.2000q as %s is\n%+v taken and\n%+v read", text, kind, taken, read)
	}
	if out := AppendRecord(nil, taken); !bytes.Equal(out, text) {
		tb.Fatalf("%.2000q is taken as %s, whose canonical form is\n%s", text, kind, out)
	}
}

// spoilBytes changes, drops or repeats bytes here and there.
func (g *generator) spoilBytes(text []byte) []byte {
	text = bytes.Clone(text)
	for range 1 + g.IntN(3) {
		at := g.IntN(len(text))
		switch g.IntN(4) {
		case 0:
			text[at] = byte(g.IntN(256))
		case 1:
			text = append(text[:at], text[min(len(text), at+1+g.IntN(3)):]...)
		case 2:
			end := min(len(text), at+1+g.IntN(12))
			text = append(text[:end:end], text[at:]...)
		default:
			const signs = `{}[]",:\0-9eE+.tfn u0000`
			text[at] = signs[g.IntN(len(signs))]
		}
		if len(text) == 0 {
			return text
		}
	}
	return text
}

// TestTakingAgreesWithReading: whatever is taken in order from a text, whole or spoiled, the reader of any JSON reads too.
func TestTakingAgreesWithReading(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 40
	}
	for i, kind := range CommandTypes {
		g := newGenerator(t, uint64(2000+i))
		for range rounds {
			c := g.command(kind)
			if g.IntN(2) == 0 {
				g.spoil(c)
			}
			body := g.text(c)
			if canonical, err := CanonicalStored(body); err == nil {
				body = canonical
			}
			checkBothReaders(t, kind, body, exactNumbers)
			for range 4 {
				checkBothReaders(t, kind, g.spoilBytes(body), numbers(g.IntN(2) == 0))
			}
		}
	}
}

// FuzzDecodeCanonical makes the same comparison for any bytes.
func FuzzDecodeCanonical(f *testing.F) {
	g := newGenerator(f, 98)
	for i, kind := range CommandTypes {
		body, err := Canonical(g.text(g.command(kind)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), body, true)
	}
	f.Fuzz(func(t *testing.T, kind uint8, text []byte, exact bool) {
		checkBothReaders(t, CommandTypes[int(kind)%len(CommandTypes)], text, numbers(exact))
	})
}

// TestPlainLen compares plainLen with a look at each byte, for every byte at every place of two words.
func TestPlainLen(t *testing.T) {
	for at := range 17 {
		for c := range 256 {
			for _, fill := range []byte{' ', 'a', 0x7F, '#', '[', ']', '!'} {
				text := bytes.Repeat([]byte{fill}, 17)
				text[at] = byte(c)
				want := at
				if isPlain[c] {
					want = len(text)
				}
				if got := plainLen(text); got != want {
					t.Fatalf("plainLen(%q) = %d, want %d", text, got, want)
				}
			}
		}
	}
}
