package postgres

import (
	"errors"
	"testing"
	"time"
)

// TestMeasure runs both kinds of script for a moment: each command has a
// decision, all are accepted, and nothing stays reserved.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	c, err := Start()
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, batch := range []int{1, 100} {
		m, err := c.Measure(Load{Connections: 2, Batch: batch, Span: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if m.PerSecond <= 0 || m.Latency <= 0 {
			t.Errorf("batches of %d: %+v", batch, m)
		}
	}
	for name, query := range map[string]string{
		"money reserved":                 "SELECT sum(reserved) = 0 FROM contracts",
		"money spent":                    "SELECT sum(c.spent) = (SELECT sum(spent) FROM attempts) AND sum(c.spent) = (SELECT sum(spent) FROM grants) FROM contracts c",
		"every attempt is applied":       "SELECT count(*) > 0 AND count(*) = count(*) FILTER (WHERE state = 'APPLIED') FROM attempts",
		"three decisions for an attempt": "SELECT count(*) = 3 * (SELECT count(*) FROM attempts) FROM decisions",
		"a repeated command is a duplicate": "SELECT settle(contract, principal, command_id, '', '', 0, body) = 'duplicate' FROM decisions " +
			"WHERE command_id LIKE 'c%-s' LIMIT 1",
		"an id is not used twice": "SELECT settle(contract, principal, command_id, '', '', 0, 'other') = 'COMMAND_ID_REUSED' FROM decisions " +
			"WHERE command_id LIKE 'c%-s' LIMIT 1",
	} {
		got, err := c.Query(query)
		if err != nil || got != "t" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}
