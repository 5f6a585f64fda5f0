package schema

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenCommand is one line of a golden log.
type goldenCommand struct {
	Contract, Principal, Type, Subject, Raw string
	Command                                 json.RawMessage
}

// body is what was published: the raw text, or the command in canonical form.
func (g *goldenCommand) body(t *testing.T) []byte {
	if g.Command == nil {
		return []byte(g.Raw)
	}
	body, err := CanonicalStored(g.Command)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (g *goldenCommand) subject(body []byte) string {
	if g.Subject != "" {
		return g.Subject
	}
	if g.Type == "" {
		g.Type = typeOf(body)
	}
	return Subject{g.Contract, g.Principal, g.Type}.String()
}

// goldenDecision is what this package has a say in of the decision about it.
type goldenDecision struct {
	Contract, Principal, Type, BodyHash, Outcome, Code string
	Events                                             []struct {
		Type, Fingerprint string
		Action            json.RawMessage
	}
}

// TestGolden replays the messages of the golden logs, as far as subject and body decide.
func TestGolden(t *testing.T) {
	logs, err := filepath.Glob("../testdata/golden/*.jsonl")
	if err != nil || len(logs) == 0 {
		t.Fatal("no golden logs", err)
	}
	for _, log := range logs {
		t.Run(filepath.Base(log), func(t *testing.T) {
			decisions := lines(t, strings.TrimSuffix(log, ".jsonl")+".out")
			for i, line := range lines(t, log) {
				var c goldenCommand
				var d goldenDecision
				if err := json.Unmarshal(line, &c); err != nil {
					t.Fatal(err)
				}
				if err := json.Unmarshal(decisions[i], &d); err != nil {
					t.Fatal(err)
				}
				checkGolden(t, &c, &d)
			}
		})
	}
}

func checkGolden(t *testing.T, c *goldenCommand, d *goldenDecision) {
	body := c.body(t)
	if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != d.BodyHash {
		t.Errorf("body %.200s: hash %x, want %s", body, sum, d.BodyHash)
	}
	subject, ok := ParseSubject(c.subject(body))
	if ok == (d.Code == "SUBJECT_INVALID") || subject != (Subject{d.Contract, d.Principal, d.Type}) {
		t.Errorf("ParseSubject(%q) = %+v, %v, want %+v", c.subject(body), subject, ok, d)
	}
	switch d.Code {
	case "SUBJECT_INVALID", "COMMAND_ID_INVALID", "BODY_TOO_LARGE":
		return // decided before the body is read
	}
	got := ""
	if _, f := Decode(body); f != nil {
		got = f.Code
	}
	want := d.Code
	if want != CodeJSONInvalid && want != CodeSchemaInvalid {
		want = ""
	}
	if got != want {
		t.Errorf("Decode(%.300s) gives %q, want %q", body, got, want)
	}
	for _, e := range d.Events {
		if e.Type != "operationAdmitted" {
			continue
		}
		var a Action
		if err := DecodeRecord(e.Action, &a); err != nil || Fingerprint(&a) != e.Fingerprint {
			t.Errorf("Fingerprint(%s) = %s, %v, want %s", e.Action, Fingerprint(&a), err, e.Fingerprint)
		}
	}
}

func lines(t *testing.T, file string) [][]byte {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, 4<<20)
	for s.Scan() {
		all = append(all, bytes.Clone(s.Bytes()))
	}
	return all
}
