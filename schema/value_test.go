package schema

import (
	"maps"
	"slices"
	"testing"
)

func TestValue(t *testing.T) {
	v, err := ParseValue([]byte(`{"list":[1,"x,]",{"a":[]},null,[]],"a\"b":-1.5,"n":9007199254740991,"big":1e20,"t":true,"":"é\n"}`))
	if err != nil {
		t.Fatal(err)
	}
	member := func(name string) Value {
		m, ok := v.Member(name)
		if !ok {
			t.Errorf("no member %q", name)
		}
		return m
	}
	if got := slices.Collect(member("list").Elements()); !slices.Equal(got, []Value{"1", `"x,]"`, `{"a":[]}`, "null", "[]"}) {
		t.Errorf("elements %q", got)
	}
	if got := maps.Collect(v.Members()); len(got) != 6 || got["a\"b"] != "-1.5" || got["t"] != "true" {
		t.Errorf("members %q", got)
	}
	if s, ok := member("").Str(); !ok || s != "é\n" {
		t.Errorf("Str = %q, %v", s, ok)
	}
	if n, ok := member("n").Int(); !ok || n != 1<<53-1 {
		t.Errorf("Int = %d, %v", n, ok)
	}
	for _, name := range []string{"big", "a\"b", "t", "list", ""} {
		if n, ok := member(name).Int(); ok {
			t.Errorf("Int of %q = %d", name, n)
		}
	}
	if m, ok := v.Member("none"); ok || m != "" {
		t.Errorf("Member(none) = %q, %v", m, ok)
	}
	kinds := map[Value]byte{"": 0, "{}": '{', "[]": '[', `""`: '"', "-1": '0', "7": '0', "true": 't', "false": 'f', "null": 'n'}
	for v, want := range kinds {
		if v.Kind() != want {
			t.Errorf("Kind(%s) = %q, want %q", v, v.Kind(), want)
		}
		if _, ok := v.Member("a"); ok {
			t.Errorf("%q has a member", v)
		}
		if n := len(slices.Collect(v.Elements())); n != 0 {
			t.Errorf("%q has %d elements", v, n)
		}
	}
}

func TestValueStops(t *testing.T) {
	for range Value(`[1,2]`).Elements() {
		break
	}
	for range Value(`{"a":1,"b":2}`).Members() {
		break
	}
}

func TestParseValueFault(t *testing.T) {
	if v, err := ParseValue([]byte(`{"a":1,"a":1}`)); err == nil || v != "" {
		t.Errorf("ParseValue = %q, %v", v, err)
	}
}
