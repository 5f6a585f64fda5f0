package logfile

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
)

func TestNextMessage(t *testing.T) {
	file := `
{"contract":"c","principal":"agent","at":1000,"command":{"type":"startRun", "runId":"r"}}

{"contract":"zwölf","principal":"a.b","type":"settle","id":"","at":1001,"seq":7,"command":[2.0,1]}
{"subject":"aiws.cmd.x","ids":["a","b"],"at":0,"seq":8,"raw":"{\"type\": 1}\n"}
{"subjectBase64":"/w==","idsBase64":["/w=="],"at":9223372036854,"seq":9007199254740991,"rawBase64":"/w=="}`
	want := []events.Message{
		{Seq: 1, Time: 1000e6, Subject: "aiws.cmd.c.agent.startRun", Body: []byte(`{"runId":"r","type":"startRun"}`)},
		{Seq: 7, Time: 1001e6, Subject: "aiws.cmd.zw=C3=B6lf.a=2Eb.settle", IDs: []string{""}, Body: []byte(`[2,1]`)},
		{Seq: 8, Subject: "aiws.cmd.x", IDs: []string{"a", "b"}, Body: []byte("{\"type\": 1}\n")},
		{Seq: 9007199254740991, Time: 9223372036854000000, Subject: "\xff", IDs: []string{"\xff"}, Body: []byte{0xff}},
	}
	var got []events.Message
	r := NewReader(strings.NewReader(file))
	for {
		m, err := r.NextMessage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, *m)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	r := NewReader(strings.NewReader(`{"command":{"type":"startRun"}}
{"contract":"d","principal":"q","command":{"type":"startRun"}}
{"subject":"s","raw":""}`))
	r.Contract, r.Principal = "c", "p"
	for _, want := range []string{"aiws.cmd.c.p.startRun", "aiws.cmd.d.q.startRun", "s"} {
		line, err := r.Next()
		if err != nil || line.Subject != want {
			t.Errorf("got %+v, %v; want the subject %s", line, err, want)
		}
	}
}

// Each broken line is named with its number, the place and what was wanted.
func TestErrors(t *testing.T) {
	whole := func(member string) string {
		return `{"contract":"c","principal":"p","type":"t",` + member + `}`
	}
	for _, c := range []struct{ line, want string }{
		{`[]`, `line 1: not a JSON object`},
		{`{`, `line 1: not valid JSON: unexpected EOF (byte 1)`},
		{"\xef\xbb\xbf{}", "line 1: not valid JSON: invalid character"},
		{`{} {}`, `line 1: more than one JSON value on the line`},
		{`{"command":{"type":}}`, `line 1: /command/type: not valid JSON`},
		{`{"command":{"a":1,"a":2}}`, `line 1: /command/a: not valid JSON: duplicate object member name`},
		{`{"id":"a","id":"b"}`, `line 1: /id: not valid JSON: duplicate object member name`},
		{"{\"id\":\"\xff\"}", `line 1: /id: not valid JSON: invalid UTF-8`},
		{`{"Command":{}}`, `line 1: /Command: unknown member`},
		{`{"a/b":{}}`, `line 1: /a~1b: unknown member`},
		{`{}`, `line 1: /command: is missing: a line has one of command, raw, rawBase64`},
		{`{"command":{},"raw":""}`, `line 1: /raw: the line has command too`},
		{`{"command":{"type":"startRun"}}`, `line 1: /contract: is missing`},
		{`{"contract":"c","command":{"type":"startRun"}}`, `line 1: /principal: is missing`},
		{`{"contract":"c","principal":"p","command":{}}`, `line 1: /type: is missing`},
		{`{"contract":"c","principal":"p","command":[]}`, `line 1: /type: is missing`},
		{`{"contract":"c","principal":"p","raw":""}`, `line 1: /type: is missing`},
		{`{"contract":3,"principal":"p","command":{"type":"startRun"}}`, `line 1: /contract: want a string`},
		{`{"subject":"s","principal":"p","raw":""}`, `line 1: /principal: the line gives its subject whole`},
		{`{"subject":"s","subjectBase64":"","raw":""}`, `line 1: /subjectBase64: the line has subject too`},
		{`{"subjectBase64":"a","raw":""}`, `line 1: /subjectBase64: illegal base64`},
		{`{"subjectBase64":"YW\nJj","raw":""}`, `line 1: /subjectBase64: base64 with a line break`},
		{whole(`"raw":{}`), `line 1: /raw: want a string`},
		{whole(`"rawBase64":"/x=="`), `line 1: /rawBase64: illegal base64`},
		{whole(`"raw":"","id":null`), `line 1: /id: want a string`},
		{whole(`"raw":"","id":"a","ids":["a"]`), `line 1: /ids: the line has id too`},
		{whole(`"raw":"","ids":"a"`), `line 1: /ids: want an array of strings`},
		{whole(`"raw":"","ids":["a",1]`), `line 1: /ids/1: want a string`},
		{whole(`"raw":"","idsBase64":["/x=="]`), `line 1: /idsBase64/0: illegal base64`},
		{whole(`"raw":"","at":"1000"`), `line 1: /at: want an integer from 0 to 9223372036854`},
		{whole(`"raw":"","at":-1`), `line 1: /at: want an integer`},
		{whole(`"raw":"","at":1.0`), `line 1: /at: want an integer`},
		{whole(`"raw":"","at":9223372036855`), `line 1: /at: want an integer`},
		{whole(`"raw":"","at":1,"seq":0`), `line 1: /seq: want an integer from 1 to 9007199254740991`},
		{whole(`"raw":"","at":1,"seq":9007199254740992`), `line 1: /seq: want an integer`},
		{whole(`"raw":""`), `line 1: /at: is missing`},
		{whole(`"command":{"n":9007199254740992}`), `line 1: /command/n: `},
		{whole(`"command":{"n":1e999}`), `give a body that is not valid as raw`},
	} {
		_, err := NewReader(strings.NewReader(c.line)).NextMessage()
		var located *Error
		if !errors.As(err, &located) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.line, err, c.want)
		}
	}
}

