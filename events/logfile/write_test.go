package logfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
)

func TestAppend(t *testing.T) {
	start := `{"runId":"r","type":"startRun"}`
	for _, c := range []struct {
		name string
		m    events.Message
		want string
	}{
		{"a command", events.Message{Seq: 1, Time: 1_999_999, Subject: "aiws.cmd.c.p.startRun", IDs: []string{"a"}, Body: []byte(start)},
			`{"contract":"c","principal":"p","id":"a","at":1,"seq":1,"command":` + start + `}`},
		{"the subject has another type", events.Message{Seq: 2, Subject: "aiws.cmd.c=2E.p.settle", Body: []byte(start)},
			`{"contract":"c.","principal":"p","type":"settle","at":0,"seq":2,"command":` + start + `}`},
		{"not canonical", events.Message{Seq: 3, Subject: "aiws.cmd.c.p.startRun", Body: []byte(`{"type":"startRun","runId":"r"}`)},
			`{"contract":"c","principal":"p","type":"startRun","at":0,"seq":3,"raw":"{\"type\":\"startRun\",\"runId\":\"r\"}"}`},
		{"no command", events.Message{Seq: 4, Subject: "aiws.cmd.c.p.startRun", Body: []byte(`{"type":"startRun"}`)},
			`{"contract":"c","principal":"p","type":"startRun","at":0,"seq":4,"raw":"{\"type\":\"startRun\"}"}`},
		{"not UTF-8", events.Message{Seq: 5, Subject: "\xff", IDs: []string{"a", "\xff"}, Body: []byte("\xff")},
			`{"subjectBase64":"/w==","idsBase64":["YQ==","/w=="],"at":0,"seq":5,"rawBase64":"/w=="}`},
		{"odd headers", events.Message{Seq: 6, Subject: "aiws.cmd.c", IDs: []string{"a", ""}, Body: nil},
			`{"subject":"aiws.cmd.c","ids":["a",""],"at":0,"seq":6,"raw":""}`},
	} {
		if got := string(Append(nil, &c.m)); got != c.want+"\n" {
			t.Errorf("%s:\n got %swant %s", c.name, got, c.want)
		}
	}
}

// What is written reads back as the same message, the stamp in whole milliseconds.
func checkRoundTrip(t *testing.T, m events.Message) {
	t.Helper()
	line := Append(nil, &m)
	got, err := NewReader(bytes.NewReader(line)).NextMessage()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	m.Time = max(0, m.Time/int64(time.Millisecond)) * int64(time.Millisecond)
	if m.Body == nil {
		m.Body = []byte{}
	}
	if diff := cmp.Diff(m, *got); diff != "" {
		t.Errorf("%s(-written +read):\n%s", line, diff)
	}
}

// Every golden log and the quickstart read, and survive writing.
func TestTestdata(t *testing.T) {
	names, err := filepath.Glob("../../testdata/golden/*.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden logs: %v", err)
	}
	for _, name := range append(names, "../../testdata/quickstart.jsonl") {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r := NewReader(file)
		for {
			m, err := r.NextMessage()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			checkRoundTrip(t, *m)
		}
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add(uint64(1), int64(1e15), "aiws.cmd.c.p.startRun", "a", byte(1), []byte(`{"runId":"r","type":"startRun"}`))
	f.Add(uint64(1), int64(-1), "aiws.cmd.c.p.t", "\xff", byte(2), []byte(`{"runId":"r","type":"startRun"} `))
	f.Add(uint64(1), int64(1), "\n", "", byte(0), []byte("\u2028\x00"))
	f.Fuzz(func(t *testing.T, seq uint64, at int64, subject, id string, ids byte, body []byte) {
		var header []string
		if ids > 0 {
			header = strings.Split(id, ",")
		}
		checkRoundTrip(t, events.Message{Seq: 1 + seq%maxSeq, Time: at, Subject: subject, IDs: header, Body: body})
	})
}

// The reader takes any bytes without a panic, and what it takes survives writing.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"contract":"c","principal":"p","id":"a","at":1,"seq":1,"command":{"runId":"r","type":"startRun"}}`))
	f.Add([]byte(`{"subjectBase64":"/w==","idsBase64":["YQ==","/w=="],"at":0,"seq":5,"rawBase64":"/w=="}`))
	f.Add([]byte("{\"command\":[1e400]}\n\n[[[["))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := NewReader(bytes.NewReader(file))
		for {
			m, err := r.NextMessage()
			if errors.Is(err, io.EOF) {
				return
			}
			if err == nil {
				checkRoundTrip(t, *m)
			}
		}
	})
}
