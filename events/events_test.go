package events_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
)

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// TestEveryCodeIsListed: the constants and the list are the same, in the same
// order, and each code says what it means and what to do.
func TestEveryCodeIsListed(t *testing.T) {
	var constants, listed []string
	file, err := parser.ParseFile(token.NewFileSet(), "code.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Code") && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				text, _ := strconv.Unquote(literal.Value)
				constants = append(constants, text)
			}
		}
		return true
	})
	for _, info := range events.Codes {
		listed = append(listed, string(info.Code))
		if !strings.HasSuffix(info.Meaning, ".") || !strings.HasSuffix(info.Caller, ".") {
			t.Errorf("%s: its explanation is no sentence", info.Code)
		}
	}
	if diff := cmp.Diff(constants, listed); diff != "" {
		t.Errorf("constants and list of codes differ: %s", diff)
	}
	if unique := slices.Compact(slices.Sorted(slices.Values(listed))); len(unique) != len(listed) {
		t.Error("a code is listed twice")
	}
}

func TestFormat(t *testing.T) {
	for want, e := range map[string]events.Event{
		`attemptDispatched attemptId=o-1 by=agent nodeId=work`:                          &events.AttemptDispatched{AttemptID: "o-1", By: "agent", NodeID: "work"},
		`runStarted origin={"depth":"1","eventId":"e 1","triggerId":"t"} runId="a run"`: &events.RunStarted{RunID: "a run", Origin: &events.Origin{Depth: dec("1"), EventID: "e 1", TriggerID: "t"}},
		`joinSatisfied mode=ANY runId="k=v" waitIds=["a","b"]`:                          &events.JoinSatisfied{Mode: "ANY", RunID: "k=v", WaitIDs: []string{"a", "b"}},
		`runTransitioned from=READY runId="a\nb" to=RUNNING`:                            &events.RunTransitioned{From: "READY", RunID: "a\nb", To: "RUNNING"},
	} {
		if got := events.Format(e); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestDecisionString(t *testing.T) {
	d := decisions()
	for outcome, want := range map[string]string{
		"accepted":  "7 accepted",
		"rejected":  `8 rejected GRANT_NOT_ATTENUATED (limit) at /grant/limit: too "wide"`,
		"duplicate": "9 duplicate of 8: rejected GRANT_NOT_ATTENUATED",
	} {
		if got := d[outcome].String(); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// TestDamagedBlocks: each kind of damage is found and marked.
func TestDamagedBlocks(t *testing.T) {
	d, m := decisions(), messages()
	build := func(change func(h *events.Header), entries ...string) []byte {
		h := events.Header{RulesVersion: 1, Generation: "g", Writer: "w", Build: "b", Shards: 1, Time: "0", PrevBlockHash: events.ZeroHash}
		if change != nil {
			change(&h)
		}
		b := events.NewBlock(h)
		for _, name := range entries {
			b.Add(m[name], d[name])
		}
		data, _ := b.Seal([32]byte{})
		return data
	}
	good := string(build(nil, "accepted", "rejected", "duplicate"))
	if _, err := events.ParseBlock([]byte(good)); err != nil {
		t.Fatal(err)
	}
	remade := func(old, with string) string { return string(mended([]byte(strings.Replace(good, old, with, 1)))) }
	lines := strings.SplitAfter(good, "\n")
	for name, text := range map[string]string{
		"empty":               "",
		"no header line":      strings.TrimSuffix(lines[0], "\n"),
		"header is no object": "[]\n" + strings.Join(lines[1:], ""),
		"one byte changed":    strings.Replace(good, "agent", "agenT", 1),
		"cut short":           good[:len(good)-5],
		"a line too many":     good + "\n",
		"an entry missing":    string(mended([]byte(lines[0] + strings.Join(lines[3:], "")))),
		"half an entry":       string(mended([]byte(lines[0] + strings.Join(lines[1:6], "")))),
		"entries swapped":     string(mended([]byte(lines[0] + lines[3] + lines[4] + lines[1] + lines[2] + lines[5] + lines[6]))),
		"header's first seq":  remade(`"firstCommandSeq":7`, `"firstCommandSeq":6`),
		"header's count":      remade(`"commands":3`, `"commands":4`),
		"unknown event":       remade(`"type":"attemptPrepared"`, `"type":"attemptPondered"`),
		"unknown member":      remade(`"amount":`, `"amounts":`),
		"record of another":   remade(`"commandSeq":7`, `"commandSeq":8`),
		"message no object":   string(mended([]byte(lines[0] + "[]\n" + strings.Join(lines[2:], "")))),
	} {
		block, err := events.ParseBlock([]byte(text))
		if !errors.Is(err, events.ErrDamaged) {
			t.Errorf("%s: %v, %v", name, block != nil, err)
		}
	}
	if _, err := events.ParseBlock([]byte(remade(`"formatVersion":2`, `"formatVersion":9`))); err == nil || errors.Is(err, events.ErrDamaged) {
		t.Errorf("a newer format: %v", err)
	}
}

// TestEveryBit: whichever bit of a block is flipped, also one of its header that
// nothing else names, the block is damaged.
func TestEveryBit(t *testing.T) {
	b := events.NewBlock(events.Header{RulesVersion: 1, Generation: "g", Writer: "w", Build: "b", Shards: 1, Time: "0", PrevBlockHash: events.ZeroHash})
	b.Add(messages()["accepted"], decisions()["accepted"])
	good, hash := b.Seal([32]byte{})
	if block, err := events.ParseBlock(good); err != nil || block.Hash != hash || block.Header.FormatVersion != events.FormatVersion {
		t.Fatalf("the block itself: %v", err)
	}
	bad := bytes.Clone(good)
	for at := range good {
		for bit := range 8 {
			bad[at] ^= 1 << bit
			if _, err := events.ParseHeader(bad); !errors.Is(err, events.ErrDamaged) {
				t.Errorf("bit %d of byte %d, %q: %v", bit, at, good[max(0, at-20):at+1], err)
			}
			bad[at] ^= 1 << bit
		}
		if _, err := events.ParseHeader(good[:at]); !errors.Is(err, events.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", at, err)
		}
	}
}

// TestBareFormat: blocks of format 1 are read, and what their checksum covers is
// checked.
func TestBareFormat(t *testing.T) {
	data, err := os.ReadFile("../testdata/histories/v0.1/000001.block")
	if err != nil {
		t.Fatal(err)
	}
	block, err := events.ParseBlock(data)
	if err != nil || block.Header.FormatVersion != 1 || len(block.Entries) != 97 {
		t.Fatalf("format 1: %v", err)
	}
	data[len(data)-3] ^= 1
	if _, err := events.ParseBlock(data); !errors.Is(err, events.ErrDamaged) {
		t.Errorf("damaged: %v", err)
	}
	data[len(data)-3] ^= 1
	version := bytes.Index(data, []byte(`"formatVersion":1`)) + len(`"formatVersion":`)
	for bit := range 8 { // the header has no checksum, and what it covers says which format it is
		data[version] ^= 1 << bit
		if _, err := events.ParseBlock(data); !errors.Is(err, events.ErrDamaged) {
			t.Errorf("bit %d of the format version, %q: %v", bit, data[version], err)
		}
		data[version] ^= 1 << bit
	}
	newer := bytes.Replace(data, []byte(`"formatVersion":1`), []byte(`"formatVersion":7`), 1)
	newer[len(newer)-3] ^= 1 // of a format that is not known, nothing can be said
	if _, err := events.ParseBlock(newer); err == nil || errors.Is(err, events.ErrDamaged) || !strings.Contains(err.Error(), "use a newer build") {
		t.Errorf("a newer format: %v", err)
	}
}

// A header longer than the room before the lines makes the same block, and the
// records are those that stand in it.
func TestBuilderRoom(t *testing.T) {
	d, m := decisions(), messages()
	for _, build := range []string{"b", strings.Repeat("a long name of a build ", 100)} {
		b := events.NewBlockOf(events.Header{Build: build, Shards: 1, PrevBlockHash: events.ZeroHash}, 10)
		for _, name := range []string{"accepted", "rejected"} {
			b.Add(m[name], d[name])
		}
		data, hash := b.Seal([32]byte{})
		block, err := events.ParseBlock(data)
		if err != nil {
			t.Fatal(err)
		}
		if block.Header.Build != build || block.Hash != hash || b.Commands() != len(block.Entries) {
			t.Errorf("the block reads %+v", block.Header)
		}
		for i := range block.Entries {
			if got := string(b.Record(i)); got != string(block.Entries[i].Record) || got != string(block.Entries[i].Decision.Append(nil)) {
				t.Errorf("record %d is %s", i, got)
			}
		}
	}
}
