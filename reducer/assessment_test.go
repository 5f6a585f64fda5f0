package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

func TestVerifyOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\ngrant g\nstart-run r\ntransition RUNNING",
		Command: "verify v9",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_STATE_INVALID", Break: "then transition CANCELING; then transition CANCELED", Not: "UNSETTLED_WORK"},
			{Code: "PRINCIPAL_MISMATCH", Break: "arg assessor=owner", Not: "SELF_VERIFICATION"},
			{Code: "SELF_VERIFICATION", Break: "pre admit p item=lamp by=auditor; pre settle p-1 effect=CONFIRMED_NOT_APPLIED cost=0", Not: "ALREADY_DECIDED VERIFICATION_EXISTS"},
			{Code: "UNSETTLED_WORK", Break: "then admit o"},
			{Code: "ALREADY_DECIDED", Break: "pre verify v1 by=adapter; pre accept v1", Not: "VERIFICATION_EXISTS"},
			{Code: "VERIFICATION_EXISTS", Break: "pre verify v9 by=adapter"},
			{Code: "CRITERIA_MISMATCH", Break: `arg results={"works":"PASS","more":"PASS"}`},
			{Code: "EVIDENCE_REQUIRED", Break: "arg evidence=()"},
		},
	}.Order(t)
}

func TestAcceptOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\ngrant g\nstart-run r\ntransition RUNNING\nverify v1",
		Command: "accept v1",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_STATE_INVALID", Break: "then transition FAILED", Not: "UNSETTLED_WORK VERIFICATION_STALE"},
			{Code: "PRINCIPAL_MISMATCH", Break: "arg authority=other"},
			{Code: "VERIFICATION_NOT_FOUND", Break: "arg verificationRevision=none"},
			{Code: "VERIFICATION_INVALIDATED", Break: "then invalidate r"},
			{Code: "VERIFICATION_SUPERSEDED", Break: "then verify v2"},
			{Code: "UNSETTLED_WORK", Break: "then admit o"},
			{Code: "VERIFICATION_STALE", Break: "then activate-plan p"},
			{Code: "ALREADY_DECIDED", Break: "pre accept v1 decision=REJECTED"},
			{Code: "SELF_ACCEPTANCE", Break: "arg by=auditor"},
			{Code: "CRITERIA_NOT_MET", Break: `edit verify v1 results={"works":"FAIL"}`},
		},
	}.Order(t)
}

func TestInvalidateOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r\nverify v1",
		Command: "invalidate r",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg runId=none"},
			{Code: "NOTHING_TO_INVALIDATE", Break: "pre invalidate r"},
		},
	}.Order(t)
}
