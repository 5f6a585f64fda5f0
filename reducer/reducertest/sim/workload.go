package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// contracts are the ledgers of every world.
var contracts = []string{"north", "south"}

// opening is what the host does first in a ledger. Others begin at once, so
// some of what they say comes before it.
func opening(contract string) []string {
	const forever = "4102444800000"
	return []string{
		fmt.Sprintf(`{"type":"openContract","contract":{"id":%q,"missionId":"m","aiwsEdition":"0.4","profile":"finite-v1","budget":"900",`+
			`"deadline":%q,"criteria":["done"],"actions":["pay"],"resources":["bank"],"requiresApproval":false,"maxAttempts":"3",`+
			`"maxAuthorizationAgeMs":"3155760000000","features":["triggers"]}}`, contract, forever),
		fmt.Sprintf(`{"type":"grant","grant":{"id":"g","subject":"w1","profile":"finite-v1","actions":["pay"],"resources":["bank"],`+
			`"notBefore":"0","expiresAt":%q,"limit":"800","canDelegate":false,"depth":"0"}}`, forever),
		fmt.Sprintf(`{"type":"registerTrigger","trigger":{"id":"t","revision":"1","kind":"SCHEDULED","source":"clock","eventType":"slot",`+
			`"contractId":%q,"action":"START_RUN","enabled":true,"notBefore":"0","expiresAt":%q,"maxAgeMs":"10000","maxConcurrent":"90",`+
			`"rateLimit":"90","rateWindowMs":"1000","maxDepth":"1","schedule":{"startMs":"0","intervalMs":"700","catchUp":"ALL","maxCatchUp":"2"}}}`,
			contract, forever),
	}
}

// say adds a command whose subject names its own type.
func (c *client) say(contract, body string) *order {
	var head struct{ Type string }
	if err := json.Unmarshal([]byte(body), &head); err != nil {
		panic(err)
	}
	return c.publishes(contract, head.Type, []byte(body))
}

func (c *client) publishes(contract, kind string, body []byte) *order {
	n := len(c.todo)
	o := &order{
		c: c, n: n, contract: contract, body: body,
		subject: fmt.Sprintf("aiws.cmd.%s.%s.%s", contract, c.principal, kind),
		ids:     []string{fmt.Sprintf("id-%d", n)},
	}
	c.todo = append(c.todo, o)
	return o
}

// plan makes a client's commands. All work on the same few operations of the
// same runs, so that several writers want the same thing.
func (c *client) plan(rng *rand.Rand, setup *Setup) {
	contract := contracts[rng.IntN(len(contracts))]
	run := fmt.Sprintf("run%d", rng.IntN(2))
	c.say(contract, fmt.Sprintf(`{"type":"startRun","runId":%q}`, run))
	c.say(contract, fmt.Sprintf(`{"type":"transition","runId":%q,"to":"RUNNING"}`, run))
	for len(c.todo) < setup.Commands {
		if rng.IntN(4) == 0 {
			c.odd(rng, contract)
			continue
		}
		c.effect(rng, contract, run)
	}
}

const authorized = `"authorizationCheckedAt":"1704067200000","policy":"ALLOW","mandatoryChecksOk":true`

// effect takes one operation from its admission to its end, or part of the way.
func (c *client) effect(rng *rand.Rand, contract, run string) {
	op := fmt.Sprintf("%s-op%d", run, rng.IntN(4))
	say := func(format string, args ...any) {
		if rng.IntN(6) > 0 {
			c.say(contract, fmt.Sprintf(format, args...))
		}
	}
	say(`{"type":"admit","runId":%q,"operationId":%q,"attemptId":"%[2]s-a0","grantId":"g","subject":"w1",`+
		`"action":{"capability":"pay","resource":"bank","payload":{"op":%[2]q},"preconditions":{}},"amount":"%[3]d",`+authorized+`}`,
		run, op, 10+rng.IntN(90))
	say(`{"type":"dispatch","attemptId":"%s-a0",`+authorized+`}`, op)
	effects := []string{"CONFIRMED_APPLIED", "CONFIRMED_NOT_APPLIED", "UNKNOWN"}
	say(`{"type":"settle","attemptId":"%s-a0","effect":%q,"actualCost":"%d"}`, op, effects[rng.IntN(len(effects))], rng.IntN(90))
	if rng.IntN(3) == 0 {
		say(`{"type":"retry","operationId":%q,"attemptId":"%[1]s-a1","amount":"%[2]d",`+authorized+`}`, op, 10+rng.IntN(90))
		say(`{"type":"dispatch","attemptId":"%s-a1",`+authorized+`}`, op)
	}
}

// odd is a command as nobody should send it, but some do, and one that time
// decides.
func (c *client) odd(rng *rand.Rand, contract string) {
	const run = `{"type":"startRun","runId":"odd"}`
	switch rng.IntN(11) {
	case 0:
		c.publishes(contract, "startRun", []byte(`{"type":"startRun","runId":`)) // cut short
	case 1:
		c.publishes(contract, "startRun", []byte("\xff\xfe\x00 not text"))
	case 2:
		c.publishes(contract, "transition", []byte(run)) // another type than the subject's
	case 3:
		o := c.publishes(contract, "startRun", []byte(run))
		o.subject, o.contract = "aiws.cmd.nobody", ""
	case 4:
		o := c.publishes(contract, "startRun", []byte(run))
		o.ids = []string{"one", "two"}
	case 5:
		o := c.publishes(contract, "startRun", []byte(run))
		o.ids = nil
	case 6: // an id again, with another body or the same
		first := c.todo[rng.IntN(len(c.todo))]
		o := c.publishes(contract, "startRun", []byte(run))
		o.ids = first.ids
		if rng.IntN(2) == 0 {
			o.subject, o.contract, o.body = first.subject, first.contract, first.body
		}
	case 7: // another contract, which nobody opens
		c.say("nowhere", run)
	case 8:
		c.say(contract, `{"type":"tickTrigger","triggerId":"t"}`)
	case 9:
		c.say(contract, `{"type":"pinPlan","runId":"run0","planId":"p","form":"opaque","document":{}}`)
	case 10:
		c.say(contract, `{"type":"activatePlan","runId":"run0","planId":"p","expectedPlan":"none"}`)
	}
}
