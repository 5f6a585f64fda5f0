package doccheck

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// rowReader takes a row apart by its documented layout, and says what each byte
// is. It is written from the documentation, not from the codec.
type rowReader struct {
	value []byte
	out   strings.Builder
}

// field takes n bytes.
func (r *rowReader) field(what string, n int) []byte {
	taken := r.value[:n]
	r.value = r.value[n:]
	fmt.Fprintf(&r.out, "%-20s %s\n", fmt.Sprintf("% x", taken), what)
	return taken
}

func (r *rowReader) varint(name string) {
	value, n := binary.Uvarint(r.value)
	r.field(fmt.Sprintf("%s %d", name, value), n)
}

// decimal takes a number: an empty string and a varint. The other form, for more
// than a uint64, is a string of digits.
func (r *rowReader) decimal(name string) {
	length, n := binary.Uvarint(r.value)
	if length > 0 {
		r.field(fmt.Sprintf("%s %s", name, r.value[n:n+int(length)]), n+int(length))
		return
	}
	value, more := binary.Uvarint(r.value[n:])
	r.field(fmt.Sprintf("%s %d", name, value), n+more)
}
