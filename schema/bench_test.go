package schema

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

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

func BenchmarkDecodeAdmit(b *testing.B) { benchmarkDecode(b, []byte(admitBody)) }

// BenchmarkDecodeAdmitUnsorted has the type first, a space, and a payload out of order.
func BenchmarkDecodeAdmitUnsorted(b *testing.B) {
	text := strings.Replace(admitBody, `{"amount":12,"id":"customer-000123",`, `{"id":"customer-000123","amount":12,`, 1)
	text = `{"type": "admit",` + strings.TrimSuffix(text[1:], `,"type":"admit"}`) + "}"
	benchmarkDecode(b, []byte(text))
}

func benchmarkDecode(b *testing.B, body []byte) {
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, f := Decode(body); f != nil {
			b.Fatal(f)
		}
	}
}

// admitShape is what encoding/json needs to read the same body. It checks little of what Decode checks.
type admitShape struct {
	Action struct {
		Capability             string
		Payload, Preconditions json.RawMessage
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
		if err := json.Unmarshal(body, &v); err != nil {
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
