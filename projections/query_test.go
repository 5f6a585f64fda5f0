package projections_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/logfile"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/audit"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// integration skips with -short: the tests after it run a whole reducer.
func integration(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a reducer")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func start(ctx context.Context, t *testing.T, path string, o clienttest.Options) (*clienttest.Reducer, *nats.Conn) {
	t.Helper()
	r, err := clienttest.Start(ctx, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	nc, err := nats.Connect(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return r, nc
}

func readLog(t *testing.T, name string) []*events.Message {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []*events.Message
	for r := logfile.NewReader(file); ; {
		m, err := r.NextMessage()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
}

// publish sends the commands of a log file and returns their decisions.
func publish(ctx context.Context, t *testing.T, nc *nats.Conn, messages []*events.Message) []*events.Decision {
	t.Helper()
	out, err := exchange.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	var pending []*exchange.Pending
	for _, m := range messages {
		p := out.Prepare(m.Subject, m.IDs, m.Body)
		if err := p.Send(); err != nil {
			t.Fatal(err)
		}
		pending = append(pending, p)
	}
	var decisions []*events.Decision
	for _, p := range pending {
		for decided := false; !decided; {
			select {
			case <-ctx.Done():
				t.Fatal("no decision")
			case a := <-p.Answers:
				if a.Err != nil {
					t.Fatal(a.Err)
				}
				if decided = a.Record != nil; decided {
					d, err := events.ParseDecision(a.Record)
					if err != nil {
						t.Fatal(err)
					}
					decisions = append(decisions, d)
				}
			}
		}
		p.Forget()
	}
	return decisions
}

// ask asks the service and checks the answer against its schema.
func ask(t *testing.T, nc *nats.Conn, e wire.Endpoint, contract, request string, answer any) error {
	t.Helper()
	m, err := nc.Request(e.Subject(contract), []byte(request), 10*time.Second)
	if err != nil {
		t.Fatalf("%s %s: %v", e, request, err)
	}
	if code := m.Header.Get(micro.ErrorCodeHeader); code != "" {
		checkSchema(t, "Error", m.Data)
		var e wire.Error
		if err := json.Unmarshal(m.Data, &e); err != nil {
			t.Fatal(err)
		}
		if code != fmt.Sprint(e.Code.Status()) || m.Header.Get(micro.ErrorHeader) != e.Message {
			t.Errorf("headers %v, error %+v", m.Header, e)
		}
		return &e
	}
	checkSchema(t, strings.ToUpper(string(e[:1]))+string(e[1:])+"Response", m.Data)
	if err := json.Unmarshal(m.Data, answer); err != nil {
		t.Fatal(err)
	}
	return nil
}

func checkSchema(t *testing.T, name string, data []byte) {
	t.Helper()
	text, err := wire.Schema(name)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, data)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", name, err, data)
	}
}

func wantCode(t *testing.T, err error, code wire.ErrorCode) {
	t.Helper()
	var e *wire.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("got %v, want %s", err, code)
	}
}

