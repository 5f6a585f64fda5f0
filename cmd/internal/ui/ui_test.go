package ui

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	table := NewTable("run", "state", "spent#")
	table.Row("order-1", "RUNNING", "5")
	table.Row("a", "READY", "1200")
	table.Row("日本", "")
	var out strings.Builder
	if err := table.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := `RUN      STATE    SPENT
order-1  RUNNING      5
a        READY     1200
日本
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestTableWithoutRows(t *testing.T) {
	var out strings.Builder
	if err := NewTable("run", "state").Write(&out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "RUN  STATE\n" {
		t.Errorf("got %q", got)
	}
}

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain-1", "plain-1"},
		{"zwölf 日本", "zwölf 日本"},
		{"\x1b[2J", `\u001b[2J`},
		{"a\nb", `a\u000ab`},
		{"a\u202eb", `a\u202eb`},
		{"a\xffb", `a\xffb`},
		{"a\ufffdb", "a\ufffdb"},
	} {
		if got := Printable(c.in); got != c.want {
			t.Errorf("Printable(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	var quiet strings.Builder
	p := NewProgress(&quiet, "reading", 10)
	p.Add(10)
	p.Done()
	if quiet.Len() > 0 {
		t.Errorf("wrote %q where nobody is watching", quiet.String())
	}

	var screen strings.Builder
	p = newProgress(&screen, "reading", 10)
	p.Add(4)
	p.Add(6)
	p.Done()
	if got := screen.String(); !strings.Contains(got, "reading") || !strings.Contains(got, "10/10") {
		t.Errorf("the bar shows %q", got)
	}
}
