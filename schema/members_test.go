package schema

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// wireRecords are the records that the schema files define, by their name there; the commands come on top.
var wireRecords = map[string]Record{
	"Contract": new(Contract), "Grant": new(Grant), "Approval": new(Approval), "Action": new(Action), "Trigger": new(Trigger),
	"TriggerEvent": new(TriggerEvent), "Node": new(Node), "Graph": new(Graph), "Context": new(Context), "Policy": new(Policy),
}

// slotsOf returns what a record's Members lists.
func slotsOf(r Record) []slot {
	m := new(Members)
	r.Members(m)
	return m.slots
}

// TestMembersAreTheSchema compares every record's list of members with its definition: names, which are required, kinds and
// bounds. It fails where a definition has no record.
func TestMembersAreTheSchema(t *testing.T) {
	records := maps.Clone(wireRecords)
	for _, kind := range CommandTypes {
		records[kind] = newCommand(kind)
	}
	defs := parseSchema(t, AIWS)["$defs"].(object)
	maps.Copy(defs, parseSchema(t, Host)["$defs"].(object))
	for _, name := range []string{"Command", "Id", "Decimal", "Principals", "CommandType"} {
		delete(defs, name) // no records
	}
	if got, want := slices.Sorted(maps.Keys(records)), slices.Sorted(maps.Keys(defs)); !slices.Equal(got, want) {
		t.Fatalf("records %v\nschema  %v", got, want)
	}
	for name, r := range records {
		compareRecord(t, name, r, defs[name].(object))
	}
	trigger := defs["Trigger"].(object)["properties"].(object)
	compareRecord(t, "schedule", new(Schedule), trigger["schedule"].(object))
	compareRecord(t, "filter", new(Filter), trigger["filter"].(object))
}

func compareRecord(t *testing.T, name string, r Record, def object) {
	t.Helper()
	properties := def["properties"].(object)
	required, _ := def["required"].([]any)
	slots := slotsOf(r)
	if !slotsAreSorted(slots) {
		t.Errorf("%s: the members are not in canonical order", name)
	}
	if len(slots) != len(properties) {
		t.Errorf("%s: %d members, the schema has %d", name, len(slots), len(properties))
	}
	for _, s := range slots {
		p, ok := properties[s.name].(object)
		if !ok {
			t.Errorf("%s.%s: not in the schema", name, s.name)
			continue
		}
		if s.optional == slices.Contains(required, any(s.name)) {
			t.Errorf("%s.%s: optional is %v", name, s.name, s.optional)
		}
		if got, want := slotShape(s), schemaShape(p); got != want {
			t.Errorf("%s.%s: reads %s, the schema wants %s", name, s.name, got, want)
		}
	}
}

// slotShape says in words what a slot admits, and schemaShape says the same of a schema.
func slotShape(s slot) string {
	switch s.kind {
	case kindID:
		return "id"
	case kindHex:
		return fmt.Sprintf("^[0-9a-f]{%d}$", s.max)
	case kindEnum:
		return "one of " + strings.Join(s.allowed, " ")
	case kindConst:
		return "const " + s.word
	case kindDecimal:
		return "decimal"
	case kindBool:
		return "boolean"
	case kindIDs:
		return fmt.Sprintf("unique ids, at most %d", s.max)
	case kindIDList:
		return "ids"
	case kindEnums:
		return "unique of " + strings.Join(s.allowed, " ")
	case kindObject:
		return "object"
	case kindAny:
		return "any"
	case kindVerdicts:
		return "object to one of " + strings.Join(s.allowed, " ")
	case kindLists:
		return "object to ids"
	case kindRecords:
		return fmt.Sprintf("%d to %d records", s.min, s.max)
	case kindRecord:
		return "record"
	}
	return fmt.Sprintf("kind %d", s.kind)
}