// TestQueries: every document of every projection is found by get and by the
// pages of list, and is what the store has; decisions are those that were
// answered.
func TestQueries(t *testing.T) {
	ctx := integration(t)
	r, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{ScanRows: 7}})
	decisions := publish(ctx, t, nc, readLog(t, "../testdata/quickstart.jsonl"))
	contract := decisions[0].Contract
	view, err := r.Home.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	reader, at := state.NewReader(view), wire.AsOf{Block: view.Cursor().LogSeq, Seq: view.Cursor().CommandSeq}
	documents := 0
	for _, projection := range state.Projections() {
		pages := listAll(t, nc, contract, wire.ListRequest{Projection: projection, Limit: 2})
		var keys []string
		err := reader.Documents(projection, contract, "", func(d *state.Document) bool {
			keys = append(keys, d.Key)
			if p, ok := pages[d.Key]; !ok || string(p.Row) != string(d.Value) || p.Seq != d.Meta.CommandSeq || p.Block != d.Meta.LogSeq {
				t.Errorf("%s %s is listed as %+v", projection, d.Key, p)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(pages) != len(keys) {
			t.Errorf("%s: %d documents are listed, %d are there", projection, len(pages), len(keys))
		}
		documents += len(keys)
		for _, key := range keys {
			request, _ := json.Marshal(wire.GetRequest{Projection: projection, Key: key})
			var got wire.GetResponse
			if err := ask(t, nc, wire.Get, contract, string(request), &got); err != nil {
				t.Error(err)
			}
			if string(got.Document.Row) != string(pages[key].Row) || got.AsOf != at {
				t.Errorf("%s %s: got %+v", projection, key, got)
			}
		}
	}
	if documents < 30 {
		t.Errorf("%d documents: the test does not test", documents)
	}
	for _, d := range decisions {
		for _, request := range []string{
			fmt.Sprintf(`{"commandSeq":%d}`, d.CommandSeq),
			fmt.Sprintf(`{"principal":%q,"commandId":%q}`, d.Principal, d.CommandID),
		} {
			var got wire.DecisionResponse
			if err := ask(t, nc, wire.Decision, contract, request, &got); err != nil {
				t.Error(err)
			} else if string(got.Record) != string(d.Append(nil)) || !got.Final {
				t.Errorf("%s: %+v", request, got)
			}
		}
	}
}

// listAll reads all pages.
func listAll(t *testing.T, nc *nats.Conn, contract string, r wire.ListRequest) map[string]wire.Document {
	t.Helper()
	all := map[string]wire.Document{}
	for {
		request, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var page wire.ListResponse
		if err := ask(t, nc, wire.List, contract, string(request), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Documents) > r.Limit {
			t.Errorf("a page of %d, the limit is %d", len(page.Documents), r.Limit)
		}
		for _, d := range page.Documents {
			if _, twice := all[d.Key]; twice {
				t.Errorf("%s is listed twice", d.Key)
			}
			all[d.Key] = d
		}
		if page.Next == "" {
			return all
		}
		r.After = page.Next
	}
}

func TestQueryFilters(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{ScanRows: 3}})
	decisions := publish(ctx, t, nc, readLog(t, "../testdata/quickstart.jsonl"))
	contract, found := decisions[0].Contract, 0
	for _, c := range []struct{ projection, run, state, outcome string }{
		{projection: "attempts", state: "APPLIED"},
		{projection: "attempts", run: "nowhere"},
		{projection: "decisions", outcome: "rejected"},
		{projection: "runs", state: "COMPLETED"},
		{projection: "operations", run: "laptop-for-kim"},
		{projection: "assessments", run: "laptop-for-kim"},
	} {
		filtered := listAll(t, nc, contract, wire.ListRequest{Projection: c.projection, Run: c.run, State: c.state, Outcome: c.outcome, Limit: 5})
		found += len(filtered)
		all := listAll(t, nc, contract, wire.ListRequest{Projection: c.projection, Limit: 1000})
		for key, d := range all {
			var row struct{ RunID, State, Outcome string }
			if err := json.Unmarshal(d.Row, &row); err != nil {
				t.Fatal(err)
			}
			want := (c.run == "" || row.RunID == c.run) && (c.state == "" || row.State == c.state) && (c.outcome == "" || row.Outcome == c.outcome)
			if _, got := filtered[key]; got != want {
				t.Errorf("%+v: %s %s is listed %v, want %v", c, key, d.Row, got, want)
			}
		}
	}
	if found < 5 {
		t.Errorf("%d documents: the test does not test", found)
	}
}

