package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// WriteDocuments writes the documents of the five named projections, a
// canonical line each, sorted by projection, contract and key: what the state
// digest covers (DESIGN 4).
func WriteDocuments(w io.Writer, rows state.Rows) error {
	reader := state.NewReader(rows)
	var line []byte
	for _, projection := range state.Named {
		var failed error
		err := reader.Documents(projection, "", "", func(d *state.Document) bool {
			line = append(d.AppendLine(line[:0]), '\n')
			_, failed = w.Write(line)
			return failed == nil
		})
		if err := errors.Join(err, failed); err != nil {
			return err
		}
	}
	return nil
}

// Digest is the state digest of rows: the hex sha256 of those lines.
func Digest(rows state.Rows) (string, error) {
	sum := sha256.New()
	if err := WriteDocuments(sum, rows); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Compare finds the first row that two stores do not have alike. nil: they are
// the same. It looks at every row, so it finds what no projection shows.
func Compare(live, replayed state.Rows) error {
	var failed [2]error
	a, stopA := iter.Pull2(allRows(live, &failed[0]))
	defer stopA()
	b, stopB := iter.Pull2(allRows(replayed, &failed[1]))
	defer stopB()
	for {
		keyA, valueA, okA := a()
		keyB, valueB, okB := b()
		if err := errors.Join(failed[:]...); err != nil {
			return err
		}
		order := bytes.Compare(keyA, keyB)
		switch {
		case !okA && !okB:
			return nil
		case !okB || okA && order < 0:
			return rowFault("the store has the row %q, the log does not say so", keyA)
		case !okA || order > 0:
			return rowFault("the store lacks the row %q", keyB)
		case !bytes.Equal(valueA, valueB):
			return rowFault("the row %q of the store has another content than the log says", keyA)
		}
	}
}

func rowFault(format string, key []byte) error {
	return &Fault{What: fmt.Sprintf(format, key), Do: doReplay}
}

// allRows iterates over everything but what a store keeps for itself, whose
// keys begin with 0. Key and value are good until the next step.
func allRows(rows state.Rows, failed *error) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		*failed = rows.Scan([]byte{1}, []byte{0xFF}, false, yield)
	}
}
