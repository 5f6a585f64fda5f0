package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// get asks a running reducer as a monitor does.
func get(t *testing.T, address, path string) (status int, body string) {
	t.Helper()
	response, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// monitored is where a reducer that was started with --http listens.
func monitored(t *testing.T, s *served) string {
	t.Helper()
	_, rest, ok := strings.Cut(s.stderr.String(), "url=http://")
	address, _, line := strings.Cut(rest, "\n")
	if !ok || !line {
		t.Fatalf("serve does not say where: %s", s.stderr)
	}
	return address
}

var (
	documentedMetric = regexp.MustCompile("(?m)^\\| `(aiws_[a-z_]+)` \\| ([a-z]+) \\|")
	servedMetric     = regexp.MustCompile(`(?m)^# TYPE (aiws_[a-z_]+) ([a-z]+)$`)
)

// TestMetricsPage: docs/metrics.md lists what a running reducer serves, all of it,
// and each has the value that it must have.
func TestMetricsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--archive", filepath.Join(t.TempDir(), "archive"))
	run(t, "", "ingest", "--wait", "--nats", s.url, quickstart)
	address := monitored(t, s)
	var text string
	eventually(t, "mirror and archive have caught up", func() bool {
		_, text = get(t, address, "/metrics")
		return strings.Contains(text, "\naiws_mirror_lag_blocks 0\n") && strings.Contains(text, "\naiws_archive_lag_blocks 0\n")
	})
	if diff := cmp.Diff(kinds(documentedMetric, string(page)), kinds(servedMetric, text)); diff != "" {
		t.Errorf("-docs/metrics.md +/metrics\n%s", diff)
	}
	for _, want := range []string{
		`aiws_commands_total{code="",outcome="accepted"} 16`, `aiws_commands_total{code="BUDGET_EXCEEDED",outcome="rejected"} 1`,
		`aiws_ready 1`, `aiws_phase{phase="ready"} 1`, `aiws_terms_total 1`, `aiws_command_sequence 19`,
		`aiws_store_lag_blocks 0`, `aiws_archive_missing_blocks 0`, `aiws_fenced 0`, `aiws_integrity_fault 0`,
		`aiws_exposure_reserved{contract="onboarding"} 0`, `aiws_exposure_unknown{contract="onboarding"} 0`,
		`aiws_block_commands_sum 19`, `aiws_block_seconds_count{step="append"} `, `aiws_block_seconds_count{step="decide"} `, `aiws_block_seconds_count{step="fold"} `,
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("no %s in\n%s", want, strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return !strings.HasPrefix(l, "aiws_") }), "\n"))
		}
	}
	s.stop()
}

// kinds are the metrics that a pattern finds, with their kinds.
func kinds(pattern *regexp.Regexp, text string) map[string]string {
	found := map[string]string{}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		found[m[1]] = m[2]
	}
	return found
}
