package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

func TestStartRunOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nregister-trigger t every=100 start=1000\ntick-trigger t",
		Command: "start-run new",
		List: []reducertest.Guard{
			{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
			{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
			{Code: "RUN_EXISTS", Break: "arg runId=t@1000"}, // reserved as well
			{Code: "RUN_ID_RESERVED", Break: "arg runId=t@1001"},
		},
	}.Order(t)
}

func TestContinueRunOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r",
		Command: "continue-run two",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "SEGMENT_EXISTS", Break: "pre continue-run two"},
		},
	}.Order(t)
}

func TestActivatePlanOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract require-plan=true\nstart-run r\npin-plan old\npin-plan p\nactivate-plan old",
		Command: "activate-plan p expected=old",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "PLAN_ID_RESERVED", Break: "arg planId=none"},
			{Code: "PLAN_CONFLICT", Break: "arg expected=other"},
			{Code: "PLAN_UNCHANGED", Break: "arg planId=old"},
			{Code: "PLAN_NOT_PINNED", Break: "arg planId=never"},
		},
	}.Order(t)
}

func TestPinPlanOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r\npin-plan used document={\"a\":1}",
		Command: "pin-plan p form=execution-plan.v1\n{\"document\": {\"version\": \"1\", \"steps\": [{\"id\": \"a\", \"capability\": \"x\"}]}, \"admission\": {\"capabilities\": [{\"id\": \"x\", \"version\": \"1\"}]}}",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "PLAN_ID_RESERVED", Break: "arg planId=none"},
			{Code: "PLAN_ACTIVE", Break: "pre activate-plan p"},
			{Code: "PLAN_INVALID unknown-capability", Break: `arg admission={"capabilities":[]}`},
			{Code: "PLAN_EXISTS", Break: "arg planId=used", Not: "PLAN_ACTIVE"},
		},
	}.Order(t)
}

func TestTransitionOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nregister-graph graph\n  end END\ngrant g\nstart-run r\ntransition RUNNING",
		Command: "transition COMPLETED",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED", Not: "UNSETTLED_WORK"},
			{Code: "TRANSITION_NOT_ALLOWED", Break: "then transition PAUSED", Not: "RUN_TERMINAL UNSETTLED_WORK"},
			{Code: "UNSETTLED_WORK", Break: "then admit o"},
			{Code: "WAITS_PENDING", Break: "pre wait w"},
			{Code: "GRAPH_INCOMPLETE", Break: "pre attach-graph graph"},
		},
	}.Order(t)
	reducertest.Guards{
		Setup:   "open-contract\ngrant g\nstart-run r",
		Command: "transition REJECTED",
		List: []reducertest.Guard{
			{Code: "TRANSITION_NOT_ALLOWED", Break: "then transition RUNNING", Not: "UNSETTLED_WORK"},
			{Code: "UNSETTLED_WORK", Break: "pre transition RUNNING; pre admit o; then transition READY"},
			{
				Code:  "RUN_HAS_OPERATIONS",
				Break: "pre transition RUNNING; pre admit p; pre settle p-1 effect=CONFIRMED_NOT_APPLIED cost=0; pre transition READY",
				Not:   "TRANSITION_NOT_ALLOWED UNSETTLED_WORK",
			},
		},
	}.Order(t)
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r",
		Command: "transition RUNNING",
		List: []reducertest.Guard{
			{Code: "TRANSITION_NOT_ALLOWED", Break: "then transition PAUSED"},
			{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
			{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
		},
	}.Order(t)
}

func TestMissionStateOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract",
		Command: "mission-state SUSPENDED",
		List: []reducertest.Guard{
			{Code: "MISSION_CLOSED", Break: "then mission-state CLOSED"},
			{Code: "MISSION_STATE_UNCHANGED", Break: "pre mission-state SUSPENDED"},
		},
	}.Order(t)
}
