package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

func TestSettleOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\ngrant g\nstart-run r\ntransition RUNNING\nadmit o\nadmit p item=lamp\ndispatch o-1",
		Command: "settle o-1 effect=CONFIRMED_NOT_APPLIED cost=7",
		List: []reducertest.Guard{
			{Code: "ATTEMPT_NOT_FOUND", Break: "arg attemptId=none"},
			{Code: "ATTEMPT_NOT_DISPATCHED", Break: "arg attemptId=p-1"},
			{Code: "ATTEMPT_SETTLED", Break: "pre settle o-1 effect=CONFIRMED_NOT_APPLIED cost=7", Not: "ATTEMPT_NOT_DISPATCHED"},
		},
	}.Order(t)
}
