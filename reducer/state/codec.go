package state

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// rowVersion is the first byte of every row. A new layout gets a new number
// and the old one stays readable; members may be appended to a row under the
// same number, and are zero when an older build wrote it.
const rowVersion = 1

// ErrRow marks a row that is not what was written: the store is damaged and has
// to be built again from the log.
var ErrRow = errors.New("malformed row")

// Meta says which decision changed a row last.
type Meta struct {
	CommandSeq uint64         // of that decision
	LogSeq     uint64         // of the block that holds it
	At         schema.Decimal // the ledger's now at that decision
}

// row is a kind of row: one method lists its fields, to write and to read.
type row interface {
	fields(c *coder)
}

// coder writes fields to buf, or reads them from it.
type coder struct {
	reading bool
	buf     []byte
	err     error
}

func appendRow(dst []byte, meta *Meta, r row) []byte {
	c := coder{buf: append(dst, rowVersion)}
	c.meta(meta)
	r.fields(&c)
	return c.buf
}

func decodeRow(value []byte, meta *Meta, r row) error {
	if len(value) == 0 || value[0] != rowVersion {
		return fmt.Errorf("%w: version", ErrRow)
	}
	c := coder{reading: true, buf: value[1:]}
	c.meta(meta)
	r.fields(&c)
	if c.err == nil && len(c.buf) > 0 {
		c.err = fmt.Errorf("%w: %d bytes too many", ErrRow, len(c.buf))
	}
	return c.err
}

func (c *coder) meta(m *Meta) {
	c.unsigned(&m.CommandSeq)
	c.unsigned(&m.LogSeq)
	c.decimal(&m.At)
}

func (c *coder) unsigned(p *uint64) {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *p)
		return
	}
	if len(c.buf) == 0 { // a member appended since
		return
	}
	value, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail()
		return
	}
	*p, c.buf = value, c.buf[n:]
}

func (c *coder) int(p *int64) {
	value := uint64(*p)
	c.unsigned(&value)
	*p = int64(value)
}

func (c *coder) bool(p *bool) {
	var value uint64
	if *p {
		value = 1
	}
	c.unsigned(&value)
	*p = value == 1
}

func (c *coder) string(p *string) {
	size := uint64(len(*p))
	c.unsigned(&size)
	if !c.reading {
		c.buf = append(c.buf, *p...)
		return
	}
	if size > uint64(len(c.buf)) {
		c.fail()
		return
	}
	*p, c.buf = string(c.buf[:size]), c.buf[size:]
}

// decimal writes 0 and a varint, or the digits as a string of at least 20.
func (c *coder) decimal(p *schema.Decimal) {
	small, isSmall := p.Uint64()
	var digits string
	if !isSmall {
		digits = p.String()
	}
	c.string(&digits)
	if digits == "" {
		c.unsigned(&small)
	}
	if !c.reading {
		return
	}
	if digits == "" {
		*p = schema.DecimalOf(small)
		return
	}
	value, err := schema.ParseDecimal(digits)
	if err != nil {
		c.fail()
		return
	}
	*p = value
}

func (c *coder) optDecimal(p **schema.Decimal) {
	present := *p != nil
	c.bool(&present)
	if !present {
		return
	}
	if c.reading {
		*p = new(schema.Decimal)
	}
	c.decimal(*p)
}

func (c *coder) optBool(p **bool) {
	present := *p != nil
	c.bool(&present)
	if !present {
		return
	}
	if c.reading {
		*p = new(bool)
	}
	c.bool(*p)
}

func (c *coder) fail() {
	if c.err == nil {
		c.err = fmt.Errorf("%w: cut short", ErrRow)
	}
	c.buf = nil
}

func (c *coder) strings(p *[]string) {
	count := uint64(len(*p))
	c.unsigned(&count)
	if c.reading {
		if count > uint64(len(c.buf)) {
			c.fail()
			return
		}
		*p = make([]string, count)
	}
	for i := range *p {
		c.string(&(*p)[i])
	}
}
