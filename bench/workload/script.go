package workload

import (
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Principals of the workload. Duties are separated, as the default policy asks.
const (
	owner   = "owner"
	agent   = "agent"
	helper  = "helper" // an agent that gets a part of the other's authority
	manager = "manager"
	auditor = "auditor"
	shop    = "shop-adapter"
	clock   = "scheduler"
)

// Times in milliseconds: a deadline that no benchmark reaches, the year 2100,
// and when hosts checked their authorizations.
var (
	far     = schema.MustDecimal("4102444800000")
	checked = schema.MustDecimal("1700000000000")
)

// The grant that agents act under.
const team = "team"

// script collects steps.
type script struct {
	prefix string // of the suffixes of command ids
	steps  []step
}

func (s *script) add(principal string, c schema.Command) {
	s.steps = append(s.steps, newStep(principal, fmt.Sprintf("-%s%02d", s.prefix, len(s.steps)), c))
}

// aside adds a command for a ledger of the run's own.
func (s *script) aside(principal string, c schema.Command) {
	s.add(principal, c)
	s.steps[len(s.steps)-1].side = true
}

// again sends the last command once more, as who saw no reply does.
func (s *script) again() { s.steps = append(s.steps, s.steps[len(s.steps)-1]) }

func (s *script) transition(to string) {
	s.add(agent, &schema.Transition{RunID: runMark, To: to, Context: context(agent, 160)})
}

// attempt is an operation's first attempt up to its dispatch. node is that of
// the run's graph, or "".
func (s *script) attempt(operation string, a *schema.Admit, node string) {
	s.add(agent, a)
	s.dispatch(operation+"1", node)
}

func (s *script) dispatch(attempt, node string) {
	s.add(agent, &schema.Dispatch{
		AttemptID: attempt, NodeID: node, AuthorizationCheckedAt: checked, Policy: "ALLOW", MandatoryChecksOk: true, Context: context(agent, 160),
	})
}

func (s *script) settle(attempt, effect string, cost uint64) {
	s.add(shop, &schema.Settle{AttemptID: attempt, Effect: effect, ActualCost: schema.DecimalOf(cost), Context: context(shop, 160)})
}

func (s *script) approve(id string, action *schema.Action) {
	s.add(manager, &schema.Approve{Approval: schema.Approval{
		ID: id, RunID: runMark, Approver: manager, Fingerprint: schema.Fingerprint(action), ExpiresAt: far, Uses: schema.DecimalOf(2),
	}, Context: context(manager, 160)})
}

// admit asks for 120 of a grant; letter tells the operations of a run apart.
func admit(letter, grant, subject, approval string) *schema.Admit {
	payload := value(fmt.Sprintf(`{"basket":[{"count":4,"item":"desk","unitPrice":"30"},{"count":2,"item":"lamp","unitPrice":"17"}],`+
		`"deliverTo":{"city":"Utrecht","street":"Oudegracht 1","zip":"3511"},"note":%q,"operation":%q}`,
		strings.Repeat("please ring twice ", 8), letter))
	return &schema.Admit{
		RunID: runMark, OperationID: runMark + "-" + letter, AttemptID: runMark + "-" + letter + "1",
		GrantID: grant, Subject: subject, ApprovalID: approval,
		Action: schema.Action{Capability: "purchase", Resource: "shop", Payload: payload, Preconditions: value(`{"stock":"known"}`)},
		Amount: schema.DecimalOf(120), AuthorizationCheckedAt: checked, Policy: "ALLOW", MandatoryChecksOk: true, Context: context(agent, 20),
	}
}

func value(text string) schema.Value {
	v, err := schema.ParseValue([]byte(text))
	if err != nil {
		panic(err) // our own text
	}
	return v
}

// context is what hosts send along for tracing; its ids have so many bytes.
func context(actor string, size int) *schema.Context {
	return &schema.Context{
		Actor: actor, PolicyRevision: "policy-2026-11", DecisionClass: "DETERMINISTIC",
		CorrelationID: strings.Repeat("c", size), CausationID: strings.Repeat("a", size),
		TraceID: "0af7651916cd43dd8448eb211c80319c", ParentSpanID: "b7ad6b7169203331",
	}
}