func schemaShape(p object) string {
	ref, _ := p["$ref"].(string)
	switch ref = ref[strings.LastIndex(ref, "/")+1:]; ref {
	case "":
	case "Decimal":
		return "decimal"
	case "Id":
		return "id"
	case "Principals":
		return "ids"
	default:
		return "record"
	}
	if word, ok := p["const"]; ok {
		return fmt.Sprint("const ", word)
	}
	if list, ok := p["enum"]; ok {
		return "one of " + words(list)
	}
	pattern, _ := p["pattern"].(string)
	items, _ := p["items"].(object)
	more, open := p["additionalProperties"].(object)
	switch {
	case strings.HasPrefix(pattern, "^(0") && p["maxLength"] == 100.0:
		return "decimal"
	case pattern != "":
		return pattern
	case p["type"] == "string" && p["minLength"] == 1.0 && p["maxLength"] == 256.0:
		return "id"
	case p["type"] == "array" && items["$ref"] != nil:
		return fmt.Sprintf("%v to %v records", p["minItems"], p["maxItems"])
	case p["type"] == "array" && items["enum"] != nil && p["uniqueItems"] == true:
		return "unique of " + words(items["enum"])
	case p["type"] == "array" && p["uniqueItems"] == true:
		return fmt.Sprintf("unique %ss, at most %v", schemaShape(items), p["maxItems"])
	case p["type"] == "object" && open:
		return "object to " + schemaShape(more)
	case p["type"] == "object" && p["properties"] != nil:
		return "record"
	case p["type"] == "object":
		return "object"
	case p["type"] == "boolean":
		return "boolean"
	case len(p) == 0:
		return "any"
	}
	return fmt.Sprint(p)
}

func words(list any) string {
	var b []string
	for _, w := range list.([]any) {
		b = append(b, w.(string))
	}
	return strings.Join(b, " ")
}

// TestCommandTypes: one list of names, in the schemas' order, and each name makes its command.
func TestCommandTypes(t *testing.T) {
	wire := parseSchema(t, AIWS)["$defs"].(object)["Command"].(object)["properties"].(object)["type"].(object)["enum"]
	host := parseSchema(t, Host)["$defs"].(object)
	own := host["Command"].(object)["properties"].(object)["type"].(object)["enum"]
	want := words(wire) + " " + words(own)
	if got := strings.Join(CommandTypes, " "); got != want {
		t.Errorf("CommandTypes are %s, want %s", got, want)
	}
	if got := words(host["CommandType"].(object)["enum"]); got != want {
		t.Errorf("host.json allows %s, want %s", got, want)
	}
	for _, kind := range CommandTypes {
		c := newCommand(kind)
		if c == nil || c.Type() != kind || !IsCommandType(kind) || c.Ctx() != nil {
			t.Errorf("newCommand(%q) = %T", kind, c)
			continue
		}
		context := &Context{Actor: "a"}
		reflect.ValueOf(c).Elem().FieldByName("Context").Set(reflect.ValueOf(context))
		if c.Ctx() != context {
			t.Errorf("%T.Ctx does not return the context", c)
		}
	}
	for _, kind := range []string{"", "Admit", "admit ", "issueGrant"} {
		if IsCommandType(kind) {
			t.Errorf("IsCommandType(%q)", kind)
		}
	}
}

// everything is a record with a member of every kind, our own records' among them.
type everything struct {
	any, optAny, object, optObject Value
	bool, flag                     bool
	optBool                        *bool
	decimal, sum                   Decimal
	optDecimal, optSum             *Decimal
	enum, optEnum, hex, optHex     string
	id, optID, text, optText       string
	enums, idList, ids             []string
	optIDList                      *[]string
	int, optInt                    int64
	lists                          []PrincipalList
	optLists                       *[]PrincipalList
	record                         Approval
	optRecord                      *Approval
	records                        []Approval
	verdicts                       []Verdict
}

