package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestHTTP asks a running reducer as a monitor does.
func TestHTTP(t *testing.T) {
	s := serve(t, t.TempDir(), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0")
	run(t, "", "ingest", "--wait", "--nats", s.url, quickstart)
	_, rest, _ := strings.Cut(s.stderr.String(), "url=http://")
	address, _, ok := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("serve does not say where: %s", s.stderr)
	}
	for path, want := range map[string]string{
		"/healthz": "ready",
		"/readyz":  "ready",
		"/metrics": `aiws_commands_total{code="",outcome="accepted"} 16`,

		"/metrics?": "aiws_log_passed_timestamp_seconds ",
	} {
		response, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // it was read
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: %s %v\n%s", path, response.Status, err, body)
		}
	}
	s.stop()
}
