// Package workload makes the commands that the benchmarks send: runs as hosts
// drive them, with every area of the rulebook, about 700 bytes a command and
// about one refusal in ten.
package workload

import (
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Command is one command to be published.
type Command struct {
	Subject string
	ID      string
	Body    []byte
}

// Principals of the workload. Duties are separated, as the default policy asks.
const (
	owner   = "owner"
	agent   = "agent"
	manager = "manager"
	auditor = "auditor"
	shop    = "shop-adapter"
)

// The ledger that a worker's commands are for, and how far its runs have come.
type Worker struct {
	contract string
	name     string
	run      int
	queue    []Command
	start    uint64 // milliseconds: when the host checked its authorizations
}

// far is a deadline that no benchmark reaches: the year 2100 in milliseconds.
const far = "4102444800000"

// Open returns the commands that open a ledger: its contract and a grant.
func Open(contract string) []Command {
	return []Command{
		command(contract, owner, contract+"-open", &schema.OpenContract{Contract: schema.Contract{
			ID: contract, MissionID: "mission", Budget: schema.MustDecimal("1" + strings.Repeat("0", 30)),
			Deadline: schema.MustDecimal(far), Criteria: []string{"delivered", "invoice-matches"},
			Actions: []string{"purchase", "refund", "read"}, Resources: []string{"shop", "bank", "warehouse"},
			MaxAttempts: schema.DecimalOf(3), MaxAuthorizationAgeMs: schema.MustDecimal(far),
			Features: []string{"triggers", "graphs"},
		}}),
		command(contract, owner, contract+"-grant", &schema.IssueGrant{Grant: schema.Grant{
			ID: "team", Subject: agent, Profile: schema.Profile, Actions: []string{"purchase", "read"}, Resources: []string{"shop", "warehouse"},
			ExpiresAt: schema.MustDecimal(far), Limit: schema.MustDecimal("1" + strings.Repeat("0", 29)), CanDelegate: true, Depth: schema.DecimalOf(2),
		}}),
	}
}

// NewWorker returns a worker on a ledger; its name makes its ids its own. nowMs
// is the time at which it authorizes, in milliseconds.
func NewWorker(contract, name string, nowMs uint64) *Worker {
	return &Worker{contract: contract, name: name, start: nowMs}
}

// Next returns the worker's next command. Commands of one worker must be
// decided in order.
func (w *Worker) Next() Command {
	if len(w.queue) == 0 {
		w.run++
		w.queue = w.cycle()
	}
	c := w.queue[0]
	w.queue = w.queue[1:]
	return c
}

// cycle is a run from its start to its acceptance: 23 commands, two of which
// are refused, and each other run ends with a third.
func (w *Worker) cycle() []Command {
	id := fmt.Sprintf("%s-%d", w.name, w.run)
	var list []Command
	add := func(principal string, c schema.Command) {
		list = append(list, command(w.contract, principal, fmt.Sprintf("%s-%02d", id, len(list)), c))
	}
	checked := schema.DecimalOf(w.start)
	amount := schema.DecimalOf(uint64(100 + w.run%50))
	dispatch := func(attempt string) {
		add(agent, &schema.Dispatch{
			AttemptID: attempt, AuthorizationCheckedAt: checked, Policy: "ALLOW", MandatoryChecksOk: true, Context: w.context(agent, 150),
		})
	}
	settle := func(attempt, effect string, cost schema.Decimal) {
		add(shop, &schema.Settle{AttemptID: attempt, Effect: effect, ActualCost: cost, Context: w.context(shop, 150)})
	}
	transition := func(to string) {
		add(agent, &schema.Transition{RunID: id, To: to, Context: w.context(agent, 150)})
	}
	a, b, c := id+"-a", id+"-b", id+"-c"

	add(agent, &schema.StartRun{RunID: id, Context: w.context(agent, 150)})
	transition("RUNNING")
	add(agent, w.admit(id, a, "team", "", amount, checked))
	dispatch(a + "1")
	dispatch(a + "1") // refused: an attempt is dispatched once
	settle(a+"1", "CONFIRMED_APPLIED", amount)
	add(agent, w.admit(id, b, "team", "", amount, checked))
	dispatch(b + "1")
	settle(b+"1", "UNKNOWN", schema.Decimal{})
	settle(b+"1", "CONFIRMED_NOT_APPLIED", schema.DecimalOf(3))
	add(agent, &schema.Retry{
		OperationID: b, AttemptID: b + "2", Amount: amount, AuthorizationCheckedAt: checked, Policy: "ALLOW", MandatoryChecksOk: true,
		Context: w.context(agent, 150),
	})
	dispatch(b + "2")
	settle(b+"2", "CONFIRMED_APPLIED", amount.Add(schema.DecimalOf(10)))
	third := w.admit(id, c, "team", id+"-ok", amount, checked)
	add(manager, &schema.Approve{Approval: schema.Approval{
		ID: id + "-ok", RunID: id, Approver: manager, Fingerprint: schema.Fingerprint(&third.Action),
		ExpiresAt: schema.MustDecimal(far), Uses: schema.DecimalOf(2),
	}, Context: w.context(manager, 150)})
	add(agent, third)
	add(agent, w.admit(id, id+"-d", "nobody's", "", amount, checked)) // refused: no such grant
	dispatch(c + "1")
	settle(c+"1", "CONFIRMED_APPLIED", amount)
	add(agent, &schema.Wait{
		RunID: id, WaitID: id + "-w", Correlation: id, Deadline: schema.MustDecimal(far), Kind: "EXTERNAL", Context: w.context(agent, 150),
	})
	add(shop, &schema.Resume{WaitID: id + "-w", Correlation: id, Context: w.context(shop, 150)})
	if w.run%2 == 0 {
		transition("REJECTED") // refused: a running run is not rejected
	}
	transition("COMPLETED")
	add(auditor, w.verify(id))
	add(owner, &schema.Accept{RunID: id, Authority: owner, VerificationRevision: "1", Decision: "ACCEPTED", Rationale: "fine", Context: w.context(owner, 150)})
	return list
}

func (w *Worker) verify(run string) *schema.Verify {
	return &schema.Verify{
		RunID: run, Assessor: auditor, Revision: "1", Evidence: []string{"delivery-note", "invoice"}, Rationale: "as ordered",
		Results: []schema.Verdict{{Criterion: "delivered", Result: "PASS"}, {Criterion: "invoice-matches", Result: "PASS"}},
		Context: w.context(auditor, 150),
	}
}

func (w *Worker) admit(run, operation, grant, approval string, amount, checked schema.Decimal) *schema.Admit {
	payload, err := schema.ParseValue(fmt.Appendf(nil,
		`{"basket":[{"count":4,"item":"desk","unitPrice":%q},{"count":2,"item":"lamp","unitPrice":"17"}],"deliverTo":{"city":"Utrecht","street":"Oudegracht 1","zip":"3511"},"note":%q,"operation":%q}`,
		amount.String(), strings.Repeat("please ring twice ", 8), operation))
	if err != nil {
		panic(err) // our own text
	}
	return &schema.Admit{
		RunID: run, OperationID: operation, AttemptID: operation + "1", GrantID: grant, Subject: agent, ApprovalID: approval,
		Action: schema.Action{Capability: "purchase", Resource: "shop", Payload: payload, Preconditions: `{"stock":"known"}`},
		Amount: amount, AuthorizationCheckedAt: checked, Policy: "ALLOW", MandatoryChecksOk: true, Context: w.context(agent, 20),
	}
}

// context is what hosts send along for tracing.
func (w *Worker) context(actor string, size int) *schema.Context {
	return &schema.Context{
		Actor: actor, PolicyRevision: "policy-2026-11", DecisionClass: "DETERMINISTIC",
		CorrelationID: strings.Repeat("c", size), CausationID: strings.Repeat("a", size),
		TraceID: "0af7651916cd43dd8448eb211c80319c", ParentSpanID: "b7ad6b7169203331",
	}
}

func command(contract, principal, id string, c schema.Command) Command {
	return Command{
		Subject: schema.Subject{Contract: contract, Principal: principal, Type: c.Type()}.String(),
		ID:      id,
		Body:    schema.AppendRecord(nil, c),
	}
}
