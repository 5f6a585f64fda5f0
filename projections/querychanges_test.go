package projections_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/aiws-reducer/aiws-reducer/events/client/clienttest"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/projections"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// changesOf reads all pages of changes and returns the rows by name, in order,
// and the place after them.
func changesOf(t *testing.T, nc *nats.Conn, contract string, request wire.ChangesRequest) (all []wire.RowChange, next string) {
	t.Helper()
	for range 1000 {
		data, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		var page wire.ChangesResponse
		if err := ask(t, nc, wire.Changes, contract, string(data), &page); err != nil {
			t.Fatal(err)
		}
		all, request.After = append(all, page.Changes...), page.Next
		if !page.More {
			return all, page.Next
		}
	}
	t.Fatal("the pages have no end")
	return nil, ""
}

// TestChanges: the pages of changes are the rows of the bucket in the order of
// their commands, however small the pages, and go on from any place.
func TestChanges(t *testing.T) {
	ctx := integration(t)
	r, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: projections.QueryLimits{Page: 700}})
	decisions := publish(ctx, t, nc, readLog(t, "../testdata/quickstart.jsonl"))
	contract := decisions[0].Contract
	if err := r.Mirrored(ctx); err != nil {
		t.Fatal(err)
	}
	want := mirroredRows(t, r, contract)
	var firstPlace string
	for _, limit := range []int{1, 2, 0} {
		all, next := changesOf(t, nc, contract, wire.ChangesRequest{Limit: limit})
		if !slices.IsSortedFunc(all, func(a, b wire.RowChange) int { return int(a.Seq) - int(b.Seq) }) {
			t.Errorf("limit %d: not in the order of the commands", limit)
		}
		got := map[string]string{}
		for _, c := range all {
			got[c.Projection+" "+c.Key] = fmt.Sprintf("%d %d %s %s", c.Seq, c.Block, c.At, c.Row)
		}
		if len(all) != len(want) || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("limit %d: got %v, want %v", limit, got, want)
		}
		firstPlace = next
	}
	last := decisions[len(decisions)-1].CommandSeq
	some, _ := changesOf(t, nc, contract, wire.ChangesRequest{Since: last - 3})
	if len(some) == 0 || some[0].Seq < last-3 {
		t.Errorf("since: %+v", some)
	}
	if runs, _ := changesOf(t, nc, contract, wire.ChangesRequest{Projection: "runs"}); len(runs) == 0 || runs[0].Projection != "runs" {
		t.Errorf("one projection: %+v", runs)
	}
	if one, _ := changesOf(t, nc, contract, wire.ChangesRequest{Projection: "exposure", Key: "contract/" + contract}); len(one) != 1 {
		t.Errorf("one row: %+v", one)
	}
	_, fresh := changesOf(t, nc, contract, wire.ChangesRequest{New: true})
	for _, after := range []string{firstPlace, fresh} {
		if more, _ := changesOf(t, nc, contract, wire.ChangesRequest{After: after}); len(more) != 0 {
			t.Errorf("after the end: %+v", more)
		}
	}
	again, _ := changesOf(t, nc, contract, wire.ChangesRequest{After: "7-ANOTHERWRITER"})
	if len(again) != len(want) {
		t.Errorf("a place of another writer: %d rows, want all %d", len(again), len(want))
	}
	if none, _ := changesOf(t, nc, "another", wire.ChangesRequest{}); len(none) != 0 {
		t.Errorf("another contract: %+v", none)
	}
}

