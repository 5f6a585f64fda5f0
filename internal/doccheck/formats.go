package doccheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Fill puts what the code says into the fences of a page that are marked
// example=NAME, and leaves the rest of the page alone. keys is the source of the
// row keys, reducer/state/key.go.
func Fill(page Page, keys string) (string, error) {
	examples := formatExamples()
	examples["row-kinds"] = func(*sample) string { return rowKinds(keys) }
	x := newSample()
	var out strings.Builder
	skip := false
	for line := range strings.Lines(page.Text) {
		info, isFence := strings.CutPrefix(line, backticks)
		if !skip || isFence {
			out.WriteString(line)
		}
		if !isFence {
			continue
		}
		name := exampleName(info)
		if skip = name != ""; !skip {
			continue
		}
		example, known := examples[name]
		if !known {
			return "", fmt.Errorf("%s: there is no example %q", page.Name, name)
		}
		out.WriteString(strings.TrimRight(example(x), "\n") + "\n")
	}
	return out.String(), nil
}

var exampleMark = regexp.MustCompile(`^\w+ example=([\w-]+)`)

func exampleName(info string) string {
	hit := exampleMark.FindStringSubmatch(info)
	if hit == nil {
		return ""
	}
	return hit[1]
}

// formatExamples are the examples by the names that pages call them.
func formatExamples() map[string]func(*sample) string {
	return map[string]func(*sample) string{
		"tokens":    func(*sample) string { return tokenExamples() },
		"kv-keys":   func(*sample) string { return kvKeyExamples() },
		"kv-value":  kvValue,
		"log-lines": func(*sample) string { return logLines() },
		"log-line-decided": func(x *sample) string {
			return string(logfile.AppendDecided(nil, &sampleMessages[1], []byte(x.line(5))))
		},
		"message":          func(x *sample) string { return x.line(4) },
		"message-raw":      func(x *sample) string { return x.line(6) },
		"decision":         func(x *sample) string { return x.line(5) },
		"decision-refused": func(x *sample) string { return x.line(7) },
		"decision-hash":    decisionHash,
		"block":            func(x *sample) string { return string(x.block) },
		"block-hash":       blockHash,
		"row-key":          func(x *sample) string { return rowKeys(x) },
		"row":              rowExample,
		"state-hash":       stateHash,
		"state-digest":     stateDigest,
	}
}

// line is a line of the sample's block, its header being line 1.
func (x *sample) line(number int) string {
	return string(bytes.Split(x.block, []byte("\n"))[number-1])
}

func hexSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func tokenExamples() string {
	var out strings.Builder
	for _, id := range []string{"c1", "order 7", "zwölf", "a.b*>", "x=y"} {
		fmt.Fprintf(&out, "%-10s %s\n", id, schema.EncodeToken(id))
	}
	return out.String()
}

func kvKeyExamples() string {
	return strings.Join([]string{
		wire.BucketPrefix + wire.Key("c1", state.Runs, "r1"),
		wire.BucketPrefix + wire.Key("c1", state.Exposed, "contract/c1"),
		wire.BucketPrefix + wire.Key("c1", state.Exposed, "grant/team.card"),
		wire.BucketPrefix + wire.Key("c1", state.Waits, strings.Repeat("é", 40)),
	}, "\n")
}

// kvValue is the value of the sample's run in the bucket.
func kvValue(x *sample) string {
	change := x.row('R')
	d, _, err := state.NewReader(x.rows).Mirrored(change.Key, change.Value)
	if err != nil {
		panic(fmt.Sprintf("doccheck: %v", err))
	}
	return string(wire.AppendRow(nil, d.Meta.CommandSeq, d.Meta.LogSeq, d.Meta.At, d.Value))
}

func logLines() string {
	var lines []byte
	for i := range sampleMessages {
		lines = logfile.Append(lines, &sampleMessages[i])
	}
	return string(lines)
}

// decisionHash shows the text that is hashed: the record without hash, message
// and pointer.
func decisionHash(x *sample) string {
	d := x.decisions[1]
	text := strings.Replace(string(d.AppendBare(nil)), `,"hash":"`+d.Hash+`"`, "", 1)
	return text + "\n" + hexSum([]byte(text))
}

func blockHash(x *sample) string {
	header, _, _ := bytes.Cut(x.block, []byte("\n"))
	if sum := hexSum(append(bytes.Clone(header), '\n')); sum != hex.EncodeToString(x.blockHash[:]) {
		panic("doccheck: the hash of a block is not that of its header line")
	}
	return hex.EncodeToString(x.blockHash[:])
}

func rowKeys(x *sample) string {
	return fmt.Sprintf("% x", x.row('R').Key)
}

func rowExample(x *sample) string {
	r := rowReader{value: x.row('E').Value}
	r.field("layout 1", 1)
	for _, name := range []string{"commandSeq", "logSeq"} {
		r.varint(name)
	}
	for _, name := range []string{"at", "budget", "reserved", "spent", "unknown"} {
		r.decimal(name)
	}
	if len(r.value) > 0 {
		panic(fmt.Sprintf("doccheck: the row has %d bytes more", len(r.value)))
	}
	return r.out.String()
}

// documentLines are the lines that the state digest covers. The sample has no
// document that reads otherwise than it is stored.
func documentLines(x *sample) [][]byte {
	var lines [][]byte
	for _, projection := range state.Named {
		err := state.NewReader(x.rows).Documents(projection, "", "", func(d *state.Document) bool {
			lines = append(lines, d.AppendLine(nil))
			return true
		})
		if err != nil {
			panic(fmt.Sprintf("doccheck: %v", err))
		}
	}
	return lines
}

func stateHash(x *sample) string {
	var out strings.Builder
	sum := new(big.Int)
	for _, line := range documentLines(x) {
		hash := sha256.Sum256(line)
		sum.Add(sum, new(big.Int).SetBytes(hash[:]))
		fmt.Fprintf(&out, "%s\n%x\n", line, hash)
	}
	sum.Mod(sum, new(big.Int).Lsh(big.NewInt(1), 256))
	total := fmt.Sprintf("%064x", sum)
	if total != hex.EncodeToString(x.stateHash[:]) {
		panic("doccheck: the state hash is not the sum of its lines")
	}
	return out.String() + total
}

func stateDigest(x *sample) string {
	lines := append(bytes.Join(documentLines(x), []byte("\n")), '\n')
	return fmt.Sprintf("{\"stateDigest\":%q}", hexSum(lines))
}

var kindLine = regexp.MustCompile(`(?m)^\tkind\w+ += '(\w)' +// (.*)$`)

// rowKinds reads the table of kinds from the comments of their constants.
func rowKinds(source string) string {
	var out strings.Builder
	for _, hit := range kindLine.FindAllStringSubmatch(source, -1) {
		fmt.Fprintf(&out, "%s  %s\n", hit[1], hit[2])
	}
	return out.String()
}