func TestQueryErrors(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	publish(ctx, t, nc, readLog(t, "../testdata/quickstart.jsonl"))
	for _, c := range []struct {
		endpoint          wire.Endpoint
		contract, request string
		code              wire.ErrorCode
	}{
		{wire.Get, "onboarding", `{"projection":"runs","key":"nowhere"}`, wire.NotFound},
		{wire.Get, "nowhere", `{"projection":"runs","key":"laptop-for-kim"}`, wire.NotFound},
		{wire.Get, "onboarding", `{"projection":"rows","key":"x"}`, wire.BadRequest},
		{wire.Get, "onboarding", `{"projection":"runs","id":"x"}`, wire.BadRequest},
		{wire.Get, "onboarding", `{`, wire.BadRequest},
		{wire.List, "onboarding", `{"projection":"runs","limit":1001}`, wire.BadRequest},
		{wire.List, "onboarding", ``, wire.BadRequest},
		{wire.Decision, "onboarding", `{}`, wire.BadRequest},
		{wire.Decision, "onboarding", `{"commandId":"x"}`, wire.BadRequest},
		{wire.Decision, "onboarding", `{"principal":"x","commandId":"x","commandSeq":1}`, wire.BadRequest},
		{wire.Decision, "onboarding", `{"principal":"x","commandId":"x"}`, wire.NotFound},
		{wire.Decision, "onboarding", `{"commandSeq":4000}`, wire.NotFound},
		{wire.Plan, "onboarding", `{"runId":"nowhere"}`, wire.NotFound},
		{wire.Plan, "onboarding", `{"runId":"laptop-for-kim","planId":"nowhere"}`, wire.NotFound},
		{wire.Status, "", `{"x":1}`, wire.BadRequest},
	} {
		var answer any
		err := ask(t, nc, c.endpoint, c.contract, c.request, &answer)
		if err == nil {
			t.Errorf("%s %s: answered %v", c.endpoint, c.request, answer)
			continue
		}
		wantCode(t, err, c.code)
	}
	m, err := nc.Request("aiws.q.c=2e1.get", nil, time.Second)
	if err != nil || m.Header.Get(micro.ErrorCodeHeader) != "400" {
		t.Errorf("a contract that is not canonically encoded: %v %v", m, err)
	}
}

// TestQueryUnrouted: a refusal of a ledger that is not open is found by its
// sequence, not final; a contract does not see those of another.
func TestQueryUnrouted(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	publish(ctx, t, nc, []*events.Message{
		{Subject: "aiws.cmd.c9.alice.startRun", IDs: []string{"x"}, Body: []byte(`{"type":"startRun","runId":"r"}`)},
	})
	var got wire.DecisionResponse
	if err := ask(t, nc, wire.Decision, "c9", `{"commandSeq":1}`, &got); err != nil || got.Final {
		t.Errorf("%+v, %v", got, err)
	}
	if err := ask(t, nc, wire.Decision, events.Unrouted, `{"commandSeq":1}`, &got); err != nil || got.Final {
		t.Errorf("%+v, %v", got, err)
	}
	wantCode(t, ask(t, nc, wire.Decision, "c8", `{"commandSeq":1}`, &got), wire.NotFound)
	wantCode(t, ask(t, nc, wire.Decision, "c9", `{"principal":"alice","commandId":"x"}`, &got), wire.NotFound)
}

