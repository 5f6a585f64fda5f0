package reducer_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// TestCommonOrder breaks the checks of RULES 2 in pairs, and each with a check
// of the command itself. The message is a grant by a principal that may not
// give it, in a ledger without features.
func TestCommonOrder(t *testing.T) {
	type world struct {
		open bool
		used bool // the command id is taken
	}
	guards := []struct {
		code  events.Code
		not   string
		spoil func(w *world, m *events.Message)
	}{
		{"SUBJECT_INVALID", "", func(_ *world, m *events.Message) { m.Subject = "aiws.cmd.=41.agent.registerGraph" }},
		{"COMMAND_ID_INVALID", "COMMAND_ID_REUSED", func(_ *world, m *events.Message) { m.IDs = []string{"a", "b"} }},
		{"BODY_TOO_LARGE", "", func(_ *world, m *events.Message) { m.Body = append(m.Body, bytes.Repeat([]byte(" "), 384<<10)...) }},
		{"JSON_INVALID", "", func(_ *world, m *events.Message) { m.Body = append(m.Body, '{') }},
		{"SCHEMA_INVALID", "", func(_ *world, m *events.Message) {
			m.Body = bytes.Replace(m.Body, []byte(`"type"`), []byte(`"more":1,"type"`), 1)
		}},
		{"SUBJECT_MISMATCH", "", func(_ *world, m *events.Message) {
			m.Subject = strings.Replace(m.Subject, "registerGraph", "attachGraph", 1)
		}},
		{"COMMAND_ID_REUSED", "CONTRACT_NOT_FOUND", func(w *world, _ *events.Message) { w.used = true }},
		{"CONTRACT_NOT_FOUND", "", func(w *world, _ *events.Message) { w.open = false }},
		{"ACTOR_MISMATCH", "", func(_ *world, m *events.Message) {
			m.Body = bytes.Replace(m.Body, []byte(`"actor":"agent"`), []byte(`"actor":"other"`), 1)
		}},
		{"PRINCIPAL_NOT_ALLOWED", "ACTOR_MISMATCH CONTRACT_NOT_FOUND COMMAND_ID_REUSED", func(_ *world, m *events.Message) {
			m.Subject = strings.Replace(m.Subject, ".agent.", ".stranger.", 1)
			m.Body = bytes.Replace(m.Body, []byte(`"actor":"agent"`), []byte(`"actor":"stranger"`), 1)
		}},
		{"FEATURE_DISABLED", "", func(*world, *events.Message) {}},
	}
	for i, a := range guards {
		for _, b := range guards[i:] {
			if strings.Contains(b.not, string(a.code)) || strings.Contains(a.not, string(b.code)) {
				continue
			}
			w := world{open: true}
			m := &events.Message{
				Seq: 90, Time: 2e9, Subject: "aiws.cmd.c.agent.registerGraph", IDs: []string{"x"},
				Body: []byte(`{"context":{"actor":"agent","decisionClass":"HUMAN","policyRevision":"1"},"graph":{"id":"g","nodes":[{"config":{},"dependsOn":[],"id":"a","kind":"TASK"}],"revision":"1"},"type":"registerGraph"}`),
			}
			a.spoil(&w, m)
			if b.code != a.code {
				b.spoil(&w, m)
			}
			shard := reducertest.NewWorld()
			if w.open {
				send(t, shard, "open-contract features=() allow.registerGraph=(agent)", "")
			}
			if w.used {
				send(t, shard, "start-run r id=x by=agent", "")
			}
			d, err := shard.Step(m)
			if err != nil {
				t.Fatal(err)
			}
			if d.Code != a.code {
				t.Errorf("%s and %s broken: %s", a.code, b.code, d)
			}
		}
	}
}

// TestModelOrder: a model may not widen authority, whatever its command would
// be refused for later; and who is not allowed is told so first.
func TestModelOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract models=(bot) allow.grant=(owner, bot)\ngrant old",
		Command: "grant g",
		List: []reducertest.Guard{
			{Code: "ACTOR_MISMATCH", Break: "arg actor=other"},
			{Code: "PRINCIPAL_NOT_ALLOWED", Break: "arg by=stranger"},
			{Code: "DECISION_CLASS_FORBIDDEN", Break: "arg class=MODEL"},
			{Code: "GRANT_EXISTS", Break: "arg grant.id=old"},
		},
	}.Order(t)
}

func TestOpenContractOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract contract=other",
		Command: "open-contract",
		List: []reducertest.Guard{
			{Code: "CONTRACT_EXISTS", Break: "pre open-contract"},
			{Code: "ACTOR_MISMATCH", Break: "arg actor=other"},
			{Code: "DECISION_CLASS_FORBIDDEN", Break: "arg class=MODEL"},
			{Code: "CONTRACT_MISMATCH", Break: "arg contract.id=d"},
			{Code: "CONTRACT_EXPIRED", Break: "arg deadline=1000"},
		},
	}.Order(t)
}
