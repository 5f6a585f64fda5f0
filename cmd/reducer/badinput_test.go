package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/cmd/internal/exit"
	"github.com/aiws-reducer/aiws-reducer/events"
)

// hostile is an input that gets its rejection, and how ingest tells of it
// before anything is published.
type hostile struct {
	name, line string
	code       events.Code
	told       string // by ingest; "" where it cannot see it
}

func raw(body string) string {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"contract":"onboarding","principal":"buyer","type":"startRun","raw":%s}`, text)
}

func withSubject(subject string) string {
	return fmt.Sprintf(`{"subject":%q,"raw":"{\"runId\":\"r\",\"type\":\"startRun\"}"}`, subject)
}

func hostiles() []hostile {
	admit := `{"type":"admit","runId":"r","operationId":"o","attemptId":"a","grantId":"g","subject":"buyer","amount":"` + strings.Repeat("9", 101) + `"}`
	return []hostile{
		{"not JSON", raw(`{"type":`), events.CodeJSONInvalid, "line 1: /raw"},
		{"nothing", raw(""), events.CodeJSONInvalid, "line 1: /raw"},
		{"a repeated member", raw(`{"type":"startRun","runId":"a","runId":"b"}`), events.CodeJSONInvalid, "line 1: /raw"},
		{"an unknown member", raw(`{"type":"startRun","runId":"r","color":"red"}`), events.CodeSchemaInvalid, "line 1: /raw/color"},
		{"a member in other case", raw(`{"type":"startRun","RunId":"r"}`), events.CodeSchemaInvalid, "line 1: /raw/RunId"},
		{"a number beyond 2^53", raw(`{"type":"startRun","runId":9007199254740993}`), events.CodeJSONInvalid, "line 1: /raw/runId"},
		{"a number of 101 digits", strings.Replace(raw(admit), "startRun", "admit", 1), events.CodeSchemaInvalid, "line 1: /raw"},
		{"a wrong subject", withSubject("aiws.cmd.onboarding.buyer"), events.CodeSubjectInvalid, "line 1: /subject"},
		{"a subject with a bad token", withSubject("aiws.cmd.onboarding.buy=zz.startRun"), events.CodeSubjectInvalid, "line 1: /"},
		{"the ledger of nobody", withSubject("aiws.cmd._unrouted.buyer.startRun"), events.CodeSubjectInvalid, "line 1: /contract"},
		{"another type", withSubject("aiws.cmd.onboarding.buyer.admit"), events.CodeSubjectMismatch, "line 1: /type"},
		{"an id of 257 characters", raw(`{"type":"startRun","runId":"` + strings.Repeat("x", 257) + `"}`), events.CodeSchemaInvalid, "line 1: /raw/runId"},
		{"10,000 nested brackets", raw(strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)), events.CodeJSONInvalid, "line 1: /raw"},
		{"a body that is too large", raw(strings.Repeat("[", 1_000_000)), events.CodeBodyTooLarge, "line 1: /raw"},
		{"a bad command id", strings.Replace(raw(`{"type":"startRun","runId":"r"}`), "{", `{"id":"seq-7",`, 1), events.CodeCommandIDInvalid, "line 1: /id"},
		{"a command id given twice", strings.Replace(raw(`{"type":"startRun","runId":"r"}`), "{", `{"ids":["a","b"],`, 1), events.CodeCommandIDInvalid, "line 1: /id"},
		{"an empty command id", strings.Replace(raw(`{"type":"startRun","runId":"r"}`), "{", `{"id":"",`, 1), events.CodeCommandIDInvalid, "line 1: /id"},
		{"a command id that is not UTF-8", strings.Replace(raw(`{"type":"startRun","runId":"r"}`), "{", `{"idsBase64":["/w=="],`, 1), events.CodeCommandIDInvalid, "line 1: /id"},
		{"a subject that is not UTF-8", `{"subjectBase64":"YWl3cy5jbWQuYy7/LnN0YXJ0UnVu","raw":"{}"}`, events.CodeSubjectInvalid, "line 1: /"},
		{"a body that is not UTF-8", `{"contract":"onboarding","principal":"buyer","type":"startRun","rawBase64":"/w=="}`, events.CodeJSONInvalid, "line 1: /raw"},
		{"no ledger", `{"contract":"nowhere","principal":"buyer","command":{"type":"startRun","runId":"r"}}`, events.CodeContractNotFound, ""},
	}
}

// Whatever comes in gets its decision, and the next command is decided.
func TestBadInput(t *testing.T) {
	s := serve(t, t.TempDir())
	must(t, exit.Rejected, "ingest", "--wait", "--nats", s.url, quickstart)
	for i, h := range hostiles() {
		if h.told != "" {
			refused := run(t, h.line, "ingest", "--nats", s.url)
			if refused.code != exit.Failure || !strings.Contains(refused.stderr, h.told) || !strings.Contains(refused.stderr, "nothing was published") {
				t.Errorf("%s: ingest says %s, want %q", h.name, refused, h.told)
			}
		}
		bad := run(t, h.line, "ingest", "--unchecked", "--wait", "--json", "--nats", s.url)
		if bad.code != exit.Rejected {
			t.Fatalf("%s: %s", h.name, bad)
		}
		if d := decisions(t, bad.out); len(d) != 1 || d[0].Code != h.code {
			t.Errorf("%s: %s, want %s", h.name, bad.out, h.code)
		}
		next := fmt.Sprintf(`{"contract":"onboarding","principal":"buyer","command":{"type":"startRun","runId":"after-%d"}}`, i)
		if good := run(t, next, "ingest", "--wait", "--nats", s.url); good.code != 0 {
			t.Errorf("the command after %s: %s", h.name, good)
		}
	}
	// One megabyte is more than the inbox takes: there is no decision, and a clear error.
	huge := run(t, raw(strings.Repeat("[", 1<<20)), "ingest", "--unchecked", "--wait", "--nats", s.url)
	if huge.code != exit.Failure || !strings.Contains(huge.stderr, "line 1: ") || !strings.Contains(huge.stderr, "message size exceeds maximum allowed") {
		t.Errorf("a megabyte of brackets: %s", huge)
	}
	_, digest := refold(t, must(t, 0, "reducer", "export", "--nats", s.url))
	if got := digestOf(t, "--nats", s.url); got != digest {
		t.Errorf("the digest is %s, fold of the export says %s", got, digest)
	}
	must(t, 0, "reducer", "verify", "--nats", s.url)
}