func TestQueryGlobal(t *testing.T) {
	ctx := integration(t)
	r, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	messages := readLog(t, "../testdata/quickstart.jsonl")
	for _, id := range []string{"another one", "a third"} {
		open := *messages[0]
		open.Subject = strings.Replace(open.Subject, ".onboarding.", "."+schema.EncodeToken(id)+".", 1)
		open.Body = []byte(strings.Replace(string(open.Body), `"onboarding"`, strconv.Quote(id), 1))
		messages = append(messages, &open)
	}
	publish(ctx, t, nc, messages)
	var digest wire.DigestResponse
	if err := ask(t, nc, wire.Digest, "", "", &digest); err != nil {
		t.Fatal(err)
	}
	if want := foldedDigest(t, r); digest.StateDigest != want {
		t.Errorf("digest %s, want %s", digest.StateDigest, want)
	}
	var status wire.StatusResponse
	if err := ask(t, nc, wire.Status, "", "", &status); err != nil {
		t.Fatal(err)
	}
	if !status.Ready || status.AsOf.Seq != uint64(len(messages)) || status.RulesVersion != reducer.RulesVersion || status.Generation != "g1" {
		t.Errorf("status %+v", status)
	}
	var contracts, page wire.ContractsResponse
	if err := ask(t, nc, wire.Contracts, "", "", &contracts); err != nil {
		t.Fatal(err)
	}
	var paged []wire.Document
	for after := ""; ; after = page.Next {
		page = wire.ContractsResponse{}
		if err := ask(t, nc, wire.Contracts, "", fmt.Sprintf(`{"limit":1,"after":%q}`, after), &page); err != nil {
			t.Fatal(err)
		}
		paged = append(paged, page.Documents...)
		if page.Next == "" {
			break
		}
	}
	if len(contracts.Documents) != 3 || len(paged) != len(contracts.Documents) {
		t.Errorf("contracts %+v, in pages %+v", contracts, paged)
	}
}

func foldedDigest(t *testing.T, r *clienttest.Reducer) string {
	t.Helper()
	v, err := r.Home.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	digest, err := audit.Digest(v)
	if err != nil {
		t.Fatal(err)
	}
	return digest
}

// TestQueryPlan: a pinned plan comes back by its id, and as the run's active one.
func TestQueryPlan(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	for _, d := range publish(ctx, t, nc, []*events.Message{
		openDesk("c1"), command("c1", "host", `{"type":"startRun","runId":"r1"}`),
		command("c1", "host", `{"type":"pinPlan","runId":"r1","planId":"p1","form":"opaque","document":{"steps":["a","<b>"]}}`),
		command("c1", "host", `{"type":"activatePlan","runId":"r1","planId":"p1","expectedPlan":"none"}`),
	}) {
		if d.Outcome != events.OutcomeAccepted {
			t.Fatal(d)
		}
	}
	for _, request := range []string{`{"runId":"r1","planId":"p1"}`, `{"runId":"r1"}`} {
		var got wire.PlanResponse
		if err := ask(t, nc, wire.Plan, "c1", request, &got); err != nil {
			t.Fatal(err)
		}
		if string(got.Plan) != `{"steps":["a","<b>"]}` || got.RunPlanHash != schema.HashOf(got.Plan) || got.Form != "opaque" || got.PinnedSequence != 3 {
			t.Errorf("%s: %+v", request, got)
		}
	}
	var e *wire.Error
	err := ask(t, nc, wire.Plan, "c1", `{"runId":"r1","planId":"p2"}`, &struct{}{})
	if !errors.As(err, &e) || e.Code != wire.NotFound || e.Reason != "run_plan_missing" {
		t.Errorf("%+v", err)
	}
}

