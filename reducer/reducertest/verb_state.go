package reducertest

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// state shows rows of a projection as they are read: all, or that of a key; and
// all members, or those named. A member that is absent is left out. in=C asks
// another ledger.
//
//	state exposure contract/c reserved spent
//	----
//	contract/c reserved=60 spent=0
func (w *World) stateOf(d *datadriven.TestData) (string, error) {
	if len(d.CmdArgs) == 0 {
		return "", fmt.Errorf("state wants a projection")
	}
	projection, key, contract := d.CmdArgs[0].Key, "", w.story.contract
	var members []string
	for _, arg := range d.CmdArgs[1:] {
		switch {
		case arg.Key == "in" && len(arg.Vals) == 1:
			contract = arg.Vals[0]
		case key == "":
			key = arg.Key
		default:
			members = append(members, arg.Key)
		}
	}
	w.Commit()
	var b strings.Builder
	err := state.NewReader(w.Rows).Documents(projection, contract, "", func(doc *state.Document) bool {
		if key == "" || key == "*" || doc.Key == key {
			b.WriteString(shorten(row(doc, members)) + "\n")
		}
		return true
	})
	if err == nil && b.Len() == 0 {
		return "none", nil
	}
	return b.String(), err
}

func row(doc *state.Document, members []string) string {
	line := doc.Key
	values := map[string]string{}
	for name, value := range doc.Value.Members() {
		text := string(value)
		if plain, ok := value.Str(); ok {
			text = plain
		}
		values[name] = name + "=" + text
		if members == nil {
			line += " " + values[name]
		}
	}
	for _, name := range members {
		if values[name] != "" {
			line += " " + values[name]
		}
	}
	return line
}
