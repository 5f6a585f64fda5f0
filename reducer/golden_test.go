package reducer_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// TestGolden decides the command logs of the independent model and compares
// every record and every row (testdata/golden/README.md).
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../testdata/golden/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden logs: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			compare(t, fold(t, file), strings.TrimSuffix(file, ".jsonl")+".out")
		})
	}
}

func fold(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	r, rows := reducer.New(), state.NewMemory()
	s := state.New(rows, state.Cursor{}, 0)
	for lines := logfile.NewReader(f); ; {
		m, err := lines.NextMessage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(r.Step(s, m).AppendBare(nil), '\n'))
	}
	rows.Commit(s.Take(0))
	s.Committed()
	sum := sha256.New()
	for _, projection := range state.Named {
		err := state.NewReader(rows).Documents(projection, "", "", func(d *state.Document) bool {
			line := append(d.AppendLine(nil), '\n')
			out.Write(line)
			sum.Write(line)
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintf(&out, "{\"stateDigest\":%q}\n", hex.EncodeToString(sum.Sum(nil)))
	return out.Bytes()
}

func compare(t *testing.T, got []byte, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := bufio.NewScanner(bytes.NewReader(got)), bufio.NewScanner(bytes.NewReader(want))
	gotLines.Buffer(nil, 1<<24)
	wantLines.Buffer(nil, 1<<24)
	for n := 1; wantLines.Scan(); n++ {
		gotLines.Scan()
		if gotLines.Text() != wantLines.Text() {
			t.Fatalf("line %d:\n got %s\nwant %s", n, gotLines.Text(), wantLines.Text())
		}
	}
	if gotLines.Scan() {
		t.Fatalf("a line too many: %s", gotLines.Text())
	}
}
