package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// histogram counts times in buckets that are three percent wide: each power of
// two of microseconds has 32. Any number of goroutines may add.
type histogram struct {
	counts [64 * fine]atomic.Uint64
}

const fine = 32 // buckets of a power of two

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(uint64(max(d.Microseconds(), 0)))].Add(1)
}

// bucket of a time in microseconds: itself below 32, then by its five highest
// bits after the first.
func bucket(us uint64) int {
	if us < fine {
		return int(us)
	}
	shift := bits.Len64(us) - 6
	return (shift+1)*fine + int(us>>shift) - fine
}

// ceiling is the first time above a bucket.
func ceiling(b int) time.Duration {
	if b < fine {
		return time.Duration(b+1) * time.Microsecond
	}
	shift := b/fine - 1
	return time.Duration(uint64(b%fine+fine+1)<<shift) * time.Microsecond
}

func (h *histogram) merge(other *histogram) {
	for i := range h.counts {
		h.counts[i].Add(other.counts[i].Load())
	}
}

func (h *histogram) total() uint64 {
	var n uint64
	for i := range h.counts {
		n += h.counts[i].Load()
	}
	return n
}

// quantile is a time that the share q did not exceed.
func (h *histogram) quantile(q float64) time.Duration {
	rest := uint64(q * float64(h.total()))
	for i := range h.counts {
		n := h.counts[i].Load()
		if n > rest {
			return ceiling(i)
		}
		rest -= n
	}
	return 0
}

// below is the share of times up to d, a power of two of microseconds.
func (h *histogram) below(d time.Duration) float64 {
	var n uint64
	for i := range h.counts {
		if ceiling(i) > d {
			break
		}
		n += h.counts[i].Load()
	}
	return float64(n) / float64(max(h.total(), 1))
}
