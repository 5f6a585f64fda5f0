package workload

import (
	"sync"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// kinds is how many kinds of run there are: rarer commands come in some of them.
const kinds = 16

// mixed is the work of a host that uses everything.
var mixed = sync.OnceValue(func() cycles {
	c := cycles{setup: setup()}
	for kind := range kinds {
		c.kinds = append(c.kinds, mixedRun(kind))
	}
	return c
})

// mixedRun is a run from its start to its acceptance. Every run buys three
// times: at once, after one failure, and with an approval. Two of its commands
// are refused at least.
func mixedRun(kind int) []step {
	s := &script{}
	r := &mixedScript{script: s, graph: kind%4 == 2, grant: team, subject: agent}
	r.start(kind)
	r.prepare(kind)
	r.buyAtOnce()
	r.buyAfterFailure()
	r.buyWithApproval()
	r.waits(kind)
	r.finish(kind)
	return s.steps
}

type mixedScript struct {
	*script
	graph          bool // the run follows a graph
	grant, subject string
}

// start begins the run: a host does in three of four, a trigger in the others.
func (r *mixedScript) start(kind int) {
	if kind%4 == 3 {
		r.add(shop, &schema.FireTrigger{TriggerID: baseMark + "-e", RunID: runMark, Event: schema.TriggerEvent{
			ID: runMark, Source: "shop", Type: "order", OccurredAt: checked, Data: value(`{"kind":"order","basket":["desk","desk","lamp"]}`),
		}, Context: context(shop, 160)})
	} else {
		r.add(agent, &schema.StartRun{RunID: runMark, Context: context(agent, 160)})
	}
	if kind%8 == 7 {
		r.again()
	}
}

// prepare is what some runs need before they work.
func (r *mixedScript) prepare(kind int) {
	switch {
	case kind%4 == 0:
		r.grant, r.subject = runMark+"-g", helper
		r.add(agent, &schema.IssueGrant{Grant: schema.Grant{
			ID: r.grant, ParentID: team, Subject: helper, Profile: schema.Profile, Actions: []string{"purchase"}, Resources: []string{"shop"},
			ExpiresAt: far, Limit: schema.DecimalOf(10_000), Depth: schema.DecimalOf(1),
		}, Context: context(agent, 60)})
	case kind%4 == 1:
		r.add(agent, &schema.PinPlan{
			RunID: runMark, PlanID: "buy", Form: schema.FormExecutionPlan,
			Document: value(`{"version":"1","goal":"furnish a room","steps":[{"id":"desks","capability":"purchase","input":{"count":4}},` +
				`{"id":"lamps","capability":"purchase","input":{"count":2,"with":{"$ref":"steps.desks.result"}}}]}`),
			Admission: value(`{"capabilities":[{"id":"purchase","version":"3"}]}`), Context: context(agent, 60),
		})
		r.add(agent, &schema.ActivatePlan{RunID: runMark, PlanID: "buy", ExpectedPlan: "none", Context: context(agent, 160)})
	case r.graph:
		r.add(agent, &schema.AttachGraph{RunID: runMark, GraphID: baseMark + "-g", Context: context(agent, 160)})
	}
	r.transition("RUNNING")
	if kind%8 == 5 {
		r.add(agent, &schema.ContinueRun{RunID: runMark, SegmentID: "second", Context: context(agent, 160)})
	}
}

// node is the node that an operation works on, or "" without a graph.
func (r *mixedScript) node(name string) string {
	if !r.graph {
		return ""
	}
	return name
}

// done completes a node, with a graph.
func (r *mixedScript) done(node string) {
	if r.graph {
		r.add(agent, &schema.CompleteNode{RunID: runMark, NodeID: node, Result: value(`{"order":"as-wanted"}`), Context: context(agent, 160)})
	}
}

func (r *mixedScript) buyAtOnce() {
	a := runMark + "-a"
	r.attempt(a, admit("a", r.grant, r.subject, ""), r.node("desks"))
	r.dispatch(a+"1", r.node("desks")) // refused: an attempt is dispatched once
	r.settle(a+"1", "CONFIRMED_APPLIED", 120)
	r.done("desks")
}

func (r *mixedScript) buyAfterFailure() {
	b := runMark + "-b"
	r.attempt(b, admit("b", team, agent, ""), r.node("lamps"))
	r.settle(b+"1", "UNKNOWN", 0)
	r.settle(b+"1", "CONFIRMED_NOT_APPLIED", 3)
	r.add(agent, &schema.Retry{
		OperationID: b, AttemptID: b + "2", Amount: schema.DecimalOf(120), AuthorizationCheckedAt: checked, Policy: "ALLOW", MandatoryChecksOk: true,
		Context: context(agent, 160),
	})
	r.dispatch(b+"2", r.node("lamps"))
	r.settle(b+"2", "CONFIRMED_APPLIED", 160)
	r.done("lamps")
}

func (r *mixedScript) buyWithApproval() {
	c := admit("c", team, agent, runMark+"-ok")
	r.approve(runMark+"-ok", &c.Action)
	r.attempt(runMark+"-c", c, r.node("chairs"))
	r.add(agent, admit("d", "nobody's", agent, "")) // refused: no such grant
	r.settle(runMark+"-c1", "CONFIRMED_APPLIED", 120)
	r.done("chairs")
	r.done("end")
}

// waits is for the delivery, in a quarter of the runs for two.
func (r *mixedScript) waits(kind int) {
	ids := []string{runMark + "-w"}
	if kind%4 == 0 {
		ids = append(ids, runMark+"-v")
	}
	for _, id := range ids {
		r.add(agent, &schema.Wait{RunID: runMark, WaitID: id, Correlation: runMark, Deadline: far, Kind: "EXTERNAL", Context: context(agent, 160)})
	}
	for _, id := range ids {
		r.add(shop, &schema.Resume{WaitID: id, Correlation: runMark, Context: context(shop, 160)})
	}
	if len(ids) > 1 {
		r.add(agent, &schema.Join{RunID: runMark, WaitIDs: ids, Mode: "ALL", Context: context(agent, 160)})
	}
}

func (r *mixedScript) finish(kind int) {
	if kind%8 == 4 {
		r.approve(runMark+"-no", &admit("e", team, agent, "").Action)
		r.add(manager, &schema.WithdrawApproval{ApprovalID: runMark + "-no", Context: context(manager, 160)})
	}
	if kind%2 == 0 {
		r.transition("REJECTED") // refused: a running run is not rejected
	}
	r.transition("COMPLETED")
	r.add(auditor, verify())
	r.add(owner, &schema.Accept{RunID: runMark, Authority: owner, VerificationRevision: "1", Decision: "ACCEPTED", Rationale: "fine", Context: context(owner, 160)})
	switch {
	case kind == 8:
		r.mission()
	case kind%8 == 6:
		r.add(auditor, &schema.Invalidate{RunID: runMark, Reason: "the delivery was sent back", Context: context(auditor, 160)})
	case kind%4 == 0:
		r.add(owner, &schema.RevokeGrant{GrantID: r.grant, Context: context(owner, 160)})
	}
	if kind%8 == 3 {
		r.add(clock, tick()) // refused: nothing is due
	}
}

// mission is a small mission of its own, in a ledger of its own, from its
// beginning to its end.
func (r *mixedScript) mission() {
	r.aside(owner, &schema.OpenContract{Contract: contract(runMark), Context: context(owner, 20)})
	for _, to := range []string{"SUSPENDED", "OPEN", "CLOSED"} {
		r.aside(owner, &schema.MissionState{State: to, Context: context(owner, 160)})
	}
}

func verify() *schema.Verify {
	return &schema.Verify{
		RunID: runMark, Assessor: auditor, Revision: "1", Evidence: []string{"delivery-note", "invoice"}, Rationale: "as ordered",
		Results: []schema.Verdict{{Criterion: "delivered", Result: "PASS"}, {Criterion: "invoice-matches", Result: "PASS"}},
		Context: context(auditor, 160),
	}
}

func tick() *schema.TickTrigger {
	return &schema.TickTrigger{TriggerID: baseMark + "-s", Context: context(clock, 160)}
}
