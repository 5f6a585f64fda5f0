// Package ui prints for people: aligned tables, text that cannot drive a
// terminal, and progress bars where somebody is watching. Machines get JSON
// lines, which need no help from here.
package ui

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Table is an aligned table without lines: two blanks between columns, headings
// in capitals.
type Table struct {
	writer  table.Writer
	columns int
}

// NewTable starts a table. A column whose name ends in "#" is a number: it is
// aligned to the right and shown without the mark.
func NewTable(columns ...string) *Table {
	t := &Table{writer: table.NewWriter(), columns: len(columns)}
	t.writer.SetStyle(plain())
	header := make(table.Row, len(columns))
	var configs []table.ColumnConfig
	for i, name := range columns {
		name, number := strings.CutSuffix(name, "#")
		header[i] = strings.ToUpper(name)
		if number {
			configs = append(configs, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.writer.AppendHeader(header)
	t.writer.SetColumnConfigs(configs)
	return t
}

func plain() table.Style {
	style := table.StyleDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	return style
}

// Row adds a row. Cells are made printable; missing ones stay empty.
func (t *Table) Row(cells ...string) {
	if len(cells) > t.columns {
		panic(fmt.Sprintf("ui: a row of %d cells in a table of %d columns", len(cells), t.columns))
	}
	row := make(table.Row, t.columns)
	for i := range row {
		row[i] = ""
		if i < len(cells) {
			row[i] = Printable(cells[i])
		}
	}
	t.writer.AppendRow(row)
}

// Write prints the table, without blanks at the ends of lines.
func (t *Table) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	for line := range strings.Lines(t.writer.Render()) {
		if _, err := fmt.Fprintln(out, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return out.Flush()
}

// Printable makes s safe to show: ids may hold any characters, and a terminal
// obeys some of them. What does not print is written as \u or \x with its code.
func Printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unprintable(r) && r != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }
