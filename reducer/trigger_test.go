package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

func TestRegisterTriggerOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract",
		Command: "register-trigger t every=100 catch-up=ALL",
		List: []reducertest.Guard{
			{Code: "TRIGGER_EXISTS", Break: "pre register-trigger t"},
			{Code: "CONTRACT_MISMATCH", Break: "arg for=other"},
			{Code: "TRIGGER_INVALID window", Break: "arg not-before=100000"},
			{Code: "TRIGGER_INVALID schedule", Break: "arg kind=MANUAL"},
			{Code: "TRIGGER_INVALID interval", Break: "arg every=0"},
			{Code: "TRIGGER_INVALID maxCatchUp", Break: "arg max-catch-up=0"},
			{Code: "TRIGGER_INVALID conditionMode", Break: "arg mode=EDGE"},
			{Code: "TRIGGER_INVALID waitId", Break: "arg wait=w"},
			{Code: "TRIGGER_INVALID rateWindow", Break: "arg rate-window=0"},
			{Code: "TRIGGER_INVALID limits", Break: "arg rate-limit=0"},
		},
	}.Order(t)
	reducertest.Guards{
		Setup:   "open-contract",
		Command: `register-trigger t kind=CONDITION mode=EDGE field=f equals="x"`,
		List: []reducertest.Guard{
			{Code: "TRIGGER_INVALID schedule", Break: "arg every=0"},
			{Code: "TRIGGER_INVALID conditionMode", Break: "arg -trigger.conditionMode"},
			{Code: "TRIGGER_INVALID filter", Break: "arg -trigger.filter"},
			{Code: "TRIGGER_INVALID waitId", Break: "arg action=RESUME_WAIT"},
			{Code: "TRIGGER_INVALID rateWindow", Break: "arg rate-window=0"},
			{Code: "TRIGGER_INVALID limits", Break: "arg max-concurrent=0"},
		},
	}.Order(t)
}

// firing are the guards of fireTrigger that come before those of its action.
var firing = []reducertest.Guard{
	{Code: "TRIGGER_NOT_FOUND", Break: "arg triggerId=none"},
	{Code: "TRIGGER_KIND_MISMATCH", Break: "arg triggerId=clock"},
	{Code: "TRIGGER_DISABLED", Break: "edit register-trigger t enabled=false", Not: "EVENT_DUPLICATE EVENT_ID_REUSED RATE_LIMITED CONCURRENCY_LIMITED"},
	{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
	{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
	{
		Code: "TRIGGER_NOT_YET_VALID", Break: "edit register-trigger t not-before=50000",
		Not: "CONTRACT_EXPIRED EVENT_DUPLICATE EVENT_ID_REUSED RATE_LIMITED CONCURRENCY_LIMITED",
	},
	{Code: "TRIGGER_EXPIRED", Break: "edit register-trigger t expires=1100; then at 1100", Not: "TRIGGER_NOT_YET_VALID"},
	{Code: "EVENT_MISMATCH", Break: "arg source=bank"},
	{Code: "EVENT_IN_FUTURE", Break: "arg occurred=+1"},
	{Code: "EVENT_STALE", Break: "arg occurred=0; then at 1050"},
	{Code: "DEPTH_EXCEEDED", Break: "arg depth=9"},
	{Code: "RUN_NOT_FOUND", Break: `arg data={"runId":"none","ok":true}`},
	{Code: "DEPTH_MISMATCH", Break: "arg depth=1"},
	{Code: "EVENT_DUPLICATE", Break: `pre fire-trigger t event=e9 run=x occurred=1000 data={"runId":"r","ok":true}; arg occurred=1000`},
	{Code: "EVENT_ID_REUSED", Break: `pre fire-trigger t event=e9 run=x occurred=999 data={"runId":"r","ok":true}`, Not: "EVENT_DUPLICATE"},
	{Code: "EVENT_FILTERED", Break: `arg data={"runId":"r"}`, Not: "EVENT_DUPLICATE"},
}

func TestFireTriggerOrder(t *testing.T) {
	start := append(append([]reducertest.Guard{}, firing...),
		reducertest.Guard{
			Code: "RATE_LIMITED", Not: "EVENT_DUPLICATE EVENT_ID_REUSED",
			Break: `edit register-trigger t rate-limit=1; pre fire-trigger t event=e8 run=x data={"runId":"r","ok":true}`,
		},
		reducertest.Guard{
			Code: "CONCURRENCY_LIMITED", Not: "RATE_LIMITED EVENT_DUPLICATE EVENT_ID_REUSED",
			Break: `edit register-trigger t max-concurrent=1; pre fire-trigger t event=e7 run=y data={"runId":"r","ok":true}`,
		},
		reducertest.Guard{Code: "RUN_EXISTS", Break: "arg runId=r"},
		reducertest.Guard{Code: "RUN_ID_RESERVED", Break: "arg runId=slot-1"},
	)
	reducertest.Guards{
		Setup: `
open-contract
register-trigger t kind=WORKFLOW_LIFECYCLE max-depth=5 field=ok equals=true
register-trigger clock every=100
start-run r
`,
		Command: `fire-trigger t event=e9 run=new data={"runId":"r","ok":true}`,
		List:    start,
	}.Order(t)
}

func TestFireTriggerForWaitOrder(t *testing.T) {
	answers := []reducertest.Guard{
		{Code: "EVENT_FILTERED", Break: `arg data={"runId":"r"}`},
		{
			Code:  "RATE_LIMITED",
			Break: `edit register-trigger t rate-limit=1; pre fire-trigger t event=e8 run=r data={"ok":true} correlation=for-w`,
			Not:   "WAIT_NOT_FOUND WAIT_NOT_PENDING", // the firing that counts has satisfied the wait
		},
		{Code: "WAIT_NOT_FOUND", Break: "edit register-trigger t wait=none"},
		{Code: "WAIT_RUN_MISMATCH", Break: "arg runId=s"},
		{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
		{Code: "WAIT_NOT_PENDING", Break: "pre resume w"},
		{Code: "CORRELATION_MISMATCH", Break: "arg correlation=other"},
		{Code: "WAIT_EXPIRED", Break: "then at 1500; arg occurred=1500"},
	}
	reducertest.Guards{
		Setup: `
open-contract
register-trigger t action=RESUME_WAIT wait=w field=ok equals=true
start-run r
start-run s
wait w deadline=1400
`,
		Command: `fire-trigger t event=e9 run=r data={"ok":true} correlation=for-w`,
		List:    answers,
	}.Order(t)
	answers[5].Not = "TIMER_NOT_DUE"
	answers[7] = reducertest.Guard{Code: "TIMER_NOT_DUE", Break: "edit wait w deadline=3000", Not: "RATE_LIMITED"}
	reducertest.Guards{
		Setup: `
open-contract
register-trigger t action=RESUME_WAIT wait=w field=ok equals=true
start-run r
start-run s
wait w deadline=1400 kind=TIMER
at 1400
`,
		Command: `fire-trigger t event=e9 run=r data={"ok":true} correlation=for-w`,
		List:    answers,
	}.Order(t)
}

func TestTickTriggerOrder(t *testing.T) {
	reducertest.Guards{
		Setup: `
open-contract
register-trigger t every=100 start=1000 catch-up=ALL
register-trigger e
`,
		Command: "tick-trigger t",
		List: []reducertest.Guard{
			{Code: "TRIGGER_NOT_FOUND", Break: "arg triggerId=none"},
			{Code: "TRIGGER_KIND_MISMATCH", Break: "arg triggerId=e"},
			{Code: "TRIGGER_DISABLED", Break: "edit register-trigger t enabled=false", Not: "TRIGGER_NOT_DUE RATE_LIMITED CONCURRENCY_LIMITED"},
			{Code: "MISSION_NOT_OPEN", Break: "then mission-state SUSPENDED"},
			{Code: "CONTRACT_EXPIRED", Break: "then at 100000"},
			{Code: "TRIGGER_NOT_DUE", Break: "pre tick-trigger t", Not: "CONTRACT_EXPIRED RATE_LIMITED CONCURRENCY_LIMITED"},
			{
				Code: "RATE_LIMITED", Break: "edit register-trigger t rate-limit=1; pre tick-trigger t; then at 1100",
				Not: "CONCURRENCY_LIMITED",
			},
			{Code: "CONCURRENCY_LIMITED", Break: "edit register-trigger t max-concurrent=1; pre tick-trigger t; then at 1100"},
		},
	}.Order(t)
}
