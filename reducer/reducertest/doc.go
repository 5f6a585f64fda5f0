// Package reducertest tests the rules: a scenario interpreter, a checker that
// looks at every decision, replays of what was decided, and a generator of
// random command logs. It is for tests only.
//
// # Scenarios
//
// A scenario is a text file in testdata/scenarios/<subject>: its name is a
// sentence, its opening comment says why, and it has less than 60 lines. Each
// directive sends one command and shows what came of it: the events, one on a
// line, or why not.
//
//	# Two purchases want the last money. The log decides who was first.
//	setup
//	open-contract budget=100
//	grant g
//	start-run r
//	transition RUNNING
//	----
//	ok
//
//	admit lamp amount=60
//	----
//	operationAdmitted action={..} by=agent fingerprint=sha256:1f0ba2c1.. grantId=g operationId=lamp runId=r subject=agent
//	attemptPrepared amount=60 attemptId=lamp-1 by=agent epoch=0 number=1 operationId=lamp runId=r
//
//	admit chair amount=60
//	----
//	rejected BUDGET_EXCEEDED: 120 would be spent or reserved of a budget of 100
//
// There is one verb for each command: its type in kebab case. Arguments are
// members of the command; what a story does not say has a sensible default
// (verbs.go), so that only what matters stands there. The first bare argument
// is the member that the story is about. See [World.Do] for what else an
// argument may be. Other verbs:
//
//	setup        several commands, indented lines belong to the one above; all must be accepted
//	at           move time:                       at 5000        at +100
//	state        rows of a projection:            state runs r state epoch        state waits
//	redeliver    the last message once more, or that of a sequence:      redeliver        redeliver 3
//	raw          any subject, header and body:    raw type=startRun        {"type": "startRun"
//	let          name a long JSON value:          let plan        {"steps": []}
//	given        events as an older log holds them, one JSON object a line
//	replay       fold and decide everything again, now
//
// Every scenario ends with a replay, and the invariants of RULES 11 are checked
// after each command, so each story is a replay test too. Run the tests with
// -rewrite to accept what they print, and read the difference.
package reducertest
