package reducer

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/events"
)

// refusal is why a command is refused. Code and reason are compared; pointer
// and message are for people.
type refusal struct {
	code    events.Code
	reason  string
	pointer string
	message string
}

// refuse says no, with a sentence that names what was wanted and what is there.
func refuse(code events.Code, format string, args ...any) *refusal {
	return &refusal{code: code, message: fmt.Sprintf(format, args...)}
}

// because adds the fixed word that a rule gives beside its code.
func (r *refusal) because(reason string) *refusal {
	r.reason = reason
	return r
}

// at adds the place of the fault.
func (r *refusal) at(pointer string) *refusal {
	r.pointer = pointer
	return r
}

// first returns the first refusal of checks made one after another.
func first(checks ...func() *refusal) *refusal {
	for _, check := range checks {
		if refused := check(); refused != nil {
			return refused
		}
	}
	return nil
}

// accept is what an accepted command says.
func accept(found ...events.Event) ([]events.Event, *refusal) { return found, nil }

func reject(refused *refusal) ([]events.Event, *refusal) { return nil, refused }