func (e *everything) Members(m *Members) {
	m.Any("any", &e.any)
	m.Bool("bool", &e.bool)
	m.Const("const", "always")
	m.Decimal("decimal", &e.decimal)
	m.Enum("enum", &e.enum, JoinModes)
	m.Enums("enums", &e.enums, JoinModes)
	m.Flag("flag", &e.flag)
	m.Hex("hex", &e.hex, 4)
	m.ID("id", &e.id)
	m.IDList("idList", &e.idList)
	m.IDs("ids", &e.ids)
	m.Int("int", &e.int)
	m.Lists("lists", &e.lists, ValidID)
	m.Object("object", &e.object)
	m.OptAny("optAny", &e.optAny)
	m.OptBool("optBool", &e.optBool)
	m.OptDecimal("optDecimal", &e.optDecimal)
	m.OptEnum("optEnum", &e.optEnum, JoinModes)
	m.OptHex("optHex", &e.optHex, 4)
	m.OptID("optID", &e.optID)
	m.OptIDList("optIDList", &e.optIDList)
	m.OptInt("optInt", &e.optInt)
	m.OptLists("optLists", &e.optLists, ValidID)
	m.OptObject("optObject", &e.optObject)
	OptRecord(m, "optRecord", &e.optRecord)
	m.OptSum("optSum", &e.optSum)
	m.OptText("optText", &e.optText)
	m.Record("record", &e.record)
	Records(m, "records", &e.records, 0, 2)
	m.Sum("sum", &e.sum)
	m.Text("text", &e.text)
	m.Verdicts("verdicts", &e.verdicts)
}

const (
	approvalText = `{"approver":"p","expiresAt":"9","fingerprint":"f","id":"a","runId":"r","uses":"1"}`
	leastText    = `{"any":null,"bool":false,"const":"always","decimal":"0","enum":"ALL","enums":[],"hex":"00ff","id":"i","idList":[],` +
		`"ids":[],"int":0,"lists":{},"object":{},"record":` + approvalText + `,"records":[],"sum":"0","text":"","verdicts":{}}`
	mostText = `{"any":[1],"bool":true,"const":"always","decimal":"1","enum":"ANY","enums":["ANY","ALL"],"flag":true,"hex":"00ff","id":"i",` +
		`"idList":["b","a","b"],"ids":["b","a"],"int":9007199254740991,"lists":{"k":["p","p"],"m":[]},"object":{"a":1e+21},"optAny":null,` +
		`"optBool":false,"optDecimal":"0","optEnum":"ALL","optHex":"abcd","optID":"o","optIDList":[],"optInt":1,"optLists":{},` +
		`"optObject":{},"optRecord":` + approvalText + `,"optSum":"0","optText":"t","record":` + approvalText + `,"records":[` + approvalText +
		`,` + approvalText + `],"sum":"1","text":"t","verdicts":{"a":"PASS","b":"FAIL"}}`
)

