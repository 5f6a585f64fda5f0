package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// TestDispatchOrder dispatches a second attempt, whose operation works for the
// node already.
func TestDispatchOrder(t *testing.T) {
	reducertest.Guards{
		Setup: `
open-contract require-plan=true max-age=500 max-attempts=9
register-graph graph
  work TASK config={"effect":"none"}
  aside LOOP config={"maxIterations":9}
  later TASK after=work
  end END after=(later, aside)
grant g
grant spare
start-run r
attach-graph graph
transition RUNNING
pin-plan p
activate-plan p
approve ok uses=9
admit o approval=ok
dispatch o-1 node=work
settle o-1 effect=CONFIRMED_NOT_APPLIED cost=0
retry o
`,
		Command: "dispatch o-2 node=work",
		List: []reducertest.Guard{
			{Code: "ATTEMPT_NOT_FOUND", Break: "arg attemptId=none"},
			{Code: "ATTEMPT_NOT_PREPARED", Break: "pre settle o-2 effect=CONFIRMED_NOT_APPLIED cost=0"},
			{Code: "PREVIOUS_EFFECT_APPLIED", Break: "pre settle o-1 cost=0"},
			{Code: "RUN_NOT_RUNNING", Break: "then transition PAUSED"},
			{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
			{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
			{Code: "EPOCH_STALE", Break: "pre continue-run second"},
			{Code: "PLAN_NOT_PINNED", Break: unpinned},
			{Code: "PRINCIPAL_MISMATCH", Break: "edit open-contract act-for.agent=(helper, manager); arg by=stranger"},
			{Code: "POLICY_DENIED", Break: "arg policy=DENY"},
			{Code: "POLICY_INDETERMINATE", Break: "arg policy=INDETERMINATE"},
			{Code: "MANDATORY_CHECKS_FAILED", Break: "arg checks-ok=false"},
			{Code: "AUTHORIZATION_IN_FUTURE", Break: "arg checked=+1"},
			{Code: "AUTHORIZATION_STALE", Break: "arg checked=499"},
			{Code: "GRANT_REVOKED", Break: "then revoke-grant g"},
			{Code: "GRANT_EXPIRED", Break: "edit grant g expires=1500; then at 1500"},
			{Code: "APPROVAL_WITHDRAWN", Break: "then withdraw-approval ok"},
			{Code: "APPROVAL_EXPIRED", Break: "edit approve ok expires=1500; then at 1500"},
			{Code: "SELF_APPROVAL", Break: "arg by=manager"},
			{Code: "EFFECT_UNRESOLVED", Break: "pre admit x grant=spare; pre dispatch x-1 node=aside"},
			{
				Code:  "BUDGET_EXCEEDED",
				Break: "pre admit y grant=spare item=lamp amount=1; pre dispatch y-1 node=aside; pre settle y-1 cost=5000",
			},
			{
				Code:  "GRANT_LIMIT_EXCEEDED",
				Break: "edit grant g limit=150; pre settle o-1 effect=CONFIRMED_NOT_APPLIED cost=60",
			},
			{Code: "NODE_REQUIRED", Break: "arg -nodeId"},
			{Code: "NODE_NOT_FOUND", Break: "arg node=none", Not: "NODE_REQUIRED"},
			{Code: "NODE_KIND_MISMATCH", Break: "arg node=end", Not: "NODE_REQUIRED"},
			{Code: "NODE_NOT_PENDING", Break: "pre complete-node work"},
			{Code: "NODE_NOT_READY", Break: "arg node=later", Not: "NODE_REQUIRED NODE_NOT_PENDING"},
			{Code: "NODE_MISMATCH", Break: "arg node=aside", Not: "NODE_REQUIRED NODE_NOT_PENDING"},
		},
	}.Order(t)
}

// TestDispatchNodeOrder dispatches a first attempt for a node: what the node
// asks comes after everything else.
func TestDispatchNodeOrder(t *testing.T) {
	for kind, full := range map[string]reducertest.Guard{
		"TASK": {
			Code:  "NODE_EFFECT_EXISTS",
			Break: "pre admit x grant=spare capability=sell resource=bank; pre dispatch x-1 node=work",
			Not:   "NODE_ACTION_MISMATCH NODE_INPUT_INVALID NODE_NOT_READY",
		},
		"LOOP": {
			Code:  "LOOP_EXHAUSTED",
			Break: "pre admit x grant=spare capability=sell resource=bank; pre dispatch x-1 node=work",
			Not:   "NODE_ACTION_MISMATCH NODE_INPUT_INVALID NODE_NOT_READY",
		},
	} {
		reducertest.Guards{
			Setup: `
open-contract actions=(buy, sell) resources=(shop, bank)
register-graph graph
  first TASK config={"effect":"none"}
  work ` + kind + ` after=first config={"maxIterations":1}
  end END after=work
grant g
grant spare actions=(buy, sell) resources=(shop, bank)
start-run r
attach-graph graph
transition RUNNING
complete-node first
admit o
`,
			Command: "dispatch o-1 node=work",
			List: []reducertest.Guard{
				{
					Code:  "BUDGET_EXCEEDED",
					Break: "pre admit y grant=spare item=lamp; pre settle y-1 effect=CONFIRMED_NOT_APPLIED cost=0; then settle y-1 effect=UNKNOWN cost=5000",
				},
				{Code: "NODE_NOT_FOUND", Break: "arg node=none"},
				{Code: "NODE_KIND_MISMATCH", Break: "arg node=end"},
				{Code: "NODE_ACTION_MISMATCH", Break: `edit work config={"maxIterations":1,"resource":"bank"}`},
				full,
				{Code: "NODE_INPUT_INVALID", Break: `edit work in={"required":["colour"]}`},
			},
		}.Order(t)
	}
}

// TestDispatchGraphOrder: a policy that wants a graph comes before the node.
func TestDispatchGraphOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\ngrant g limit=150\nstart-run r\ntransition RUNNING\nadmit o",
		Command: "dispatch o-1",
		List: []reducertest.Guard{
			{
				Code:  "GRANT_LIMIT_EXCEEDED",
				Break: "pre admit y item=lamp amount=1; pre settle y-1 effect=CONFIRMED_NOT_APPLIED cost=0; pre settle y-1 effect=UNKNOWN cost=90",
			},
			{Code: "GRAPH_REQUIRED", Break: "edit open-contract require-graph=true"},
			{Code: "GRAPH_NOT_ATTACHED", Break: "arg node=any"},
		},
	}.Order(t)
}
