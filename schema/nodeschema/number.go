package nodeschema

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

// numberRule holds the keywords about numbers.
type numberRule struct {
	maximum, minimum, exclusiveMaximum, exclusiveMinimum, multipleOf *decimal
}

// number is a keyword whose value is a number.
func number(set func(r *numberRule, d decimal)) keyword {
	return keyword{compile: func(_ *compiler, r *rule, n *jsontree.Node) error {
		if err := want(n, n.Kind() == '0', "a number"); err != nil {
			return err
		}
		set(r.numbers(), parseDecimal(string(n.Text)))
		return nil
	}}
}

func compileMultipleOf(_ *compiler, r *rule, n *jsontree.Node) error {
	if err := want(n, n.Kind() == '0' && n.Text != "0" && n.Text[0] != '-', "a number over 0"); err != nil {
		return err
	}
	d := parseDecimal(string(n.Text))
	r.numbers().multipleOf = &d
	return nil
}

// count is a keyword whose value is a whole number of at least 0. One that exceeds every length is kept as maxCount.
func count(into func(r *rule) **int) keyword {
	return keyword{compile: func(_ *compiler, r *rule, n *jsontree.Node) error {
		whole := n.Kind() == '0' && n.Text[0] != '-' && parseDecimal(string(n.Text)).isInteger()
		if err := want(n, whole, "a whole number of at least 0"); err != nil {
			return err
		}
		limit := maxCount
		if i, ok := n.Text.Int(); ok && i < maxCount {
			limit = int(i)
		}
		*into(r) = &limit
		return nil
	}}
}

const maxCount = 1 << 30

// outside names the keyword that refuses a number, or "".
func (r *numberRule) outside(d decimal) string {
	switch {
	case r.maximum != nil && d.compare(*r.maximum) > 0:
		return "maximum"
	case r.minimum != nil && d.compare(*r.minimum) < 0:
		return "minimum"
	case r.exclusiveMaximum != nil && d.compare(*r.exclusiveMaximum) >= 0:
		return "exclusiveMaximum"
	case r.exclusiveMinimum != nil && d.compare(*r.exclusiveMinimum) <= 0:
		return "exclusiveMinimum"
	case r.multipleOf != nil && !d.isMultipleOf(*r.multipleOf):
		return "multipleOf"
	}
	return ""
}

// decimal is a number as canonical JSON writes it: 0.digits times 10 to the power of point. The digits, at most 17, neither
// begin nor end with a zero; zero has none.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// parseDecimal reads a number in canonical form.
func parseDecimal(text string) decimal {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	mantissa, exponent, _ := strings.Cut(text, "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.point, _ = strconv.Atoi(exponent) // "" is 0
	d.point += len(whole)
	all := whole + fraction
	d.digits = strings.TrimLeft(all, "0")
	d.point -= len(all) - len(d.digits)
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		return decimal{}
	}
	return d
}

func (d decimal) isInteger() bool { return d.point >= len(d.digits) || d.digits == "" }

func (d decimal) compare(o decimal) int {
	switch {
	case d.negative && !o.negative:
		return -1
	case !d.negative && o.negative:
		return 1
	case d.negative:
		return o.compareSize(d)
	}
	return d.compareSize(o)
}

// compareSize compares without signs.
func (d decimal) compareSize(o decimal) int {
	switch {
	case d.digits == "" || o.digits == "":
		return len(d.digits) - len(o.digits)
	case d.point != o.point:
		return d.point - o.point
	}
	return strings.Compare(d.digits, o.digits)
}

// isMultipleOf reports whether d divided by o, which is not zero, is an integer. With a and b the digits as integers and k
// the difference of the powers of ten, that is a * 10^k / b. Where k is negative, a would have to end with a zero.
func (d decimal) isMultipleOf(o decimal) bool {
	if d.digits == "" {
		return true
	}
	k := (d.point - len(d.digits)) - (o.point - len(o.digits))
	if k < 0 {
		return false
	}
	a, _ := strconv.ParseUint(d.digits, 10, 64)
	b, _ := strconv.ParseUint(o.digits, 10, 64)
	remainder := a % b
	for power := uint64(10) % b; k > 0; k >>= 1 {
		if k&1 == 1 {
			remainder = mulMod(remainder, power, b)
		}
		power = mulMod(power, power, b)
	}
	return remainder == 0
}

func mulMod(x, y, m uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return bits.Rem64(high, low, m)
}
