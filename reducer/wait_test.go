package reducer_test

import (
	"testing"

	"github.com/aiws-reducer/aiws-reducer/reducer/reducertest"
)

func TestWaitOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract deadline=5000\nstart-run r",
		Command: "wait w deadline=2000",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg run=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "WAIT_EXISTS", Break: "pre wait w deadline=2000"},
			{Code: "WAIT_DEADLINE_PAST", Break: "then at 7000"},
			{Code: "WAIT_DEADLINE_TOO_LATE", Break: "arg deadline=6000"},
		},
	}.Order(t)
}

func TestResumeOrder(t *testing.T) {
	guards := []reducertest.Guard{
		{Code: "WAIT_NOT_FOUND", Break: "arg waitId=none"},
		{Code: "WAIT_NOT_PENDING", Break: "pre at 2000; pre resume w"},
		{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
		{Code: "CORRELATION_MISMATCH", Break: "arg correlation=other"},
		{Code: "WAIT_EXPIRED", Break: "then at 2001"},
	}
	reducertest.Guards{Setup: "open-contract\nstart-run r\nwait w deadline=2000", Command: "resume w", List: guards}.Order(t)
	guards[1].Not = "TIMER_NOT_DUE"
	guards[4] = reducertest.Guard{Code: "TIMER_NOT_DUE", Break: "edit wait w deadline=3000"}
	reducertest.Guards{Setup: "open-contract\nstart-run r\nwait w kind=TIMER deadline=2000\nat 2000", Command: "resume w", List: guards}.Order(t)
}

func TestJoinOrder(t *testing.T) {
	reducertest.Guards{
		Setup:   "open-contract\nstart-run r\nstart-run s\nwait a\nwait b\nwait c run=s\nresume a",
		Command: "join r waits=(a)",
		List: []reducertest.Guard{
			{Code: "RUN_NOT_FOUND", Break: "arg runId=none"},
			{Code: "RUN_TERMINAL", Break: "then transition FAILED"},
			{Code: "JOIN_EMPTY", Break: "arg waits=()"},
			{Code: "WAIT_NOT_FOUND", Break: "arg waits=(b, c, none)"},
			{Code: "WAIT_RUN_MISMATCH", Break: "arg waits=(b, c)"},
			{Code: "JOIN_NOT_SATISFIED", Break: "arg waits=(a, b)"},
		},
	}.Order(t)
}
