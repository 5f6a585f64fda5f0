package projections_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The states that a client may ask for are those of the rules.
func TestStates(t *testing.T) {
	for projection, want := range map[string][]string{
		"runs": schema.RunStates, "missions": schema.MissionStates,
		"attempts": {
			events.AttemptStatePrepared, events.AttemptStateDispatched, events.AttemptStateUnknown,
			events.AttemptStateApplied, events.AttemptStateNotApplied, events.AttemptStateReleased,
		},
		"nodes": {events.NodeStatePending, events.NodeStateCompleted, events.NodeStateSkipped},
	} {
		if diff := cmp.Diff(want, wire.States[projection]); diff != "" {
			t.Errorf("%s (-rules +wire):\n%s", projection, diff)
		}
	}
}

// historyOf reads all pages and returns the commands that they list.
func historyOf(t *testing.T, ask func(request string, answer any) error, r wire.HistoryRequest) []uint64 {
	t.Helper()
	all := []uint64{}
	for pages := 0; ; pages++ {
		request, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var page wire.HistoryResponse
		if err := ask(string(request), &page); err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Decisions {
			decision, err := events.ParseDecision(d.Record)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, decision.CommandSeq)
			if (d.Command != nil) != r.Commands {
				t.Errorf("%s: command %s", request, d.Command)
			}
		}
		if len(page.Decisions) > r.Limit {
			t.Errorf("a page of %d, the limit is %d", len(page.Decisions), r.Limit)
		}
		if page.Next == 0 {
			return all
		}
		r.After = page.Next
	}
}

// twoRuns is a ledger with two runs that take turns, one of them refused things.
func twoRuns() (messages []*events.Message, ofFirst []uint64) {
	for _, c := range []struct {
		first bool
		body  string
	}{
		{false, `{"type":"grant","grant":{"id":"g","subject":"host","profile":"finite-v1","actions":["a"],"resources":["r"],"notBefore":"0","expiresAt":"4102444800000","limit":"10","canDelegate":false,"depth":"0"}}`},
		{false, `{"type":"transition","runId":"r1","to":"RUNNING"}`}, // before the run began
		{true, `{"type":"startRun","runId":"r1"}`},
		{false, `{"type":"startRun","runId":"r2"}`},
		{true, `{"type":"transition","runId":"r1","to":"RUNNING"}`},
		{true, `{"type":"wait","runId":"r1","waitId":"w1","correlation":"k","deadline":"4102444800000","kind":"EXTERNAL"}`},
		{true, `{"type":"resume","waitId":"w1","correlation":"wrong"}`}, // refused
		{false, `{"type":"resume","waitId":"w2","correlation":"k"}`},    // of nobody
		{true, `{"type":"approve","approval":{"id":"a1","runId":"r1","approver":"host","fingerprint":"sha256:` + events.ZeroHash + `","expiresAt":"4102444800000","uses":"1"}}`},
		{true, `{"type":"withdrawApproval","approvalId":"a1"}`},
		{false, `{"type":"missionState","state":"SUSPENDED"}`},
		{true, `{"type":"resume","waitId":"w1","correlation":"k"}`},
	} {
		messages = append(messages, command("c1", "host", c.body))
		if c.first {
			ofFirst = append(ofFirst, uint64(len(messages)+1))
		}
	}
	noJSON := &events.Message{Subject: "aiws.cmd.c1.host.resume", Body: []byte(`{"type":"resume","waitId":`)}
	return append(append([]*events.Message{openDesk("c1")}, messages...), noJSON), ofFirst
}

