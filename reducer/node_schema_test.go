package reducer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// TestSchemaCache: the cache keeps what is used, within its bound.
func TestSchemaCache(t *testing.T) {
	c := newSchemaCache()
	text := func(i int) schema.Value {
		return schema.Value(fmt.Sprintf(`{"anyOf":[{"const":%d}%s]}`, i, strings.Repeat(",{}", 4000)))
	}
	first := c.compile(text(0))
	if c.compile(text(0)) != first {
		t.Error("a schema is compiled again")
	}
	for i := range 20 {
		c.compile(text(i))
		if c.bytes > maxCachedBytes || c.bytes < len(c.compiled)*first.Size() {
			t.Fatalf("after %d schemas of %d bytes the cache holds %d with %d bytes", i+1, first.Size(), len(c.compiled), c.bytes)
		}
	}
	if len(c.compiled) == 20 {
		t.Error("the cache was never emptied")
	}
}