// TestEveryKind reads and writes a member of every kind, absent and present.
func TestEveryKind(t *testing.T) {
	for _, text := range []string{leastText, mostText} {
		var e everything
		if err := DecodeRecord([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if got := AppendRecord(nil, &e); string(got) != text {
			t.Errorf("decoded and written again:\n%s, want\n%s", got, text)
		}
	}
	var e everything
	if err := DecodeRecord([]byte(strings.Replace(mostText, `"sum":"1"`, `"sum":"`+strings.Repeat("9", 101)+`"`, 1)), &e); err != nil {
		t.Error(err)
	}
	if !slotsAreSorted(slotsOf(&e)) {
		t.Error("the members of this test are not in canonical order")
	}
}

func slotsAreSorted(slots []slot) bool {
	return slices.IsSortedFunc(slots, func(a, b slot) int { return compareNames(a.name, b.name) })
}

// TestEveryKindRefuses spoils one member at a time.
func TestEveryKindRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, pointer string }{
		{`"any":[1],`, ``, "/any"},
		{`"bool":true`, `"bool":1`, "/bool"},
		{`"bool":true`, `"bool":null`, "/bool"},
		{`"const":"always"`, `"const":"Always"`, "/const"},
		{`"decimal":"1"`, `"decimal":1`, "/decimal"},
		{`"decimal":"1"`, `"decimal":"` + strings.Repeat("1", 101) + `"`, "/decimal"},
		{`"enum":"ANY"`, `"enum":"any"`, "/enum"},
		{`"enums":["ANY","ALL"]`, `"enums":["ANY","ANY"]`, "/enums"},
		{`"enums":["ANY","ALL"]`, `"enums":["NONE"]`, "/enums/0"},
		{`"flag":true`, `"flag":false`, "/flag"},
		{`"hex":"00ff"`, `"hex":"00fF"`, "/hex"},
		{`"hex":"00ff"`, `"hex":"00ff0"`, "/hex"},
		{`"id":"i"`, `"id":""`, "/id"},
		{`"id":"i"`, `"id":"` + strings.Repeat("é", 257) + `"`, "/id"},
		{`"id":"i"`, `"id":"i","id":"i"`, "/id"},
		{`"idList":["b","a","b"]`, `"idList":["b",""]`, "/idList/1"},
		{`"ids":["b","a"]`, `"ids":["b","a","b"]`, "/ids"},
		{`"ids":["b","a"]`, `"ids":["b",null]`, "/ids/1"},
		{`"ids":["b","a"]`, `"ids":{}`, "/ids"},
		{`"int":9007199254740991`, `"int":-1`, "/int"},
		{`"int":9007199254740991`, `"int":1.0`, "/int"},
		{`"int":9007199254740991`, `"int":9007199254740992`, "/int"},
		{`"int":9007199254740991`, `"int":"1"`, "/int"},
		{`"lists":{"k":["p","p"]`, `"lists":{"":["p","p"]`, "/lists/"},
		{`"lists":{"k":["p","p"]`, `"lists":{"k":["p",1]`, "/lists/k/1"},
		{`"object":{"a":1e+21}`, `"object":[]`, "/object"},
		{`"optInt":1`, `"optInt":0`, "/optInt"},
		{`"optText":"t"`, `"optText":""`, "/optText"},
		{`"optSum":"0"`, `"optSum":null`, "/optSum"},
		{`"optRecord":{"approver":"p"`, `"optRecord":{"approver":5`, "/optRecord/approver"},
		{`"optRecord":{"approver":"p",`, `"optRecord":{`, "/optRecord/approver"},
		{`"record":{"approver":"p"`, `"record":{"a/b~":1,"approver":"p"`, "/record/a~1b~0"},
		{`"records":[`, `"records":[` + approvalText + `,`, "/records"},
		{`"records":[`, `"records":[{},`, "/records/0/approver"},
		{`"records":[`, `"records":[0,`, "/records/0"},
		{`"verdicts":{"a":"PASS"`, `"verdicts":{"a":"PASSED"`, "/verdicts/a"},
		{`"verdicts":{"a":"PASS"`, `"verdicts":{"a":true`, "/verdicts/a"},
	} {
		text := strings.Replace(mostText, c.old, c.new, 1)
		if text == mostText {
			t.Errorf("%s is not in the text", c.old)
		}
		err := DecodeRecord([]byte(text), new(everything))
		f, ok := errors.AsType[*Fault](err)
		if c.old == `"id":"i"` && strings.Count(c.new, "id") > 1 {
			if !ok || f.Code != CodeJSONInvalid {
				t.Errorf("%s: %v, want JSON_INVALID", c.new, err)
			}
			continue
		}
		if !ok || f.Code != CodeSchemaInvalid || f.Pointer != c.pointer {
			t.Errorf("%s: %v, want SCHEMA_INVALID at %s", c.new, err, c.pointer)
		}
	}
}

// TestListBound: 1000 elements are the most of a list on the wire, wherever the first fault is.
func TestListBound(t *testing.T) {
	for n, want := range map[int]bool{999: true, 1000: true, 1001: false} {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprint("id-", i)
		}
		join := Join{RunID: "r", WaitIDs: ids, Mode: "ALL"}
		if _, f := Decode(AppendRecord(nil, &join)); (f == nil) != want || f != nil && f.Pointer != "/waitIds" {
			t.Errorf("%d ids: %v", n, f)
		}
		graph := RegisterGraph{Graph: Graph{ID: "g", Revision: "1", Nodes: make([]Node, n)}}
		for i := range graph.Graph.Nodes {
			graph.Graph.Nodes[i] = Node{ID: "n", Kind: "END", Config: "{}"}
		}
		if _, f := Decode(AppendRecord(nil, &graph)); (f == nil) != want || f != nil && f.Pointer != "/graph/nodes" {
			t.Errorf("%d nodes: %v", n, f)
		}
	}
}
