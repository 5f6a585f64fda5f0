package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

// unpinned is how an older log may hold a plan that nobody pinned.
const unpinned = `given {"type":"planActivated","runId":"r","planId":"q","previous":"p"}`

func TestAdmitOrder(t *testing.T) {
	reducertest.Guards{
		Setup: `
open-contract require-plan=true requires-approval=true max-age=500 actions=(buy, sell) resources=(shop, bank)
grant g
grant spare
start-run r
start-run s
transition RUNNING
pin-plan p
activate-plan p
approve ok uses=9
approve spare uses=9
approve lamps item=lamp uses=9
approve other run=s
`,
		Command: "admit o approval=ok",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_NOT_RUNNING", Break: "then transition PAUSED"},
			{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
			{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
			{Code: "PLAN_NOT_PINNED", Break: unpinned},
			{Code: "OPERATION_EXISTS", Break: "pre admit o attempt=x item=lamp approval=lamps grant=spare"},
			{Code: "ATTEMPT_EXISTS", Break: "pre admit x attempt=o-1 item=lamp approval=lamps grant=spare"},
			{Code: "PRINCIPAL_MISMATCH", Break: "edit open-contract act-for.agent=(helper, manager); arg by=stranger"},
			{Code: "POLICY_DENIED", Break: "arg policy=DENY"},
			{Code: "POLICY_INDETERMINATE", Break: "arg policy=INDETERMINATE"},
			{Code: "MANDATORY_CHECKS_FAILED", Break: "arg checks-ok=false"},
			{Code: "AUTHORIZATION_IN_FUTURE", Break: "arg checked=+1"},
			{Code: "AUTHORIZATION_STALE", Break: "arg checked=499"},
			{Code: "ACTION_NOT_ALLOWED", Break: "arg capability=burn"},
			{Code: "RESOURCE_NOT_ALLOWED", Break: "arg resource=moon"},
			{Code: "EFFECT_UNRESOLVED", Break: "pre admit z approval=spare grant=spare; pre dispatch z-1"},
			{Code: "GRANT_NOT_FOUND", Break: "arg grant=none"},
			{Code: "GRANT_SUBJECT_MISMATCH", Break: "edit grant g subject=helper"},
			{Code: "GRANT_REVOKED", Break: "then revoke-grant g"},
			{Code: "GRANT_NOT_YET_VALID", Break: "edit grant g not-before=50000"},
			{Code: "GRANT_EXPIRED", Break: "edit grant g expires=1500; then at 1500", Not: "GRANT_NOT_YET_VALID"},
			{Code: "ACTION_NOT_GRANTED", Break: "edit grant g actions=(sell)"},
			{Code: "RESOURCE_NOT_GRANTED", Break: "edit grant g resources=(bank)"},
			{Code: "APPROVAL_REQUIRED", Break: "arg -approvalId"},
			{Code: "APPROVAL_NOT_FOUND", Break: "arg approval=none", Not: "APPROVAL_REQUIRED"},
			{Code: "APPROVAL_RUN_MISMATCH", Break: "arg approval=other", Not: "APPROVAL_REQUIRED"},
			{Code: "APPROVAL_WITHDRAWN", Break: "then withdraw-approval ok"},
			{Code: "APPROVAL_EXPIRED", Break: "edit approve ok expires=1500; then at 1500"},
			{Code: "SELF_APPROVAL", Break: "arg by=manager"},
			{Code: "APPROVAL_FINGERPRINT_MISMATCH", Break: "edit approve ok fingerprint=other"},
			{
				Code: "APPROVAL_EXHAUSTED", Break: "edit approve ok uses=1; pre admit y approval=ok grant=spare",
				Not: "APPROVAL_FINGERPRINT_MISMATCH EFFECT_UNRESOLVED",
			},
			{
				Code: "ATTEMPTS_EXHAUSTED", Break: "edit open-contract max-attempts=0",
				Not: "OPERATION_EXISTS ATTEMPT_EXISTS EFFECT_UNRESOLVED APPROVAL_EXHAUSTED",
			},
			{Code: "BUDGET_EXCEEDED", Break: "arg amount=2000"},
			{Code: "GRANT_LIMIT_EXCEEDED", Break: "edit grant g limit=50"},
		},
	}.Order(t)
}
