package workload

import (
	"fmt"
	"sync"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// attemptsOfRun is how many attempts a run of [NewAttempts] makes.
const attemptsOfRun = 20

// attempts is a run that only works: no setup, two commands to begin it, and
// three for each attempt.
var attempts = sync.OnceValue(func() cycles {
	s := &script{}
	s.add(agent, &schema.StartRun{RunID: runMark, Context: context(agent, 160)})
	s.transition("RUNNING")
	for i := range attemptsOfRun {
		letter := fmt.Sprintf("%02d", i)
		operation := runMark + "-" + letter
		s.attempt(operation, admit(letter, team, agent, ""), "")
		s.settle(operation+"1", "CONFIRMED_APPLIED", 120)
	}
	return cycles{kinds: [][]step{s.steps}}
})
