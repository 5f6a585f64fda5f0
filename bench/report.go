package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// report is all of a run.
type report struct {
	machine  machine
	findings []named
}

type named struct {
	name string
	*finding
}

// slack is how far below its target a ratio may be in a quick run.
const slack = 0.8

// missed is an error when a ratio is more than 20 percent below its target.
func (r *report) missed() error {
	var names []string
	for _, f := range r.findings {
		for _, found := range f.results {
			if found.ratio < slack*found.target {
				names = append(names, found.name)
			}
		}
	}
	if len(names) > 0 {
		return fmt.Errorf("more than 20 percent below target: %s", strings.Join(names, ", "))
	}
	return nil
}

// postgresTitle begins the last part of the file, which a run of its own may
// write again.
const postgresTitle = "## PostgreSQL beside it\n"

const preface = `# Results of ` + "`make bench`" + `

Written by the program; what each line means is in ` + "`docs/performance.md`" + `. A ratio compares medians of rounds that were
measured in turn in this one run, and is made so that more is better. Machines differ and are noisy: compare ratios, not
figures of two runs.

`

// write writes the results of a whole run.
func (r *report) write(path string) error {
	var text strings.Builder
	text.WriteString(preface + r.machine.String())
	var main, beside []named
	for _, f := range r.findings {
		if f.name == postgresName {
			beside = append(beside, f)
		} else {
			main = append(main, f)
		}
	}
	writeResults(&text, main)
	text.WriteString("\n" + postgresTitle + "\n")
	if len(beside) == 0 {
		text.WriteString("Not measured: the server's programs are not installed here. `make bench-postgres` measures it where they are.\n")
	}
	writeResults(&text, beside)
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// rewritePostgres puts the results of a run of that comparison alone in the
// place of the old ones.
func (r *report) rewritePostgres(path string) error {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := &strings.Builder{}
	if err != nil {
		text.WriteString(preface)
	}
	kept, _, _ := strings.Cut(string(before), postgresTitle)
	text.WriteString(kept + postgresTitle + "\nMeasured in a run of its own.\n\n" + r.machine.String())
	writeResults(text, r.findings)
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

func writeResults(text *strings.Builder, findings []named) {
	var rows [][]string
	for _, f := range findings {
		for _, found := range f.results {
			met := "yes"
			if !found.met() {
				met = "no"
			}
			rows = append(rows, []string{found.name, fmt.Sprintf("%.2f", found.ratio), fmt.Sprintf("%.2f", found.target), met, found.what})
		}
	}
	if len(rows) > 0 {
		writeTable(text, []string{"measurement", "ratio", "target", "met", "figures"}, rows)
	}
	writeCosts(text, findings)
	for _, f := range findings {
		for _, s := range f.sections {
			fmt.Fprintf(text, "\n### %s\n\n%s\n\n", s.title, s.text)
			writeTable(text, s.head, s.rows)
		}
	}
}

func writeCosts(text *strings.Builder, findings []named) {
	var rows [][]string
	for _, f := range findings {
		for _, c := range f.costs {
			rows = append(rows, []string{c.name, short(c.cpu), fmt.Sprintf("%.0f MiB", c.peak)})
		}
	}
	if len(rows) > 0 {
		text.WriteString("\n### What each process took\n\nFrom its start to its end, medians of the rounds; those of the load are below.\n\n")
		writeTable(text, []string{"process", "processor time", "peak RSS"}, rows)
	}
}

func writeTable(text *strings.Builder, head []string, rows [][]string) {
	fmt.Fprintf(text, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range rows {
		fmt.Fprintf(text, "| %s |\n", strings.Join(row, " | "))
	}
}
