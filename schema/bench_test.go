package schema

import (
	"bytes"
	stdjson "encoding/json"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// admitBody is a canonical admit of 700 bytes, the command that there are most of.
const admitBody = `{"action":{"capability":"crm.update","payload":{"amount":12,"id":"customer-000123",` +
	`"note":"a short text of a few words","tags":["a","b","c"]},"preconditions":{"etag":"W/5f3a9c","version":17},` +
	`"resource":"crm/customers/000123"},"amount":"2500","approvalId":"approval-000042","attemptId":"attempt-000001",` +
	`"authorizationCheckedAt":"1767225600000","context":{"actor":"agent-7","correlationId":"corr-000123",` +
	`"decisionClass":"DELEGATED","parentSpanId":"00f067aa0ba902b7","policyRevision":"policy-2026-01",` +
	`"traceId":"4bf92f3577b34da6a3ce929d0e0e4736"},"grantId":"grant-000007","mandatoryChecksOk":true,` +
	`"operationId":"operation-000001","policy":"ALLOW","runId":"run-000001","subject":"agent-7","type":"admit"}`

func BenchmarkDecodeAdmit(b *testing.B) {
	body := []byte(admitBody)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, f := Decode(body); f != nil {
			b.Fatal(f)
		}
	}
}

// BenchmarkDecodeAdmitUnsorted has the members in another order, and spaces.
func BenchmarkDecodeAdmitUnsorted(b *testing.B) {
	var object map[string]any
	if err := json.Unmarshal([]byte(admitBody), &object); err != nil {
		b.Fatal(err)
	}
	body := []byte(`{"type": "admit"`)
	for name, value := range object {
		if name != "type" {
			text, _ := json.Marshal(value)
			body = append(append(append(append(body, `, "`...), name...), `": `...), text...)
		}
	}
	body = append(body, '}')
	b.ReportAllocs()
	for b.Loop() {
		if _, f := Decode(body); f != nil {
			b.Fatal(f)
		}
	}
}

// admitShape is what encoding/json and json/v2 need to read the same body. Neither checks what Decode checks.
type admitShape struct {
	Action struct {
		Capability             string
		Payload, Preconditions stdjson.RawMessage
		Resource               string
	}
	Amount, ApprovalID, AttemptID, AuthorizationCheckedAt string
	Context                                               *Context
	GrantID                                               string
	MandatoryChecksOK                                     bool
	OperationID, Policy, RunID, Subject, Type             string
}

func BenchmarkEncodingJSONAdmit(b *testing.B) {
	body := []byte(admitBody)
	b.ReportAllocs()
	for b.Loop() {
		var v admitShape
		if err := stdjson.Unmarshal(body, &v); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkJSONSchemaAdmit(b *testing.B) {
	body := []byte(admitBody)
	s := compile(b, "urn:aiws:wire:0.4")
	b.ReportAllocs()
	for b.Loop() {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil || s.Validate(v) != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendAdmit(b *testing.B) {
	c, f := Decode([]byte(admitBody))
	if f != nil {
		b.Fatal(f)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendRecord(buf[:0], c)
	}
}

func BenchmarkFingerprint(b *testing.B) {
	c, f := Decode([]byte(admitBody))
	if f != nil {
		b.Fatal(f)
	}
	b.ReportAllocs()
	for b.Loop() {
		Fingerprint(&c.(*Admit).Action)
	}
}

func compile(tb testing.TB, urn string) *jsonschema.Schema {
	tb.Helper()
	c := jsonschema.NewCompiler()
	for id, text := range map[string][]byte{"urn:aiws:wire:0.4": AIWS, "urn:aiws-reducer:host:1": Host} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			tb.Fatal(err)
		}
		if err := c.AddResource(id, doc); err != nil {
			tb.Fatal(err)
		}
	}
	s, err := c.Compile(urn)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}
