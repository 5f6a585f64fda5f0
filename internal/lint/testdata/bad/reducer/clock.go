// Package reducer is a sample that breaks the rules; each line says which.
package reducer

import (
	"fmt"
	"maps"
	"time" // want import

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest" // want import
)

// Now reads a clock.
func Now() int64 { return time.Now().UnixMilli() }

// Total adds in map order.
func Total(m map[string]int) (n int) {
	reducertest.Check()
	for _, v := range m { // want map-range
		n += v
	}
	for k := range maps.Keys(m) { // want map-range
		n += len(k)
	}
	return n
}

// Half is inexact.
func Half(n int64) float64 { // want float
	return float64(n) * 0.5 // want float float
}

// Later runs elsewhere.
func Later(f func()) {
	go f()           // want concurrency
	fmt.Println("x") // want print
}
