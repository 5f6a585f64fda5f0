package reducer

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
	"github.com/aiws-reducer/aiws-reducer/schema/nodeschema"
)

// schemaCache keeps compiled node schemas by their canonical text: a pure
// function's results, so it decides nothing.
type schemaCache map[schema.Value]*nodeschema.Schema

const maxCachedSchemas = 1000

func (c schemaCache) compile(text schema.Value) (*nodeschema.Schema, error) {
	if compiled, ok := c[text]; ok {
		return compiled, nil
	}
	compiled, err := nodeschema.Compile(text)
	if err != nil {
		return nil, err
	}
	if len(c) >= maxCachedSchemas {
		clear(c)
	}
	c[text] = compiled
	return compiled, nil
}

// checkSchema refuses an instance that its node's schema does not take, or that
// is too large to be checked (RULES 10).
func (q *question) checkSchema(code events.Code, text, instance schema.Value) *refusal {
	compiled, err := q.schemas.compile(text)
	if err != nil {
		panic(fmt.Sprintf("reducer: a registered node schema does not compile: %v", err))
	}
	if failure := compiled.Check(instance); failure != nil {
		return refuse(code, "%s", failure.Message).because(failure.Reason).at(failure.Pointer)
	}
	return nil
}
