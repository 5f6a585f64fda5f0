package schema

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for _, s := range []string{"0", "1", "18446744073709551615", "18446744073709551616", "9999999999999999999", strings.Repeat("9", 1000)} {
		if d, err := ParseDecimal(s); err != nil || d.String() != s || string(d.Append([]byte("x"))) != "x"+s {
			t.Errorf("ParseDecimal(%.30q) = %v, %v", s, d, err)
		}
	}
	for _, s := range []string{"", "00", "01", "-1", "+1", " 1", "1 ", "1\n", "1.0", "1e3", "0x1", "１", "٣", "1_000", strings.Repeat("9", 100) + "a"} {
		if d, err := ParseDecimal(s); err == nil {
			t.Errorf("ParseDecimal(%q) = %v, want an error", s, d)
		}
	}
}

func TestDecimalPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"below zero": func() { DecimalOf(1).Sub(DecimalOf(2)) },
		"by zero":    func() { DecimalOf(1).Div(Decimal{}) },
		"no decimal": func() { MustDecimal("-1") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// decimals draws numbers of all sizes, most of them near the border of a uint64 and its root.
func decimals(t *rapid.T, label string) (Decimal, *big.Int) {
	text := rapid.OneOf(
		rapid.StringMatching(`0|[1-9][0-9]{0,40}`),
		rapid.SampledFrom([]string{"0", "1", "4294967295", "4294967296", "18446744073709551615", "18446744073709551616", strings.Repeat("9", 100)}),
	).Draw(t, label)
	n, _ := new(big.Int).SetString(text, 10)
	return MustDecimal(text), n
}

// TestDecimalIsBigInt: every operation gives what big.Int gives, in the one representation that the number has.
func TestDecimalIsBigInt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, a := decimals(t, "a")
		o, b := decimals(t, "b")
		same := func(op string, got Decimal, want *big.Int) {
			if got.String() != want.String() || (got.large == nil) != want.IsUint64() || got.large != nil && got.small != 0 {
				t.Fatalf("%v %s %v = %+v, want %v", a, op, b, got, want)
			}
		}
		less := a.Cmp(b) < 0
		same("+", d.Add(o), new(big.Int).Add(a, b))
		same("*", d.Mul(o), new(big.Int).Mul(a, b))
		if b.Sign() > 0 {
			same("/", d.Div(o), new(big.Int).Div(a, b))
		}
		if less {
			same("floor-", d.SubFloor(o), new(big.Int))
			same("max", d.Max(o), b)
			same("min", d.Min(o), a)
		} else {
			same("-", d.Sub(o), new(big.Int).Sub(a, b))
			same("floor-", d.SubFloor(o), new(big.Int).Sub(a, b))
			same("max", d.Max(o), a)
			same("min", d.Min(o), b)
		}
		if d.Cmp(o) != a.Cmp(b) || d.Less(o) != less || d.Equal(o) != (a.Cmp(b) == 0) || d.IsZero() != (a.Sign() == 0) {
			t.Fatalf("%v and %v compare wrongly", d, o)
		}
		if u, ok := d.Uint64(); ok != a.IsUint64() || ok && u != a.Uint64() {
			t.Fatalf("Uint64(%v) = %d, %v", a, u, ok)
		}
		same("unchanged", d, a) // operations leave their operands alone
		same("unchanged", o, b)
	})
}

func TestDecimalAllocatesNothing(t *testing.T) {
	a, b := DecimalOf(math.MaxUint64/2), DecimalOf(1000)
	var buf [32]byte
	allocs := testing.AllocsPerRun(100, func() {
		a.Add(b).Sub(b).Div(b).Mul(b).SubFloor(b).Max(b).Append(buf[:0])
		if d, _ := ParseDecimal("1767225600000"); !b.Less(d) {
			t.Fatal("b >= d")
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none below 2^64", allocs)
	}
}