func TestSequencesRise(t *testing.T) {
	line := func(position string) string { return `{"subject":"s","raw":"","at":1` + position + "}\n" }
	r := NewReader(strings.NewReader(line(`,"seq":5`) + "\n" + line("")))
	if _, err := r.NextMessage(); err != nil {
		t.Fatal(err)
	}
	_, err := r.NextMessage()
	if err == nil || err.Error() != "line 3: /seq: 2 does not follow 5" {
		t.Errorf("got %v", err)
	}
}

// A line that is too long is named, and the next one can be read.
func TestLongLines(t *testing.T) {
	long := `{"subject":"s","raw":"` + strings.Repeat("x", 1<<20) + `"}`
	tooLong := `{"subject":"s","raw":"` + strings.Repeat("x", MaxLine) + `"}`
	r := NewReader(strings.NewReader(long + "\n" + tooLong + "\n" + long))
	for i := range 3 {
		line, err := r.Next()
		switch {
		case i == 1 && (err == nil || err.Error() != "line 2: longer than 8388608 bytes"):
			t.Errorf("line 2: got %v", err)
		case i != 1 && (err != nil || len(line.Body) != 1<<20 || line.Number != i+1):
			t.Errorf("line %d: %v", i+1, err)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

// A failing reader is an error of its own kind, with the line it failed on.
func TestReadFailure(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader("\n"), failing{}))
	_, err := r.Next()
	if !errors.Is(err, io.ErrClosedPipe) || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Lines of an export with decisions are read where they are asked for.
func TestDecisions(t *testing.T) {
	line := `{"contract":"c","principal":"p","at":1,"seq":4,"command":{"runId":"r","type":"startRun"},"decision":{"a": 1}}` + "\n"
	if _, err := NewReader(strings.NewReader(line)).Next(); err == nil || !strings.Contains(err.Error(), "/decision: unknown member") {
		t.Errorf("where none is wanted: %v", err)
	}
	r := NewReader(strings.NewReader(line + `{"contract":"c","principal":"p","at":1,"command":{"runId":"r","type":"startRun"},"seq":5}`))
	r.Decisions = true
	m, decision, err := r.NextDecided()
	if err != nil || m.Seq != 4 || string(decision) != `{"a": 1}` {
		t.Errorf("got %+v, %s, %v", m, decision, err)
	}
	if m, decision, err = r.NextDecided(); err != nil || m.Seq != 5 || decision != nil {
		t.Errorf("without one: %+v, %s, %v", m, decision, err)
	}
}
