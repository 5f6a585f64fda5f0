package wire

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

func TestSubjects(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Get.Subject("c.1"), "aiws.q.c=2E1.get"},
		{Get.Pattern(), "aiws.q.*.get"},
		{Status.Subject("ignored"), "aiws.q.status"},
		{Submit.Pattern(), "aiws.submit.*.*.*"},
		{SubmitSubject(schema.Subject{Contract: "c1", Principal: "a b", Type: "admit"}), "aiws.submit.c1.a=20b.admit"},
		{Filter("c.1", "runs"), "$KV.aiws.c=2E1.runs.>"},
		{Filter("", "runs"), "$KV.aiws.*.runs.>"},
		{Filter("", ""), "$KV.aiws.*.*.>"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if contract, ok := QueryContract("aiws.q.c=2E1.get"); !ok || contract != "c.1" {
		t.Error(contract, ok)
	}
	for _, bad := range []string{"aiws.q.status", "aiws.x.c1.get", "aiws.q.c=2e1.get"} {
		if contract, ok := QueryContract(bad); ok {
			t.Errorf("%s names the contract %q", bad, contract)
		}
	}
	if subject, ok := SubmitFor("aiws.cmd.c1.a=20b.admit"); !ok || subject != "aiws.submit.c1.a=20b.admit" {
		t.Error(subject, ok)
	}
	for _, bad := range []string{"aiws.cmd.c1.a", "aiws.cmd.c1.a.admit.x", "other.c1.a.admit"} {
		if subject, ok := SubmitFor(bad); ok {
			t.Errorf("%s is submitted at %s", bad, subject)
		}
	}
	if subject, ok := CommandSubject("aiws.submit.c1.a=20b.admit"); !ok || subject != "aiws.cmd.c1.a=20b.admit" {
		t.Error(subject, ok)
	}
}

func TestKeys(t *testing.T) {
	long := strings.Repeat("=", 100) // 300 bytes encoded
	for _, c := range []struct {
		contract, projection, key, want string
	}{
		{"c1", "runs", "r.1", "c1.runs.r=2E1"},
		{"c1", "exposure", "contract/c1", "c1.exposure.contract.c1"},
		{"c1", "exposure", "grant/g/1", "c1.exposure.grant.g=2F1"},
		{"c1", "attempts", long, "c1.attempts." + schema.KVToken(long)},
	} {
		got := Key(c.contract, c.projection, c.key)
		if got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
		back, ok := ParseKey(got)
		if !ok || back.Contract != c.contract || back.Projection != c.projection || back.ContractHashed || back.KeyHashed != (c.key == long) {
			t.Errorf("%s reads as %+v, %v", got, back, ok)
		}
		if !back.KeyHashed && back.Key != c.key {
			t.Errorf("%s is the key %q", got, back.Key)
		}
	}
	for _, no := range []string{"_cursor.0", "c1.runs", "c1.decisions.7", "c1.runs.a.b", "c1.exposure.g1", "c1.exposure.other.g1"} {
		if p, ok := ParseKey(no); ok {
			t.Errorf("%s reads as %+v", no, p)
		}
	}
}

func TestRow(t *testing.T) {
	value := AppendRow(nil, 7, 3, schema.DecimalOf(1234), schema.Value(`{"a":1}`))
	if want := `{"at":"1234","block":3,"row":{"a":1},"seq":7,"v":1}`; string(value) != want {
		t.Fatalf("got %s, want %s", value, want)
	}
	r, err := ParseRow(value)
	if err != nil || r.Seq != 7 || r.Block != 3 || r.At != "1234" || string(r.Row) != `{"a":1}` {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := ParseRow([]byte(`{"v":2}`)); err == nil {
		t.Error("took another version")
	}
}

func TestDecode(t *testing.T) {
	var r ListRequest
	if err := Decode([]byte(` {"projection":"runs","limit":5} `), &r); err != nil || r.Projection != "runs" || r.Limit != 5 {
		t.Error(r, err)
	}
	if err := Decode(nil, &StatusRequest{}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{`{"Limit":5`, `{"limits":5}`, `{"limit":5,"limit":6}`, `{"limit":"5"}`, `[]`, `{}{}`, "\xff"} {
		var e *Error
		if err := Decode([]byte(bad), &ListRequest{}); !errors.As(err, &e) || e.Code != BadRequest {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestSchemas: each endpoint has its schemas, and they list exactly the members
// of the types here.
func TestSchemas(t *testing.T) {
	for _, e := range []Endpoint{Get, List, Decision, Plan, Changes, History, ListUnsettled, Status, Digest, Contracts, Heads, MakeCheckpoint, Rows, Submit} {
		request, response, err := EndpointSchemas(e)
		if err != nil || strings.Contains(request+response, "$ref") {
			t.Errorf("%s: %v\n%s\n%s", e, err, request, response)
		}
	}
	for name, value := range map[string]any{
		"GetRequest": GetRequest{}, "GetResponse": GetResponse{}, "ListRequest": ListRequest{}, "ListResponse": ListResponse{},
		"DecisionRequest": DecisionRequest{}, "DecisionResponse": DecisionResponse{}, "PlanRequest": PlanRequest{}, "PlanResponse": PlanResponse{},
		"HistoryRequest": HistoryRequest{}, "HistoryResponse": HistoryResponse{}, "UnsettledRequest": UnsettledRequest{}, "UnsettledResponse": UnsettledResponse{},
		"ChangesRequest": ChangesRequest{}, "ChangesResponse": ChangesResponse{}, "RowChange": RowChange{},
		"ContractsRequest": ContractsRequest{}, "StatusRequest": StatusRequest{}, "StatusResponse": StatusResponse{},
		"DigestRequest": DigestRequest{}, "DigestResponse": DigestResponse{}, "Error": Error{}, "MirroredRow": Row{}, "MirrorCursor": Cursor{},
		"Document": Document{}, "AsOf": AsOf{},
	} {
		text, err := Schema(name)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Properties map[string]any `json:"properties"`
			Required   []string       `json:"required"`
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		typ := reflect.TypeOf(value)
		for i := range typ.NumField() {
			member, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
			if _, ok := s.Properties[member]; !ok {
				t.Errorf("%s: the schema lacks %s", name, member)
			}
			delete(s.Properties, member)
			required := false
			for _, r := range s.Required {
				required = required || r == member
			}
			if required == (options == "omitempty") {
				t.Errorf("%s: %s is required %v and written %q", name, member, required, options)
			}
		}
		if len(s.Properties) > 0 {
			t.Errorf("%s: the schema has more: %v", name, s.Properties)
		}
	}
}