// TestSubmitEndpoint: of the headers only the id goes on; without one the
// service gives one.
func TestSubmitEndpoint(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	send := func(subject, body string, header nats.Header) (*nats.Msg, *events.Decision) {
		m, err := nc.RequestMsg(&nats.Msg{Subject: subject, Data: []byte(body), Header: header}, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		d, err := events.ParseDecision(m.Data)
		if err != nil {
			t.Fatalf("%v: %s", err, m.Data)
		}
		return m, d
	}
	m, d := send("aiws.submit.c1.host.startRun", `{"type":"startRun","runId":"r1"}`, nil)
	if m.Header.Get(wire.HeaderFinal) != "false" || d.CommandID == "" || d.CommandID != m.Header.Get(wire.HeaderCommandID) {
		t.Errorf("%v %+v", m.Header, d)
	}
	_, d = send("aiws.submit.c1.host.openContract", string(openDesk("c1").Body), nats.Header{
		wire.HeaderCommandID: {"open"}, wire.HeaderReply: {"aiws.q.status"}, "Nats-Rollup": {"all"}, "Nats-Expected-Last-Msg-Id": {"x"},
		"Nats-Expected-Last-Sequence": {"77"}, "Nats-Schedule": {"@every 1s"}, "Nats-TTL": {"1s"},
	})
	if d.Outcome != events.OutcomeAccepted || d.CommandID != "open" {
		t.Errorf("%+v", d)
	}
	if _, d = send("aiws.submit.c1.host.nonsense", `{`, nil); d.Code != events.CodeSubjectInvalid {
		t.Errorf("%+v", d)
	}
}

// awaitService returns when the query service answers.
func awaitService(t *testing.T, nc *nats.Conn) {
	t.Helper()
	for {
		_, err := nc.Request(wire.Status.Subject(""), nil, 10*time.Second)
		if err == nil {
			return
		}
		if !errors.Is(err, nats.ErrNoResponders) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestRepliesOnlyToInboxes: nobody makes the service publish, with the
// reducer's rights, into the inbox stream in another's name.
func TestRepliesOnlyToInboxes(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	awaitService(t, nc)
	forged, err := nc.SubscribeSync("aiws.cmd.c1.approver.approve")
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"aiws.q.c1.get", "aiws.q.status", "aiws.submit.c1.agent.startRun"} {
		if err := nc.PublishRequest(subject, "aiws.cmd.c1.approver.approve", []byte("{")); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.PublishRequest("aiws.q.status", "_INBOX", nil); err != nil {
		t.Fatal(err)
	}
	var status wire.StatusResponse
	if err := ask(t, nc, wire.Status, "", "", &status); err != nil {
		t.Fatal(err)
	}
	if m, err := forged.NextMsg(time.Second); err == nil {
		t.Errorf("published in the approver's name: %s", m.Data)
	}
}

// flood sends requests without waiting and counts the codes of the answers.
func flood(t *testing.T, nc *nats.Conn, subject, data string, count int) map[string]int {
	t.Helper()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	for range count {
		if err := nc.PublishRequest(subject, inbox, []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	codes := map[string]int{}
	for range count {
		m, err := sub.NextMsg(10 * time.Second)
		if err != nil {
			t.Fatalf("after %v: %v", codes, err)
		}
		codes[m.Header.Get(micro.ErrorCodeHeader)]++
	}
	return codes
}

// TestQueryLimits: too many questions are told so, each of them, and a flooder
// of submit takes nothing from another principal.
func TestQueryLimits(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{Workers: 1, Waiting: 2, PerPrincipal: 3}})
	publish(ctx, t, nc, []*events.Message{openDesk("c1")})
	codes := flood(t, nc, wire.List.Subject("c1"), `{"projection":"decisions"}`, 900)
	if codes[""] == 0 || codes["503"] == 0 || codes[""]+codes["503"] != 900 {
		t.Errorf("questions: %v", codes)
	}
	flooder, err := nats.Connect(nc.ConnectedUrl())
	if err != nil {
		t.Fatal(err)
	}
	defer flooder.Close()
	done := make(chan map[string]int)
	go func() {
		done <- flood(t, flooder, "aiws.submit.c1.flooder.startRun", `{"type":"startRun","runId":"r1"}`, 900)
	}()
	for i := range 20 {
		m, err := nc.Request("aiws.submit.c1.host.startRun", fmt.Appendf(nil, `{"type":"startRun","runId":"h%d"}`, i), 5*time.Second)
		if err != nil || m.Header.Get(micro.ErrorCodeHeader) != "" {
			t.Fatalf("%v %v", m, err)
		}
	}
	if codes := <-done; codes[""] == 0 || codes["429"] == 0 || codes[""]+codes["429"] != 900 {
		t.Errorf("commands: %v", codes)
	}
}
