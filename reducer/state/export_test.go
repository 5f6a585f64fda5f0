package state

import (
	"fmt"
	"reflect"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// What the tests of the package's outside see of its rows.

// WireRow is a sample row as it is stored.
type WireRow struct {
	Name       string
	Key, Value []byte
}

// rowNames are all kinds of rows, in the order of the kinds in key.go.
var rowNames = []struct {
	kind  byte
	name  string
	parts []string
}{
	{kindTerms, "terms", []string{"c"}},
	{kindLedger, "ledger", []string{"c"}},
	{kindExposure, "exposure", []string{"c"}},
	{kindRun, "run", []string{"c", "r"}},
	{kindSegment, "segment", []string{"c", "r", "second"}},
	{kindWorker, "worker", []string{"c", "r", "agent"}},
	{kindPlan, "plan", []string{"c", "r", "p"}},
	{kindGrantTerms, "grantTerms", []string{"c", "g"}},
	{kindGrant, "grant", []string{"c", "g"}},
	{kindApproval, "approval", []string{"c", "ok"}},
	{kindOperation, "operation", []string{"c", "o"}},
	{kindAction, "action", []string{"c", "o"}},
	{kindAttempt, "attempt", []string{"c", "o-1"}},
	{kindReport, "report", []string{"c", "o-1", "UNKNOWN", "5"}},
	{kindUnresolved, "unresolved", []string{"c", "r", "sha256:ab"}},
	{kindWait, "wait", []string{"c", "w\x00é"}},
	{kindPendingWait, "pendingWait", []string{"c", "r", decimalPart(schema.DecimalOf(2000)), "w"}},
	{kindVerification, "verification", []string{"c", "r", "v1"}},
	{kindDependent, "dependent", []string{"c", "part", "r"}},
	{kindTriggerTerms, "triggerTerms", []string{"c", "t"}},
	{kindTrigger, "trigger", []string{"c", "t"}},
	{kindFiring, "firing", []string{"c", "t", sequencePart(7)}},
	{kindEvent, "event", []string{"c", "t", "e1"}},
	{kindGraph, "graph", []string{"c", "g"}},
	{kindNode, "node", []string{"c", "r", "work"}},
	{kindReceipt, "receipt", []string{"c", "agent", "01J"}},
	{kindDecision, "decision", []string{"c", sequencePart(300)}},
	{kindDue, "due", []string{decimalPart(schema.DecimalOf(900)), "c", DueTrigger, "t"}},
}

var sampleMeta = Meta{CommandSeq: 300, LogSeq: 70_000, At: schema.DecimalOf(1_767_225_600_000)}

// WireRows are sample rows of every kind, each field set.
func WireRows() []WireRow {
	var rows []WireRow
	for _, n := range rowNames {
		r := newRow(n.kind)
		value := []byte{rowVersion}
		if _, isSet := r.(*setMember); !isSet {
			fill(reflect.ValueOf(r).Elem(), n.name)
			setText(r)
			value = appendRow(nil, &sampleMeta, r)
		}
		rows = append(rows, WireRow{n.name, appendKey(nil, n.kind, n.parts...), value})
	}
	return rows
}

// Reencode decodes a row and encodes it again.
func Reencode(key, value []byte) ([]byte, error) {
	if len(key) == 0 {
		return nil, errKey
	}
	r := newRow(key[0])
	if r == nil {
		return nil, fmt.Errorf("no kind %q", key[0])
	}
	if _, isSet := r.(*setMember); isSet {
		return []byte{rowVersion}, nil
	}
	var meta Meta
	if err := decodeRow(value, &meta, r); err != nil {
		return nil, err
	}
	return appendRow(nil, &meta, r), nil
}

// Kinds are the kinds of rows that newRow knows.
func Kinds() []byte {
	var kinds []byte
	for kind := range 256 {
		if newRow(byte(kind)) != nil {
			kinds = append(kinds, byte(kind))
		}
	}
	return kinds
}

var decimalType = reflect.TypeOf(schema.Decimal{})

// fill sets every field that is exported to something that is not zero.
func fill(v reflect.Value, name string) {
	switch {
	case v.Type() == decimalType:
		v.Set(reflect.ValueOf(schema.MustDecimal("18446744073709551617")))
	case v.Kind() == reflect.String:
		v.SetString(name)
	case v.Kind() == reflect.Int64:
		v.SetInt(int64(len(name)) * 100)
	case v.Kind() == reflect.Uint64:
		v.SetUint(uint64(len(name)) * 1000)
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), name)
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), name+"1")
		fill(v.Index(1), name+"2")
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				fill(v.Field(i), field.Name)
			}
		}
	}
}

// setText sets the rows that are a text in canonical JSON.
func setText(r row) {
	switch r := r.(type) {
	case *Terms:
		r.text = recordText(&events.ContractOpened{By: "owner", Contract: schema.Contract{ID: "c", MissionID: "m"}})
	case *GrantTerms:
		r.text = recordText(&schema.Grant{ID: "g", Subject: "agent", Profile: schema.Profile})
	case *TriggerTerms:
		r.text = recordText(&schema.Trigger{
			ID: "t", Revision: "1", Kind: "EVENT", Source: "s", EventType: "e", ContractID: "c", Action: "START_RUN",
		})
	case *Graph:
		r.text = recordText(&schema.Graph{
			ID: "g", Revision: "1", Nodes: []schema.Node{{ID: "end", Kind: events.NodeEnd, Config: "{}"}},
		})
	}
}

// Spoilt is a row with one field changed.
type Spoilt struct {
	Field string // Type.Field
	Value []byte
}

// Spoil changes each field of a stored row, one at a time.
func Spoil(key, value []byte) []Spoilt {
	r := newRow(key[0])
	var meta Meta
	if _, isSet := r.(*setMember); isSet || decodeRow(value, &meta, r) != nil {
		return nil
	}
	var all []Spoilt
	each(reflect.ValueOf(r).Elem(), reflect.TypeOf(r).Elem().Name(), func(name string) {
		all = append(all, Spoilt{name, appendRow(nil, &meta, r)})
	})
	return all
}

// each changes every exported field in turn, calls f and puts it back.
func each(v reflect.Value, name string, f func(name string)) {
	if v.Kind() == reflect.Struct && v.Type() != decimalType {
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				each(v.Field(i), name+"."+field.Name, f)
			}
		}
		return
	}
	before := reflect.New(v.Type()).Elem()
	before.Set(v)
	switch {
	case v.Type() == decimalType:
		v.Set(reflect.ValueOf(v.Interface().(schema.Decimal).Add(one)))
	case v.Kind() == reflect.String:
		v.SetString(v.String() + "~")
	case v.Kind() == reflect.Int64:
		v.SetInt(v.Int() + 1)
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Kind() == reflect.Pointer && v.IsNil():
		v.Set(reflect.New(v.Type().Elem()))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.Zero(v.Type()))
	default:
		return
	}
	f(name)
	v.Set(before)
}
