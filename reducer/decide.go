package reducer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// RulesVersion numbers the rules that Decide follows. Any change of what it
// decides raises it; it is written into every block (DESIGN 2).
const RulesVersion = 1

// Reducer decides commands. It holds nothing but compiled node schemas, which
// follow from the log; two reducers decide alike. It is not safe for concurrent
// use.
type Reducer struct {
	schemas *schemaCache
	onPlan  PlanUse
}

// PlanUse is told which pinned plan a command concerns, before the command is
// decided (PLANS "Rehydration"). It decides nothing; it may set the plan's row
// right, if that is not what the log says.
type PlanUse func(s *state.State, contract, runID, planID string)

// OnPlan sets who is told of the use of pinned plans, nil for nobody.
func (r *Reducer) OnPlan(use PlanUse) { r.onPlan = use }

// New returns a reducer.
func New() *Reducer { return &Reducer{schemas: newSchemaCache()} }

// Step decides a message and folds the decision into the state.
func (r *Reducer) Step(s *state.State, m *events.Message) *events.Decision {
	d := r.Decide(s, m)
	s.Apply(m, d)
	return d
}

// Decide answers a message: the sealed decision record, chained to the head of
// its ledger (RULES 2). It changes nothing. The decision depends on the state
// and the message alone.
func (r *Reducer) Decide(s *state.State, m *events.Message) *events.Decision {
	q := r.question(s, m)
	found, refused := q.answer(m)
	d := q.record(m, found, refused)
	if refused == nil && d.Size() > events.MaxRecord {
		refused = refuse(events.CodeRecordTooLarge, "the record would have %d bytes, at most %d are allowed", d.Size(), events.MaxRecord)
		d = q.record(m, nil, refused)
	}
	return d
}

// question is one command with the facts that its rules ask for.
type question struct {
	*state.State
	schemas   *schemaCache
	onPlan    PlanUse
	subject   schema.Subject
	contract  string // of the subject; the ledger that is asked
	principal string
	routed    bool   // the subject is valid
	open      bool   // the ledger is open
	commandID string // as recorded
	hasID     bool   // given by the publisher, and valid
	idFault   string
	bodyHash  string // hex sha256 of the body
	now       schema.Decimal
	terms     *state.Terms // nil while the ledger is not open
	duplicate *state.Receipt
}

func (r *Reducer) question(s *state.State, m *events.Message) *question {
	q := &question{State: s, schemas: r.schemas, onPlan: r.onPlan, now: m.Millis(), bodyHash: bodyHash(m.Body)}
	q.subject, q.routed = schema.ParseSubject(m.Subject)
	q.contract, q.principal = q.subject.Contract, q.subject.Principal
	q.commandID, q.hasID, q.idFault = commandID(m)
	if q.routed {
		ledger := s.Ledger(q.contract)
		if q.open = ledger.Open(); q.open {
			q.terms = s.Terms(q.contract)
			q.now = q.now.Max(ledger.Now)
		}
	}
	return q
}

// commandID is the id under which the decision is recorded (RULES 1).
func commandID(m *events.Message) (id string, given bool, fault string) {
	sequence := "seq-" + strconv.FormatUint(m.Seq, 10)
	switch {
	case m.IDs == nil:
		return sequence, false, ""
	case len(m.IDs) != 1:
		return sequence, false, "the header Aiws-Command-Id is given more than once"
	case !schema.ValidCommandID(m.IDs[0]):
		return sequence, false, "the header Aiws-Command-Id must be 1 to 128 visible ASCII characters and not begin with seq-"
	}
	return m.IDs[0], true, ""
}

// answer runs the checks of RULES 2 in their order; the first failure decides.
func (q *question) answer(m *events.Message) ([]events.Event, *refusal) {
	if !q.routed {
		return nil, refuse(events.CodeSubjectInvalid, "the subject is not aiws.cmd.<contract>.<principal>.<type> with canonical tokens")
	}
	if q.idFault != "" {
		return nil, refuse(events.CodeCommandIDInvalid, "%s", q.idFault)
	}
	if len(m.Body) > schema.MaxBody {
		return nil, refuse(events.CodeBodyTooLarge, "the body has %d bytes, at most %d are allowed", len(m.Body), schema.MaxBody)
	}
	command, fault := schema.Decode(m.Body)
	if fault != nil {
		return nil, &refusal{code: events.Code(fault.Code), pointer: fault.Pointer, message: fault.Message}
	}
	if command.Type() != q.subject.Type {
		return nil, refuse(events.CodeSubjectMismatch, "the subject says %s, the body %s", q.subject.Type, command.Type())
	}
	if refused := q.checkID(); refused != nil || q.duplicate != nil {
		return nil, refused
	}
	if refused := q.checkCommon(command); refused != nil {
		return nil, refused
	}
	return q.decide(command)
}

// checkID finds the first decision of a repeated id. It sets q.duplicate when
// the very same body was decided before.
func (q *question) checkID() *refusal {
	if !q.open || !q.hasID {
		return nil
	}
	receipt, known := q.Receipt(q.contract, q.principal, q.commandID)
	if !known {
		return nil
	}
	if receipt.BodyHash != q.bodyHash {
		return refuse(events.CodeCommandIDReused, "command %d has this id and another body", receipt.CommandSeq)
	}
	q.duplicate = &receipt
	return nil
}