// TestHistory: the pages of a history, in both orders and with all filters, are
// what the decisions say; however small the bounds of a page are.
func TestHistory(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{ScanRows: 3, ScanBlocks: 1}})
	messages, ofFirst := twoRuns()
	var decisions []*events.Decision
	for _, m := range messages { // one after the other, so that there are several blocks
		decisions = append(decisions, publish(ctx, t, nc, []*events.Message{m})...)
		time.Sleep(5 * time.Millisecond) // and so that their times differ
	}
	ask := func(request string, answer any) error { return ask(t, nc, wire.History, "c1", request, answer) }
	mid := decisions[6].At
	for _, c := range []struct {
		name    string
		request wire.HistoryRequest
		want    func(d *events.Decision) bool
	}{
		{"all", wire.HistoryRequest{}, func(*events.Decision) bool { return true }},
		{"rejected", wire.HistoryRequest{Outcome: "rejected"}, func(d *events.Decision) bool { return d.Outcome == events.OutcomeRejected }},
		{"by code", wire.HistoryRequest{Code: "CORRELATION_MISMATCH"}, func(d *events.Decision) bool { return d.Code == events.CodeCorrelationMismatch }},
		{"by type", wire.HistoryRequest{Type: "resume"}, func(d *events.Decision) bool { return d.Type == "resume" }},
		{"by principal", wire.HistoryRequest{Principal: "host"}, func(d *events.Decision) bool { return d.Principal == "host" }},
		{"of nobody", wire.HistoryRequest{Principal: "stranger"}, func(*events.Decision) bool { return false }},
		{"since", wire.HistoryRequest{Since: mid.String()}, func(d *events.Decision) bool { return !d.At.Less(mid) }},
		{"until", wire.HistoryRequest{Until: mid.String()}, func(d *events.Decision) bool { return !mid.Less(d.At) }},
		{"never", wire.HistoryRequest{Since: "99999999999999"}, func(*events.Decision) bool { return false }},
		{"before all", wire.HistoryRequest{Until: "1"}, func(*events.Decision) bool { return false }},
		{"of a run", wire.HistoryRequest{Run: "r1"}, func(d *events.Decision) bool { return slices.Contains(ofFirst, d.CommandSeq) }},
		{"refused of a run", wire.HistoryRequest{Run: "r1", Outcome: "rejected"}, func(d *events.Decision) bool {
			return slices.Contains(ofFirst, d.CommandSeq) && d.Outcome == events.OutcomeRejected
		}},
	} {
		want := []uint64{}
		for _, d := range decisions {
			if c.want(d) {
				want = append(want, d.CommandSeq)
			}
		}
		for _, limit := range []int{1, 3, 1000} {
			c.request.Limit, c.request.Newest = limit, false
			if diff := cmp.Diff(want, historyOf(t, ask, c.request)); diff != "" {
				t.Errorf("%s, %d at a time (-want +got):\n%s", c.name, limit, diff)
			}
			c.request.Newest = true
			newest := historyOf(t, ask, c.request)
			slices.Reverse(newest)
			if diff := cmp.Diff(want, newest); diff != "" {
				t.Errorf("%s, %d at a time, newest first (-want +got):\n%s", c.name, limit, diff)
			}
		}
	}
	if len(ofFirst) != 7 {
		t.Errorf("the run has %d commands: the test does not test", len(ofFirst))
	}
	if got := historyOf(t, ask, wire.HistoryRequest{Run: "r1", Commands: true, Limit: 5}); len(got) != len(ofFirst) {
		t.Errorf("with commands: %v", got)
	}
}

func TestHistoryErrors(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	publish(ctx, t, nc, []*events.Message{openDesk("c1")})
	for _, c := range []struct {
		endpoint wire.Endpoint
		request  string
		code     wire.ErrorCode
	}{
		{wire.History, `{"run":"nowhere"}`, wire.NotFound},
		{wire.History, `{"outcome":"refused"}`, wire.BadRequest},
		{wire.History, `{"since":"yesterday"}`, wire.BadRequest},
		{wire.History, `{"until":"-1"}`, wire.BadRequest},
		{wire.History, `{"limit":1001}`, wire.BadRequest},
		{wire.History, `{"runId":"r1"}`, wire.BadRequest},
		{wire.ListUnsettled, `{"state":"APPLIED"}`, wire.BadRequest},
		{wire.ListUnsettled, `{"before":"now"}`, wire.BadRequest},
		{wire.List, `{"projection":"runs","state":"STUCK"}`, wire.BadRequest},
		{wire.List, `{"projection":"grants","state":"LIVE"}`, wire.BadRequest},
		{wire.List, `{"projection":"runs","outcome":"accepted"}`, wire.BadRequest},
		{wire.List, `{"projection":"decisions","outcome":"refused"}`, wire.BadRequest},
	} {
		var answer any
		if err := ask(t, nc, c.endpoint, "c1", c.request, &answer); err == nil {
			t.Errorf("%s %s: answered %v", c.endpoint, c.request, answer)
		} else {
			wantCode(t, err, c.code)
		}
	}
	var page wire.HistoryResponse
	if err := ask(t, nc, wire.History, "nowhere", "", &page); err != nil || len(page.Decisions) > 0 {
		t.Errorf("of a ledger that is not open: %+v, %v", page, err)
	}
}

