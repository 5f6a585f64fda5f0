package lint

import (
	"fmt"
	"regexp"
	"strings"
)

// wordRule bans a pattern from everything that people read.
type wordRule struct {
	rule    string
	pattern *regexp.Regexp
	instead string
}

// The patterns are put together so that this file does not break its own rules.
var wordRules = []wordRule{
	{"left-over", regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}, "|") + `)\b`),
		"finish it now, or file an issue and say in a comment what holds today"},
	{"machine-path", regexp.MustCompile("(^|[\\s\"'`(=:])/(" + strings.Join([]string{"home", "root", "Users", "work", "workspace", "mnt", "media"}, "|") + `)/[\w.-]`),
		"a path of one machine: use t.TempDir(), os.UserCacheDir or a path relative to the repository"},
}

// Words reports banned words in Go files, prose, scripts and configuration.
func Words(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, name := range t.Texts {
		text, err := t.read(name)
		if err != nil {
			return nil, err
		}
		number := 0
		for line := range strings.Lines(text) {
			number++
			found = append(found, wordsIn(name, number, line)...)
		}
	}
	return found, nil
}

func wordsIn(name string, number int, line string) []Finding {
	var found []Finding
	for _, rule := range wordRules {
		if hit := rule.pattern.FindString(line); hit != "" {
			found = append(found, Finding{File: name, Line: number, Rule: rule.rule,
				Text: fmt.Sprintf("%q: %s", strings.TrimSpace(hit), rule.instead)})
		}
	}
	return found
}
