package schema

import (
	"errors"
	"math/big"
	"math/bits"
	"strconv"
)

// Decimal is a non-negative integer of any size: an amount, a count or a time in milliseconds as the wire has it.
// It is an immutable value, and its zero value is 0. Compare with Equal or Cmp, not with ==.
//
// Invariant: large is nil, or it exceeds every uint64 and small is 0. So equal numbers have equal representations, and the
// numbers of ordinary life stay clear of big.Int and of the allocator.
type Decimal struct {
	small uint64
	large *big.Int
}

// errDecimal is what ParseDecimal answers: the text of a Decimal has one form only.
var errDecimal = errors.New("schema: want 0 or digits without a leading zero")

// ParseDecimal reads exactly 0|[1-9][0-9]*, of any length.
func ParseDecimal(s string) (Decimal, error) {
	if !isDecimal(s) {
		return Decimal{}, errDecimal
	}
	if len(s) < 20 { // the largest uint64 has 20 digits
		return Decimal{small: digits(s)}, nil
	}
	n, _ := new(big.Int).SetString(s, 10)
	return normal(n), nil
}

// MustDecimal is ParseDecimal for constants: it panics where that fails.
func MustDecimal(s string) Decimal {
	d, err := ParseDecimal(s)
	if err != nil {
		panic("schema: not a decimal: " + strconv.Quote(s))
	}
	return d
}

// DecimalOf returns u as a Decimal.
func DecimalOf(u uint64) Decimal { return Decimal{small: u} }

// isDecimal reports whether s matches ^(0|[1-9][0-9]*)$, with nothing after it, not even a newline.
func isDecimal(s string) bool {
	if s == "" || s[0] == '0' && len(s) > 1 {
		return false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// digits returns the value of at most 19 decimal digits.
func digits(s string) uint64 {
	var u uint64
	for i := range len(s) {
		u = u*10 + uint64(s[i]-'0')
	}
	return u
}

// normal returns n, which it takes over, in the representation that the invariant asks for.
func normal(n *big.Int) Decimal {
	if n.IsUint64() {
		return Decimal{small: n.Uint64()}
	}
	return Decimal{large: n}
}

// bigInt returns d as a big.Int that the caller must not change.
func (d Decimal) bigInt() *big.Int {
	if d.large != nil {
		return d.large
	}
	return new(big.Int).SetUint64(d.small)
}

// String returns the digits of d.
func (d Decimal) String() string {
	if d.large != nil {
		return d.large.String()
	}
	return strconv.FormatUint(d.small, 10)
}

// Append appends the digits of d to dst.
func (d Decimal) Append(dst []byte) []byte {
	if d.large != nil {
		return d.large.Append(dst, 10)
	}
	return strconv.AppendUint(dst, d.small, 10)
}

// Cmp returns -1, 0 or +1 as d is less than, equal to or greater than o.
func (d Decimal) Cmp(o Decimal) int {
	switch {
	case d.large != nil && o.large != nil:
		return d.large.Cmp(o.large)
	case d.large != nil:
		return 1
	case o.large != nil:
		return -1
	case d.small < o.small:
		return -1
	case d.small > o.small:
		return 1
	}
	return 0
}

// Less reports whether d < o.
func (d Decimal) Less(o Decimal) bool { return d.Cmp(o) < 0 }

// Equal reports whether d and o are the same number.
func (d Decimal) Equal(o Decimal) bool { return d.Cmp(o) == 0 }

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool { return d.small == 0 && d.large == nil }

// Uint64 returns d if it fits.
func (d Decimal) Uint64() (uint64, bool) { return d.small, d.large == nil }

// Max returns the greater of d and o.
func (d Decimal) Max(o Decimal) Decimal {
	if d.Less(o) {
		return o
	}
	return d
}

// Min returns the lesser of d and o.
func (d Decimal) Min(o Decimal) Decimal {
	if o.Less(d) {
		return o
	}
	return d
}

// Add returns d + o.
func (d Decimal) Add(o Decimal) Decimal {
	if d.large == nil && o.large == nil {
		if sum, carry := bits.Add64(d.small, o.small, 0); carry == 0 {
			return Decimal{small: sum}
		}
	}
	return normal(new(big.Int).Add(d.bigInt(), o.bigInt()))
}

// Sub returns d - o. It panics where o > d: a figure that would fall below zero is our own bug.
func (d Decimal) Sub(o Decimal) Decimal {
	if d.Less(o) {
		panic("schema: decimal below zero: " + d.String() + " - " + o.String())
	}
	if d.large == nil {
		return Decimal{small: d.small - o.small}
	}
	return normal(new(big.Int).Sub(d.large, o.bigInt()))
}

// SubFloor returns max(0, d - o).
func (d Decimal) SubFloor(o Decimal) Decimal {
	if d.Less(o) {
		return Decimal{}
	}
	return d.Sub(o)
}

// Mul returns d * o.
func (d Decimal) Mul(o Decimal) Decimal {
	if d.large == nil && o.large == nil {
		if high, low := bits.Mul64(d.small, o.small); high == 0 {
			return Decimal{small: low}
		}
	}
	return normal(new(big.Int).Mul(d.bigInt(), o.bigInt()))
}

// Div returns floor(d / o). It panics where o is 0.
func (d Decimal) Div(o Decimal) Decimal {
	switch {
	case o.IsZero():
		panic("schema: decimal division by zero: " + d.String())
	case d.large == nil && o.large == nil:
		return Decimal{small: d.small / o.small}
	case d.large == nil:
		return Decimal{}
	}
	return normal(new(big.Int).Quo(d.large, o.bigInt()))
}