// TestUnsettled: each attempt that is not settled is listed once, in small pages,
// with what it waits for.
func TestUnsettled(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{ScanRows: 2}})
	stamp := "4102444700000"
	messages := []*events.Message{
		openDesk("c1"), command("c1", "host", `{"type":"startRun","runId":"r1"}`),
		command("c1", "host", `{"type":"transition","runId":"r1","to":"RUNNING"}`),
	}
	for _, grant := range []string{"g1", "g2"} {
		messages = append(messages, command("c1", "host", fmt.Sprintf(`{"type":"grant","grant":{"id":%q,"subject":"host","profile":"finite-v1","actions":["a"],"resources":["r"],"notBefore":"0","expiresAt":%q,"limit":"1000","canDelegate":false,"depth":"0"}}`, grant, stamp)))
	}
	for i, grant := range []string{"g1", "g2", "g1", "g1", "g1"} {
		messages = append(messages, command("c1", "host", fmt.Sprintf(
			`{"type":"admit","runId":"r1","operationId":"o%d","attemptId":"a%d","grantId":%q,"subject":"host","amount":"1","policy":"ALLOW","mandatoryChecksOk":true,"authorizationCheckedAt":"1700000000000","action":{"capability":"a","resource":"r","payload":{"n":%d},"preconditions":{}}}`, i, i, grant, i)))
	}
	for _, body := range []string{
		`{"type":"dispatch","attemptId":"a2","policy":"ALLOW","mandatoryChecksOk":true,"authorizationCheckedAt":"1700000000000"}`,
		`{"type":"dispatch","attemptId":"a3","policy":"ALLOW","mandatoryChecksOk":true,"authorizationCheckedAt":"1700000000000"}`,
		`{"type":"settle","attemptId":"a3","effect":"UNKNOWN","actualCost":"0"}`,
		`{"type":"settle","attemptId":"a4","effect":"CONFIRMED_NOT_APPLIED","actualCost":"0"}`,
		`{"type":"revokeGrant","grantId":"g2"}`,
	} {
		messages = append(messages, command("c1", "host", body))
	}
	for _, d := range publish(ctx, t, nc, messages) {
		if d.Outcome != events.OutcomeAccepted {
			t.Fatal(d)
		}
	}
	got := map[string]string{}
	for after := ""; ; {
		var page wire.UnsettledResponse
		if err := ask(t, nc, wire.ListUnsettled, "c1", fmt.Sprintf(`{"after":%q}`, after), &page); err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Attempts {
			got[a.Document.Key] += a.Waiting.For + " " + a.Waiting.Code
		}
		if after = page.Next; after == "" {
			break
		}
	}
	want := map[string]string{"a0": "dispatch ", "a1": "change GRANT_REVOKED", "a2": "settle ", "a3": "settle "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for request, want := range map[string]int{`{"before":"1"}`: 0, `{"run":"r2"}`: 0, `{"state":"UNKNOWN"}`: 1, `{"state":"PREPARED","run":"r1","before":"9999999999999"}`: 2} {
		count := 0
		for after := ""; ; {
			var page wire.UnsettledResponse
			if err := ask(t, nc, wire.ListUnsettled, "c1", fmt.Sprintf(`%s,"after":%q}`, request[:len(request)-1], after), &page); err != nil {
				t.Fatal(err)
			}
			count += len(page.Attempts)
			if after = page.Next; after == "" {
				break
			}
		}
		if count != want {
			t.Errorf("%s: %d attempts, want %d", request, count, want)
		}
	}
}