// mirroredRows are the rows of the store that belong in the bucket.
func mirroredRows(t *testing.T, r *clienttest.Reducer, contract string) map[string]string {
	t.Helper()
	view, err := r.Home.View()
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	rows := map[string]string{}
	reader := state.NewReader(view)
	err = reader.ScanMirrored(func(key []byte, _ state.Meta) bool {
		value, err := view.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		d, ok, err := reader.Mirrored(key, value)
		if err != nil {
			t.Fatal(err)
		}
		if ok && d.Contract == contract {
			rows[d.Projection+" "+d.Key] = fmt.Sprintf("%d %d %s %s", d.Meta.CommandSeq, d.Meta.LogSeq, d.Meta.At, d.Value)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestChangesErrors(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	for _, bad := range []string{
		`{"projection":"decisions"}`, `{"key":"r1"}`, `{"after":"x"}`, `{"after":"x-y"}`, `{"limit":1001}`, `{"limit":-1}`, `{"wait":-1}`, `{"more":1}`,
	} {
		wantCode(t, ask(t, nc, wire.Changes, "c1", bad, nil), wire.BadRequest)
	}
	for _, bad := range []string{`{"wait":-1}`, `{"wait":1,"newest":true}`} {
		wantCode(t, ask(t, nc, wire.History, "c1", bad, nil), wire.BadRequest)
	}
}

// TestChangesWithoutBucket: while there is no mirror the question is answered,
// as one to ask again.
func TestChangesWithoutBucket(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(ctx, wire.BucketStream); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ask(t, nc, wire.Changes, "c1", "", nil), wire.Unavailable)
}

// waiting asks a question that waits, and gives the answer when it comes.
func waiting(t *testing.T, nc *nats.Conn, e wire.Endpoint, contract, request string) <-chan *nats.Msg {
	t.Helper()
	answers := make(chan *nats.Msg, 1)
	inbox := "_INBOX.me." + nuid.Next()
	sub, err := nc.ChanSubscribe(inbox, answers)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sub.Unsubscribe() })
	if err := nc.PublishRequest(e.Subject(contract), inbox, []byte(request)); err != nil {
		t.Fatal(err)
	}
	return answers
}

func answered(t *testing.T, answers <-chan *nats.Msg) *nats.Msg {
	t.Helper()
	select {
	case m := <-answers:
		return m
	case <-time.After(time.Minute):
		t.Fatal("no answer")
		return nil
	}
}

// TestWaits: a question that waits is answered when its ledger has something
// new, and not before; one whose time is over, with nothing.
func TestWaits(t *testing.T) {
	ctx := integration(t)
	_, nc := start(ctx, t, t.TempDir(), clienttest.Options{})
	open := func(contract string) {
		for _, d := range publish(ctx, t, nc, readLog(t, "../testdata/quickstart.jsonl")[:1]) {
			if d.Contract != contract {
				t.Fatalf("the first command opens %s", d.Contract)
			}
		}
	}
	contract := readLog(t, "../testdata/quickstart.jsonl")[0]
	name := strings.Split(contract.Subject, ".")[2]
	for _, e := range []wire.Endpoint{wire.Changes, wire.History} {
		m := answered(t, waiting(t, nc, e, "nobody", `{"wait":50}`))
		if m.Header.Get(micro.ErrorCodeHeader) != "" || strings.Contains(string(m.Data), `"seq":1`) {
			t.Errorf("%s: nothing to wait for: %s", e, m.Data)
		}
	}
	changed, decided := waiting(t, nc, wire.Changes, name, `{"wait":30000}`), waiting(t, nc, wire.History, name, `{"wait":30000}`)
	other := waiting(t, nc, wire.Changes, "nobody", `{"wait":30000}`)
	time.Sleep(100 * time.Millisecond) // most likely both wait by now; both ways are right
	began := time.Now()
	open(name)
	for e, answers := range map[wire.Endpoint]<-chan *nats.Msg{wire.Changes: changed, wire.History: decided} {
		if m := answered(t, answers); !strings.Contains(string(m.Data), `"seq":1`) && !strings.Contains(string(m.Data), `"commandSeq":1`) {
			t.Errorf("%s: %s", e, m.Data)
		}
	}
	t.Logf("answered after %s", time.Since(began))
	select {
	case m := <-other:
		t.Errorf("a question about another contract was answered: %s", m.Data)
	default:
	}
}

// TestWaitsBounded: more questions than may wait are refused at once, and what
// does not wait is answered; when the others have gone, there is room again.
func TestWaitsBounded(t *testing.T) {
	for name, c := range map[string]struct {
		limits projections.QueryLimits
		code   wire.ErrorCode
		other  bool // another contract and inbox have room
	}{
		"inbox":    {projections.QueryLimits{WaitsInbox: 2}, wire.Quota, true},
		"contract": {projections.QueryLimits{WaitsContract: 2}, wire.Busy, true},
		"all":      {projections.QueryLimits{Waits: 2}, wire.Busy, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := integration(t)
			r, nc := start(ctx, t, t.TempDir(), clienttest.Options{Queries: c.limits})
			two := []<-chan *nats.Msg{waiting(t, nc, wire.Changes, "c1", `{"wait":8000}`), waiting(t, nc, wire.History, "c1", `{"wait":8000}`)}
			two = append(two, waiting(t, nc, wire.Changes, "c1", `{"wait":8000}`))
			first, left := firstOf(t, two)
			two = left
			var e wire.Error
			if err := json.Unmarshal(first.Data, &e); err != nil || e.Code != c.code {
				t.Errorf("the first answer is %s, want %s", first.Data, c.code)
			}
			if err := ask(t, nc, wire.Changes, "c1", "", &wire.ChangesResponse{}); err != nil {
				t.Errorf("without a wait: %v", err)
			}
			elsewhere, err := nats.Connect(r.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer elsewhere.Close()
			err = ask(t, elsewhere, wire.Changes, "c2", `{"wait":10}`, &wire.ChangesResponse{})
			if c.other != (err == nil) {
				t.Errorf("another contract: %v", err)
			}
			answered(t, two[0])
			answered(t, two[1])
			again := answered(t, waiting(t, nc, wire.Changes, "c1", `{"wait":10}`))
			if again.Header.Get(micro.ErrorCodeHeader) != "" {
				t.Errorf("afterwards: %s", again.Data)
			}
		})
	}
}

// firstOf gives the first answer, and the channels that have none yet.
func firstOf(t *testing.T, all []<-chan *nats.Msg) (first *nats.Msg, left []<-chan *nats.Msg) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for i, answers := range all {
			select {
			case m := <-answers:
				return m, slices.Delete(slices.Clone(all), i, i+1)
			default:
			}
		}
	}
	t.Fatal("no answer")
	return nil, nil
}
