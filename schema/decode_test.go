package schema

import (
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestDecode(t *testing.T) {
	c, f := Decode([]byte(admitBody))
	if f != nil {
		t.Fatal(f)
	}
	want := &Admit{
		RunID: "run-000001", OperationID: "operation-000001", AttemptID: "attempt-000001", GrantID: "grant-000007", Subject: "agent-7",
		ApprovalID: "approval-000042", Amount: DecimalOf(2500), AuthorizationCheckedAt: DecimalOf(1767225600000), Policy: "ALLOW",
		MandatoryChecksOk: true,
		Action: Action{
			Capability: "crm.update", Resource: "crm/customers/000123",
			Payload:       `{"amount":12,"id":"customer-000123","note":"a short text of a few words","tags":["a","b","c"]}`,
			Preconditions: `{"etag":"W/5f3a9c","version":17}`,
		},
		Context: &Context{
			Actor: "agent-7", PolicyRevision: "policy-2026-01", DecisionClass: "DELEGATED", CorrelationID: "corr-000123",
			TraceID: "4bf92f3577b34da6a3ce929d0e0e4736", ParentSpanID: "00f067aa0ba902b7",
		},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("Decode = %+v, want %+v", c, want)
	}
}

// TestDecodeFaults gives the place and the words of some faults, and the order of the two codes.
func TestDecodeFaults(t *testing.T) {
	for _, c := range []struct{ body, code, pointer, message string }{
		{`null`, "SCHEMA_INVALID", "", "want an object, found null"},
		{` [{"type":"startRun"}]`, "SCHEMA_INVALID", "", "want an object, found an array"},
		{`{}`, "SCHEMA_INVALID", "/type", "type is missing"},
		{`{"a":{"type":"startRun"}}`, "SCHEMA_INVALID", "/type", "type is missing"},
		{`{"type":7}`, "SCHEMA_INVALID", "/type", "type: want a string, found a number"},
		{`{"type":"StartRun"}`, "SCHEMA_INVALID", "/type", "type: there is no such command"},
		{`{"Type":"startRun","runId":"r"}`, "SCHEMA_INVALID", "/type", "type is missing"},
		{`{"type":"startRun"}`, "SCHEMA_INVALID", "/runId", "runId is missing"},
		{`{"runId":null,"type":"startRun"}`, "SCHEMA_INVALID", "/runId", "runId: want a string, found null"},
		{`{"runId":"r","type":"startRun","x":1}`, "SCHEMA_INVALID", "/x", "x is no member here"},
		{`{"runId":"r","type":"startRun","` + strings.Repeat("x", 9999) + `":1}`, "SCHEMA_INVALID", "", strings.Repeat("x", 64) + "... is no member here"},
		{`{"RunId":"r","type":"startRun"}`, "SCHEMA_INVALID", "/RunId", "RunId is no member here"},
		{`{"state":"open","type":"missionState"}`, "SCHEMA_INVALID", "/state", "state: want one of OPEN, SUSPENDED, CLOSED"},
		{`{"runId":"r","to":"READY","type":"transition","context":[]}`, "SCHEMA_INVALID", "/context", "context: want an object, found an array"},
		{`{"runId":5,"type":"startRun","runId":5}`, "JSON_INVALID", "/runId", ""},
		{`{"runId":"r","type":"startRun","type":"startRun"}`, "JSON_INVALID", "/type", ""},
		{`{"runId":5,"type":"startRun","x":[1e999]}`, "JSON_INVALID", "/x/0", "the number is no finite float64"},
		{`{"runId":5,"type":"startRun","x":` + nest(512) + `}`, "JSON_INVALID", "/x" + strings.Repeat("/0", 511), "nested deeper than 512"},
		{`{"runId":5,"type":"startRun"`, "JSON_INVALID", "", ""},
		{`{"runId":5,"type":"startRun"} {}`, "JSON_INVALID", "", "something follows the JSON value"},
		{`{"type":"nothing","a":"` + "\xff" + `"}`, "JSON_INVALID", "/a", ""},
		{`{"type":"completeNode","runId":"r","nodeId":"n","result":{"a":1,"a":1}}`, "JSON_INVALID", "/result/a", ""},
		{`{"type":"completeNode","runId":"r","nodeId":"n","result":{"a":9007199254740992}}`, "JSON_INVALID", "/result/a", ""},
		{`{"type":"verify","runId":"r","assessor":"a","revision":"1","evidence":[],"rationale":"r","results":{"a":"PASS","a":"PASS"}}`, "JSON_INVALID", "/results/a", ""},
	} {
		_, f := Decode([]byte(c.body))
		if f == nil || f.Code != c.code || f.Pointer != c.pointer || c.message != "" && f.Message != c.message {
			t.Errorf("Decode(%.90s) = %v, want %s at %q: %s", c.body, f, c.code, c.pointer, c.message)
		}
	}
}

// TestDecodeFindsType wherever it is and however it is written.
func TestDecodeFindsType(t *testing.T) {
	for _, body := range []string{
		`{"runId":"r","type":"startRun"}`,
		`{"type":"startRun","runId":"r"}`,
		` { "runId" : "r" , "type" : "startRun" } `,
		`{"\u0074ype":"\u0073tartRun","runId":"r"}`,
		`{"runId":"r","type":"start\u0052un"}`,
		`{"runId":",\"type\":\"admit\"","type":"startRun"}`,
		`{"type":"startRun","runId":"type"}`,
	} {
		if c, f := Decode([]byte(body)); f != nil || c.Type() != "startRun" {
			t.Errorf("Decode(%s) = %v, %v", body, c, f)
		}
	}
}

// TestDecodeDepth: the limit counts from the body's own braces.
func TestDecodeDepth(t *testing.T) {
	for _, space := range []string{"", " "} {
		for depth, want := range map[int]bool{510: true, 511: false} {
			body := `{"type":"completeNode","runId":"r","nodeId":"n","result":{"a":` + space + nest(depth) + `}}`
			if _, f := Decode([]byte(body)); (f == nil) != want {
				t.Errorf("%d arrays in the result%s: %v", depth, space, f)
			}
		}
	}
}

// TestPinPlanForms tries every combination of the optional members with every form.
func TestPinPlanForms(t *testing.T) {
	o := newOracle(t)
	allowed := map[string][]string{
		"kxm.run-plan.v2":   {"identity"},
		"execution-plan.v1": {"admission"},
		"graph-plan.v1":     {"admission", "admission params"},
		"opaque":            {""},
		"other":             {},
	}
	for form, sets := range allowed {
		for mask := range 8 {
			var members []string
			body := `{"type":"pinPlan","runId":"r","planId":"p","document":null,"form":"` + form + `"`
			for i, name := range []string{"admission", "identity", "params"} {
				if mask&(1<<i) != 0 {
					members = append(members, name)
					body += `,"` + name + `":null`
				}
			}
			body += "}"
			want := false
			for _, set := range sets {
				want = want || set == strings.Join(members, " ")
			}
			if got := checkDecode(t, o, []byte(body)); got != want {
				t.Errorf("%s with %v: accepted is %v", form, members, got)
			}
		}
	}
	_, f := Decode([]byte(`{"type":"pinPlan","runId":"r","planId":"p","document":1,"form":"opaque","params":1}`))
	if f == nil || f.Pointer != "/params" || f.Message != "params: the form opaque does not take it" {
		t.Error(f)
	}
	_, f = Decode([]byte(`{"type":"pinPlan","runId":"r","planId":"p","document":1,"form":"graph-plan.v1"}`))
	if f == nil || f.Pointer != "/admission" || f.Message != "admission: the form graph-plan.v1 needs it" {
		t.Error(f)
	}
}

// TestOpenContractPolicy: what was left out stays apart from what is empty.
func TestOpenContractPolicy(t *testing.T) {
	o := newOracle(t)
	contract := `{"actions":[],"aiwsEdition":"0.4","budget":"1","criteria":[],"deadline":"1","features":[],"id":"c","maxAttempts":"1",` +
		`"maxAuthorizationAgeMs":"1","missionId":"m","profile":"finite-v1","requiresApproval":false,"resources":[]}`
	for policy, want := range map[string]bool{
		`{}`: true,
		`{"actFor":{},"allow":{},"clockSkewMs":"0","models":[],"requireGraph":false,"requirePinnedPlan":false,"separationOfDuties":true}`: true,
		`{"allow":{"admit":["a","a"],"openContract":[],"pinPlan":["b"]}}`:                                                                 true,
		`{"allow":{"Admit":["a"]}}`:                            false,
		`{"allow":{"admit":"a"}}`:                              false,
		`{"allow":{"admit":[""]}}`:                             false,
		`{"actFor":{"any one":["a"]}}`:                         true,
		`{"actFor":{"":["a"]}}`:                                false,
		`{"actFor":{"` + strings.Repeat("😀", 256) + `":[]}}`:   true,
		`{"actFor":{"` + strings.Repeat("😀", 257) + `":[]}}`:   false,
		`{"models":["` + strings.Repeat(`a","`, 1500) + `a"]}`: true,
		`{"models":null}`:                                      false,
		`{"requireGraph":"true"}`:                              false,
		`{"clockSkewMs":5}`:                                    false,
		`{"other":true}`:                                       false,
		`null`:                                                 false,
	} {
		body := `{"contract":` + contract + `,"policy":` + policy + `,"type":"openContract"}`
		if got := checkDecode(t, o, []byte(body)); got != want {
			t.Errorf("policy %.80s: accepted is %v", policy, got)
		}
	}
}

// TestDecodeKeepsNothing: a command does not change when its body does.
func TestDecodeKeepsNothing(t *testing.T) {
	for _, pad := range []int{0, maxShared} {
		body := []byte(strings.Replace(admitBody, "a short text", strings.Repeat("x", pad), 1))
		c, f := Decode(body)
		if f != nil {
			t.Fatal(f)
		}
		before := string(AppendRecord(nil, c))
		clear(body)
		if string(AppendRecord(nil, c)) != before {
			t.Error("the command shares memory with its body")
		}
	}
}

// TestStoredNumbers: our log may hold canonical numbers that no publisher may send.
func TestStoredNumbers(t *testing.T) {
	text := []byte(`{"capability":"c","payload":{"a":100000000000000000000},"preconditions":{},"resource":"r"}`)
	var a Action
	if err := DecodeRecord(text, &a); err != nil || string(AppendRecord(nil, &a)) != string(text) {
		t.Errorf("DecodeRecord: %v, %+v", err, a)
	}
	if _, err := Canonical(text); err == nil {
		t.Error("Canonical takes an integer beyond 2^53-1")
	}
}

// TestDecodeTogether: decoders borrow their tools from each other.
func TestDecodeTogether(t *testing.T) {
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				c, f := Decode([]byte(admitBody))
				if f != nil || string(AppendRecord(nil, c)) != admitBody {
					t.Error(f)
				}
				_, _ = Decode([]byte(`{"type":"startRun","runId":`))
			}
		})
	}
	wait.Wait()
}

func TestDecodeAllocations(t *testing.T) {
	body := []byte(admitBody)
	c, _ := Decode(body)
	if n := testing.AllocsPerRun(100, func() { _, _ = Decode(body) }); n > 8 {
		t.Errorf("Decode makes %v allocations, want at most 8", n)
	}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { AppendRecord(buf, c) }); n > 0 {
		t.Errorf("AppendRecord makes %v allocations, want none", n)
	}
}
