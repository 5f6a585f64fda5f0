package reducertest

import (
	"reflect"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// spoil changes who sends a command, or one of its members.
func (g *Generator) spoil(l *memory, command schema.Command, principal string) string {
	if g.chance(25) {
		return g.pick(append(people, "stranger", "\x00", strings.Repeat("é", 100))...)
	}
	if g.chance(15) {
		context := &schema.Context{Actor: principal, PolicyRevision: "1", DecisionClass: g.pick(schema.DecisionClasses...)}
		if field := reflect.ValueOf(command).Elem().FieldByName("Context"); field.IsValid() {
			field.Set(reflect.ValueOf(context))
		}
		return principal
	}
	var leaves []reflect.Value
	collect(reflect.ValueOf(command).Elem(), &leaves)
	if len(leaves) > 0 {
		g.change(l, leaves[g.rng.IntN(len(leaves))])
	}
	return principal
}

var decimalType = reflect.TypeOf(schema.Decimal{})

// collect finds the members of a command that hold one value.
func collect(v reflect.Value, leaves *[]reflect.Value) {
	switch {
	case v.Type() == decimalType, v.Kind() == reflect.Bool, v.Kind() == reflect.String:
		*leaves = append(*leaves, v)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			collect(v.Field(i), leaves)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		collect(v.Elem(), leaves)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), leaves)
		}
	}
}

func (g *Generator) change(l *memory, v reflect.Value) {
	switch {
	case v.Type() == decimalType:
		v.Set(reflect.ValueOf(schema.MustDecimal(g.pick("0", "1", "2", "33", g.from(-500, 500).String(), strings.Repeat("9", 100)))))
	case v.Kind() == reflect.Bool:
		v.SetBool(!v.Bool())
	case v.Type() == reflect.TypeOf(schema.Value("")):
		v.SetString(g.pick(`{}`, `{"waitId":"none"}`, `{"selected":["n1"],"iterations":1,"x":[null,1e+300,"é"]}`))
	default:
		v.SetString(g.someID(l))
	}
}

// someID is an id of something, mostly of another kind than is wanted.
func (g *Generator) someID(l *memory) string {
	switch g.rng.IntN(9) {
	case 0:
		return g.late(l.runs)
	case 1:
		return g.late(l.grants)
	case 2:
		return g.late(l.attempts)
	case 3:
		return g.late(l.ops)
	case 4:
		return g.late(l.waits)
	case 5:
		return g.late(l.triggers)
	case 6:
		return g.late(l.approvals)
	case 7:
		return g.pick(events.PlanNone, "slot-1", "x@12", "none", "", strings.Repeat("y", 257), "ALLOW", "DENY", "UNKNOWN", "OPEN")
	}
	return g.pick(people...)
}

// garbage is a message that is no command, or none that can be read.
func (g *Generator) garbage(l *memory) *events.Message {
	m := &events.Message{
		Seq: g.seq, Time: g.now * events.NanosPerMilli, IDs: []string{"x" + g.id("")},
		Subject: "aiws.cmd." + schema.EncodeToken(l.contract) + ".agent.startRun",
	}
	m.Body = []byte(g.pick(`{"type":"startRun"`, `{}`, "\xff", `{"type":"startRun","runId":"a","runId":"b"}`, ``,
		strings.Repeat("[", 600), `{"type":"settle","attemptId":"a","effect":"UNKNOWN","actualCost":"0"}`, `{"type":"nothing"}`))
	switch g.rng.IntN(8) {
	case 0:
		m.Subject = g.pick("", "aiws.cmd.x", "aiws.cmd._unrouted.p.startRun", "aiws.cmd.alpha.p.never", "\xff.\xfe", "aiws.cmd.=41.p.startRun")
	case 1:
		m.IDs = []string{"a", "b"}
	case 2:
		m.IDs = []string{}
	case 3:
		m.IDs = []string{g.pick("", "seq-1", "\xff", strings.Repeat("i", 129))}
	}
	return m
}