// checkCommon is RULES 2, steps 5 to 8.
func (q *question) checkCommon(command schema.Command) *refusal {
	_, opening := command.(*schema.OpenContract)
	if !q.open && !opening {
		return refuse(events.CodeContractNotFound, "the ledger %q is not open", q.contract)
	}
	if q.open && opening {
		return refuse(events.CodeContractExists, "the ledger %q is open", q.contract)
	}
	if context := command.Ctx(); context != nil && context.Actor != q.principal {
		return refuse(events.CodeActorMismatch, "context.actor is %q, the principal %q", context.Actor, q.principal)
	}
	if q.open && !q.allowed(command) {
		return refuse(events.CodePrincipalNotAllowed, "the policy does not list %q for %s", q.principal, command.Type())
	}
	if q.isModel(command) && widensAuthority(command) {
		return refuse(events.CodeDecisionClassForbidden, "a model may not send %s", command.Type())
	}
	if feature := featureOf(command); feature != "" && !q.hasFeature(feature) {
		return refuse(events.CodeFeatureDisabled, "the contract does not have the feature %s", feature)
	}
	return nil
}

// allowed is policy.allow, with the one exception for delegating from one's
// own grant.
func (q *question) allowed(command schema.Command) bool {
	if q.terms.Allowed(command.Type(), q.principal) {
		return true
	}
	issue, ok := command.(*schema.IssueGrant)
	if !ok || issue.Grant.ParentID == "" {
		return false
	}
	parent, ok := q.Grant(q.contract, issue.Grant.ParentID)
	return ok && parent.Subject == q.principal
}

func (q *question) isModel(command schema.Command) bool {
	if context := command.Ctx(); context != nil && context.DecisionClass == decisionClassModel {
		return true
	}
	return q.open && q.terms.IsModel(q.principal)
}

const decisionClassModel = "MODEL"

// widensAuthority says whether a command gives authority (RULES 2.7).
func widensAuthority(command schema.Command) bool {
	switch c := command.(type) {
	case *schema.OpenContract, *schema.PinPlan, *schema.IssueGrant, *schema.Approve, *schema.Accept:
		return true
	case *schema.MissionState:
		return c.State != events.MissionSuspended
	}
	return false
}

// featureOf is the contract feature that a command needs, or "".
func featureOf(command schema.Command) string {
	switch command.(type) {
	case *schema.RegisterTrigger, *schema.FireTrigger, *schema.TickTrigger:
		return "triggers"
	case *schema.RegisterGraph, *schema.AttachGraph, *schema.CompleteNode:
		return "graphs"
	}
	return ""
}

func (q *question) hasFeature(feature string) bool {
	for _, f := range q.terms.Contract.Features {
		if f == feature {
			return true
		}
	}
	return false
}

// decide hands the command to its own rules.
func (q *question) decide(command schema.Command) ([]events.Event, *refusal) { //nolint:funlen // the table of contents
	switch c := command.(type) {
	case *schema.Accept:
		return q.accept(c)
	case *schema.ActivatePlan:
		return q.activatePlan(c)
	case *schema.Admit:
		return q.admit(c)
	case *schema.Approve:
		return q.approve(c)
	case *schema.AttachGraph:
		return q.attachGraph(c)
	case *schema.CompleteNode:
		return q.completeNode(c)
	case *schema.ContinueRun:
		return q.continueRun(c)
	case *schema.Dispatch:
		return q.dispatch(c)
	case *schema.FireTrigger:
		return q.fireTrigger(c)
	case *schema.Invalidate:
		return q.invalidate(c)
	case *schema.IssueGrant:
		return q.grant(c)
	case *schema.Join:
		return q.join(c)
	case *schema.MissionState:
		return q.missionState(c)
	case *schema.OpenContract:
		return q.openContract(c)
	case *schema.PinPlan:
		return q.pinPlan(c)
	case *schema.RegisterGraph:
		return q.registerGraph(c)
	case *schema.RegisterTrigger:
		return q.registerTrigger(c)
	case *schema.Resume:
		return q.resume(c)
	case *schema.Retry:
		return q.retry(c)
	case *schema.RevokeGrant:
		return q.revokeGrant(c)
	case *schema.Settle:
		return q.settle(c)
	case *schema.StartRun:
		return q.startRun(c)
	case *schema.TickTrigger:
		return q.tickTrigger(c)
	case *schema.Transition:
		return q.transition(c)
	case *schema.Verify:
		return q.verify(c)
	case *schema.Wait:
		return q.wait(c)
	case *schema.WithdrawApproval:
		return q.withdrawApproval(c)
	}
	panic(fmt.Sprintf("reducer: no rules for %T", command))
}

// record seals the decision into the chain of its ledger. What is refused for a
// ledger that is not open stands in the chain of _unrouted, with that ledger's
// own time (RULES 2).
func (q *question) record(m *events.Message, found []events.Event, refused *refusal) *events.Decision {
	d := &events.Decision{
		Contract: q.subject.Contract, CommandSeq: m.Seq, CommandID: q.commandID,
		Principal: q.subject.Principal, Type: q.subject.Type,
		At: q.now, BodyHash: q.bodyHash,
	}
	switch {
	case q.duplicate != nil:
		d.Outcome = events.OutcomeDuplicate
		d.Of, d.OfOutcome, d.OfCode = q.duplicate.CommandSeq, q.duplicate.Outcome, q.duplicate.Code
	case refused != nil:
		d.Outcome = events.OutcomeRejected
		d.Code, d.Reason, d.Pointer, d.Message = refused.code, refused.reason, refused.pointer, refused.message
	default:
		d.Outcome, d.Events = events.OutcomeAccepted, found
	}
	d.Unrouted = !q.open && d.Outcome != events.OutcomeAccepted
	ledger := q.Ledger(d.Ledger())
	if d.Unrouted {
		d.At = q.now.Max(ledger.Now)
	}
	d.Seal(ledger.Head)
	return d
}

func bodyHash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
