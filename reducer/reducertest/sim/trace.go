package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"time"
)

// traceLines is how much of a trace is kept for the report of a failure.
const traceLines = 60

// trace is what happened, in order. Two runs of one script have the same.
type trace struct {
	sum   hash.Hash
	last  []string
	whole bool // keep everything
}

func (t *trace) add(w *world, format string, args ...any) {
	line := fmt.Sprintf("%5d %s ", w.step, time.Unix(0, w.now).UTC().Format("02T15:04:05.000")) + fmt.Sprintf(format, args...)
	if t.sum == nil {
		t.sum = sha256.New()
	}
	_, _ = t.sum.Write(append([]byte(line), '\n')) // a hash takes everything
	if !t.whole && len(t.last) == 2*traceLines {
		t.last = append(t.last[:0], t.last[traceLines:]...)
	}
	t.last = append(t.last, line)
}

func (t *trace) digest() string {
	if t.sum == nil {
		return ""
	}
	return hex.EncodeToString(t.sum.Sum(nil))
}

func (t *trace) tail() []string {
	if t.whole {
		return t.last
	}
	return t.last[max(0, len(t.last)-traceLines):]
}
