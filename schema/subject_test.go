package schema

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestParseSubject(t *testing.T) {
	smile := strings.Repeat("=F0=9F=98=80", 50) // 600 bytes
	for _, c := range []struct {
		subject string
		want    Subject
		ok      bool
	}{
		{"aiws.cmd.c1.p-1.admit", Subject{"c1", "p-1", "admit"}, true},
		{"aiws.cmd.Zo=C3=AB._.pinPlan", Subject{"Zoë", "_", "pinPlan"}, true},
		{"aiws.cmd.a=2Eb=20c=3D.p.grant", Subject{"a.b c=", "p", "grant"}, true},
		{"aiws.cmd." + smile + ".p.admit", Subject{strings.Repeat("😀", 50), "p", "admit"}, true},
		{"aiws.cmd." + smile + "a.p.admit", Subject{"", "p", "admit"}, false},
		{"aiws.cmd." + strings.Repeat("a", 256) + ".p.admit", Subject{strings.Repeat("a", 256), "p", "admit"}, true},
		{"aiws.cmd." + strings.Repeat("a", 257) + ".p.admit", Subject{"", "p", "admit"}, false},
		{"aiws.cmd._unrouted.p.admit", Subject{"_unrouted", "p", "admit"}, false},
		{"aiws.cmd.c.p.Admit", Subject{"c", "p", ""}, false},
		{"aiws.cmd.c.p.issueGrant", Subject{"c", "p", ""}, false},
		{"aiws.cmd.c.=FF.startRun", Subject{"c", "", "startRun"}, false},
		{"aiws.cmd.=41.=c3=ab.startRun", Subject{"", "", "startRun"}, false},
		{"aiws.cmd.a=.b=4.c", Subject{}, false},
		{"aiws.cmd.ë.p.admit", Subject{"", "p", "admit"}, false},
		{"aiws.cmd.c..admit", Subject{"c", "", "admit"}, false},
		{"aiws.cmd.=ED=A0=80.p.admit", Subject{"", "p", "admit"}, false},
		{"aiws.cmd.c.p", Subject{}, false},
		{"aiws.cmd.c.p.admit.x", Subject{}, false},
		{"aiws.cmd", Subject{}, false},
		{"AIWS.cmd.c.p.admit", Subject{}, false},
		{"aiws.cmd2.c.p.admit", Subject{}, false},
		{"", Subject{}, false},
	} {
		got, ok := ParseSubject(c.subject)
		if got != c.want || ok != c.ok {
			t.Errorf("ParseSubject(%.50q) = %+v, %v, want %+v, %v", c.subject, got, ok, c.want, c.ok)
		}
		if ok && got.String() != c.subject {
			t.Errorf("%+v.String() = %q, want %q", got, got.String(), c.subject)
		}
	}
}

// TestTokenRoundTrip: every id has one token, and only that token decodes to it.
func TestTokenRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringN(1, 256, -1).Draw(t, "id")
		tok := EncodeToken(id)
		if strings.ContainsAny(tok, ".*> \t") || !utf8.ValidString(tok) {
			t.Fatalf("EncodeToken(%q) = %q", id, tok)
		}
		got, ok := DecodeToken(tok)
		if ok != (len(tok) <= 600) || ok && got != id {
			t.Fatalf("DecodeToken(EncodeToken(%q)) = %q, %v", id, got, ok)
		}
		if len(tok) <= 200 && KVToken(id) != tok {
			t.Fatalf("KVToken(%q) = %q, want %q", id, KVToken(id), tok)
		}
		other := rapid.StringMatching(`[a-c=0-9A-F]{1,9}`).Draw(t, "token")
		if id, ok := DecodeToken(other); ok && EncodeToken(id) != other {
			t.Fatalf("DecodeToken(%q) = %q, whose token is %q", other, id, EncodeToken(id))
		}
	})
}

func TestKVToken(t *testing.T) {
	a200 := strings.Repeat("a", 200)
	if got := KVToken(a200); got != a200 {
		t.Errorf("KVToken of 200 bytes = %q", got)
	}
	if got, want := KVToken(a200+"a"), "=sha256="+HashOf([]byte(a200 + "a"))[len("sha256:"):]; got != want {
		t.Errorf("KVToken of 201 bytes = %q, want %q", got, want)
	}
}

func TestValidID(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "a": true, "\x00": true, " ": true, "\n": true, "\xff": false, "a\xed\xa0\x80": false,
		strings.Repeat("😀", 256): true, strings.Repeat("😀", 257): false, strings.Repeat("a", 256): true, strings.Repeat("a", 257): false,
	} {
		if ValidID(s) != want {
			t.Errorf("ValidID(%.20q) = %v", s, !want)
		}
	}
}

func TestValidCommandID(t *testing.T) {
	for s, want := range map[string]bool{
		"": false, "!": true, "~": true, "a b": false, "a\x7f": false, "é": false, "seq-1": false, "seq-": false, "seq": true, "Seq-1": true,
		strings.Repeat("x", 128): true, strings.Repeat("x", 129): false, "a\n": false,
	} {
		if ValidCommandID(s) != want {
			t.Errorf("ValidCommandID(%.20q) = %v", s, !want)
		}
	}
}
