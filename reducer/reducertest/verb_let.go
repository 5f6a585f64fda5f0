package reducertest

import (
	"fmt"

	"github.com/cockroachdb/datadriven"
)

// let gives a JSON value a name, for arguments that would be long. $name stands
// for it.
//
//	let order
//	{"item": "desk", "pieces": 4}
//	----
//	ok
//
//	admit o payload=$order payload.pieces=5
func (w *World) let(d *datadriven.TestData) (string, error) {
	if len(d.CmdArgs) != 1 {
		return "", fmt.Errorf("let wants a name")
	}
	w.story.names[d.CmdArgs[0].Key] = d.Input
	var value any
	return "ok", unmarshal(d.Input, &value)
}
