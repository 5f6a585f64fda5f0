package cli

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bytes is the value of a flag that is a size: a number of bytes, or of KiB, MiB,
// GiB or TiB.
type Bytes int64

var units = []struct {
	name string
	size int64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// Set implements pflag.Value.
func (b *Bytes) Set(text string) error {
	factor := int64(1)
	for _, unit := range units {
		if number, ok := strings.CutSuffix(text, unit.name); ok {
			text, factor = strings.TrimSpace(number), unit.size
			break
		}
	}
	count, err := strconv.ParseInt(text, 10, 64)
	if err != nil || count < 0 || count > math.MaxInt64/factor {
		return fmt.Errorf("want bytes, or a number with KiB, MiB, GiB or TiB behind it")
	}
	*b = Bytes(count * factor)
	return nil
}

// String implements pflag.Value.
func (b *Bytes) String() string {
	for _, unit := range units {
		if *b != 0 && int64(*b)%unit.size == 0 {
			return strconv.FormatInt(int64(*b)/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(*b), 10)
}

// Type implements pflag.Value.
func (b *Bytes) Type() string { return "size" }

// Millis is the value of a flag that is a time, as RFC 3339 or in milliseconds
// since 1970. It is -1 when it was not given.
type Millis int64

// Set implements pflag.Value.
func (m *Millis) Set(text string) error {
	if millis, err := strconv.ParseInt(text, 10, 64); err == nil && millis >= 0 {
		*m = Millis(millis)
		return nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.UnixMilli() < 0 {
		return fmt.Errorf("want a time as 2026-01-31T09:00:00Z, or milliseconds since 1970")
	}
	*m = Millis(at.UnixMilli())
	return nil
}

// String implements pflag.Value.
func (m *Millis) String() string {
	if *m < 0 {
		return ""
	}
	return FormatMillis(int64(*m))
}

// Type implements pflag.Value.
func (m *Millis) Type() string { return "time" }

// Given says whether there is a time.
func (m *Millis) Given() bool { return *m >= 0 }

// Moment is the value of a flag that is a time: RFC 3339, milliseconds since
// 1970, or how long ago, as 10m.
type Moment struct {
	at  Millis
	ago time.Duration
}

// NoMoment was not given.
var NoMoment = Moment{at: -1}

// Set implements pflag.Value.
func (m *Moment) Set(text string) error {
	*m = NoMoment
	if m.at.Set(text) == nil {
		return nil
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago < 0 {
		return fmt.Errorf("want a time as 2026-01-31T09:00:00Z, milliseconds since 1970, or how long ago, as 10m")
	}
	m.ago = ago
	return nil
}

// String implements pflag.Value.
func (m *Moment) String() string {
	if m.ago > 0 {
		return m.ago.String()
	}
	return m.at.String()
}

// Type implements pflag.Value.
func (m *Moment) Type() string { return "time" }

// At is the moment in milliseconds since 1970, and whether one was given; how
// long ago counts from now.
func (m *Moment) At(now time.Time) (millis int64, given bool) {
	if m.ago > 0 {
		return max(now.Add(-m.ago).UnixMilli(), 0), true
	}
	return int64(m.at), m.at.Given()
}

// Millis is At in digits, "" where none was given.
func (m *Moment) Millis(now time.Time) string {
	millis, given := m.At(now)
	if !given {
		return ""
	}
	return strconv.FormatInt(millis, 10)
}

// FormatMillis shows a time in UTC, as RFC 3339.
func FormatMillis(millis int64) string {
	at := time.UnixMilli(millis).UTC()
	if millis%1000 == 0 {
		return at.Format(time.RFC3339)
	}
	return at.Format("2006-01-02T15:04:05.000Z07:00")
}
