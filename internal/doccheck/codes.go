package doccheck

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// CodesPage is the page that CodesTable makes.
const CodesPage = "docs/codes.md"

// rulesFolder holds the rule pages.
const rulesFolder = "docs/rules/"

// commonChecks is the heading of the checks that every command goes through.
const commonChecks = "Common checks"

const codesIntroduction = `# Rejection codes

<!-- Made by go run ./internal/gendocs from events.Codes and from the rule pages. Do not edit. -->

A refused command has exactly one code: that of the first check that failed. The codes stand here in the order
of the constants in ` + "`events/code.go`" + `: first the [common checks](rules/decisions.md#common-checks) in their order, then the
commands' own. Which of two comes first within a command is on its rule page.

A refusal changes nothing but the audit trail, the ledger's now and the ids used. The id of a refused command is used up, so
"again" always means: as a new command, under a new id. The exceptions are refusals recorded in ` + "`_unrouted`" + `, which are not
final (` + "`Aiws-Final: false`" + ` in the reply): ` + "`SUBJECT_INVALID`" + `, and any refusal while the ledger is not open.

| code | what it says | what the caller should do | given by |
|---|---|---|---|
`

// CodesTable makes the table of all codes. Who gives a code is read from the
// numbered lists of the rule pages.
func CodesTable(pages []Page) string {
	var out strings.Builder
	out.WriteString(codesIntroduction)
	rules := Rules(pages)
	for _, info := range events.Codes {
		var givers []string
		for _, rule := range rules {
			if slices.Contains(rule.Codes, info.Code) {
				givers = append(givers, rule.link())
			}
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", info.Code, cell(info.Meaning), cell(info.Caller), strings.Join(givers, ", "))
	}
	return out.String()
}

// cell is a text as it must stand in a table.
func cell(text string) string {
	return strings.NewReplacer("<", "&lt;", "|", "\\|").Replace(text)
}

// Rule is the section of a rule page about one command, or about the common
// checks, with the codes that its numbered lists name.
type Rule struct {
	Page    string
	Heading string
	Codes   []events.Code
}

// Rules finds the sections of the rule pages: the common checks first, then the
// commands in the order of the schema.
func Rules(pages []Page) []Rule {
	var found []Rule
	for _, page := range pages {
		if strings.HasPrefix(page.Name, rulesFolder) {
			found = append(found, rulesOf(page)...)
		}
	}
	place := func(r Rule) int { return slices.Index(schema.CommandTypes, r.Heading) } // -1: the common checks
	slices.SortStableFunc(found, func(a, b Rule) int { return place(a) - place(b) })
	return found
}

var codeWord = regexp.MustCompile("`([A-Z][A-Z_]+)`")

func rulesOf(page Page) []Rule {
	var found []Rule
	var rule *Rule
	inList := false
	for line := range strings.Lines(prose(page.Text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			rule, inList = nil, false
			if heading = strings.TrimSpace(heading); heading == commonChecks || schema.IsCommandType(heading) {
				found = append(found, Rule{Page: page.Name, Heading: heading})
				rule = &found[len(found)-1]
			}
			continue
		}
		inList = isListLine(line, inList)
		if rule == nil || !inList {
			continue
		}
		for _, hit := range codeWord.FindAllStringSubmatch(line, -1) {
			code := events.Code(hit[1])
			if isCode(code) && !slices.Contains(rule.Codes, code) {
				rule.Codes = append(rule.Codes, code)
			}
		}
	}
	return found
}

var listItem = regexp.MustCompile(`^\d+\. `)

// isListLine says whether a line belongs to a numbered list: it begins an item
// or goes on with one, indented.
func isListLine(line string, inList bool) bool {
	if listItem.MatchString(line) {
		return true
	}
	return inList && strings.HasPrefix(line, "   ")
}

func isCode(code events.Code) bool {
	return slices.ContainsFunc(events.Codes, func(info events.CodeInfo) bool { return info.Code == code })
}

// link leads from the page of codes to the rule.
func (r Rule) link() string {
	anchor := strings.ToLower(strings.ReplaceAll(r.Heading, " ", "-"))
	return fmt.Sprintf("[%s](%s#%s)", r.Heading, strings.TrimPrefix(r.Page, "docs/"), anchor)
}
