package reducer

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// schemaCache keeps compiled node schemas by their canonical text: a pure
// function's results, so it decides nothing.
type schemaCache struct {
	compiled map[schema.Value]*nodeschema.Schema
	bytes    int // of memory, about
}

// maxCachedBytes is when the cache is emptied: a hostile schema of 16 KiB takes
// megabytes, an ordinary one a few kilobytes.
const maxCachedBytes = 32 << 20

func newSchemaCache() *schemaCache {
	return &schemaCache{compiled: make(map[schema.Value]*nodeschema.Schema)}
}

// compile returns the compiled form of a registered schema.
func (c *schemaCache) compile(text schema.Value) *nodeschema.Schema {
	if compiled, ok := c.compiled[text]; ok {
		return compiled
	}
	compiled, err := nodeschema.Compile(text)
	if err != nil {
		panic(fmt.Sprintf("reducer: a registered node schema does not compile: %v", err))
	}
	if c.bytes+compiled.Size() > maxCachedBytes {
		clear(c.compiled)
		c.bytes = 0
	}
	c.compiled[text] = compiled
	c.bytes += compiled.Size()
	return compiled
}

// checkSchema refuses an instance that its node's schema does not take, or that
// is too large to be checked (RULES 10).
func (q *question) checkSchema(code events.Code, text, instance schema.Value) *refusal {
	if failure := q.schemas.compile(text).Check(instance); failure != nil {
		return refuse(code, "%s", failure.Message).because(failure.Reason).at(failure.Pointer)
	}
	return nil
}
