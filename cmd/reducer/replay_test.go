package main

import (
	"strings"
	"testing"
)

// The state as it was is shown by the tables that show has.
func TestReplayTables(t *testing.T) {
	data, digest := served19(t)
	runs := must(t, 0, "reducer", "show", "runs", "--contract", "onboarding", "--data", data)
	title, row, _ := strings.Cut(strings.TrimSpace(runs), "\n")
	now := oneSpaced(must(t, 0, "reducer", "replay", "--data", data, "--to", "19"))
	for _, want := range []string{oneSpaced(title), oneSpaced(row), "after 19 commands, the last one 19", digest, "attempts CONTRACT ATTEMPT"} {
		if !strings.Contains(now, want) {
			t.Errorf("no %q in:\n%s", want, now)
		}
	}
	earlier := must(t, 0, "reducer", "replay", "--data", data, "--to", "3")
	if !strings.Contains(earlier, "READY") || strings.Contains(earlier, "attempts\n") || strings.Contains(earlier, digest) {
		t.Errorf("after the third command:\n%s", earlier)
	}
}
