package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

func TestRetryOrder(t *testing.T) {
	reducertest.Guards{
		Setup: `
open-contract max-age=500 max-attempts=2
grant g
grant spare
start-run r
transition RUNNING
approve ok uses=2
admit o approval=ok
dispatch o-1
settle o-1 effect=CONFIRMED_NOT_APPLIED cost=0
`,
		Command: "retry o attempt=o-9",
		List: []reducertest.Guard{
			{Code: "OPERATION_NOT_FOUND", Break: "arg operationId=none"},
			{Code: "ATTEMPT_EXISTS", Break: "pre admit x attempt=o-9 item=lamp grant=spare"},
			{Code: "RUN_NOT_RUNNING", Break: "then transition PAUSED"},
			{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
			{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
			{Code: "PREVIOUS_EFFECT_APPLIED", Break: "then settle o-1 cost=0"},
			{Code: "PREVIOUS_EFFECT_UNRESOLVED", Break: "pre retry o attempt=o-2"},
			{
				Code:  "ATTEMPTS_EXHAUSTED",
				Break: "edit approve ok uses=9; pre retry o attempt=o-3; pre dispatch o-3; pre settle o-3 effect=CONFIRMED_NOT_APPLIED cost=0",
				Not:   "PREVIOUS_EFFECT_UNRESOLVED",
			},
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
			{
				Code: "APPROVAL_EXHAUSTED", Break: "pre admit y approval=ok grant=spare",
				Not: "PREVIOUS_EFFECT_UNRESOLVED ATTEMPTS_EXHAUSTED",
			},
			{Code: "BUDGET_EXCEEDED", Break: "arg amount=2000"},
			{Code: "GRANT_LIMIT_EXCEEDED", Break: "edit grant g limit=120; arg amount=121"},
		},
	}.Order(t)
}
