package schema

// Command is one of the 27 commands: the 25 of the wire schema, below, and the host's two, in host.go. A command's Go fields
// are named after its members.
type Command interface {
	Record
	// Type returns the member "type", which is also the last token of the subject.
	Type() string
	// Ctx returns the member "context", or nil where it is absent.
	Ctx() *Context
}

// CommandTypes are the types of all commands, the wire schema's in its order, then the host's.
var CommandTypes = []string{
	"startRun",
	"continueRun",
	"activatePlan",
	"missionState",
	"grant",
	"revokeGrant",
	"approve",
	"withdrawApproval",
	"admit",
	"dispatch",
	"settle",
	"retry",
	"wait",
	"resume",
	"join",
	"transition",
	"verify",
	"accept",
	"invalidate",
	"tickTrigger",
	"registerTrigger",
	"fireTrigger",
	"registerGraph",
	"attachGraph",
	"completeNode",
	"openContract",
	"pinPlan",
}

// IsCommandType reports whether t is the type of a command.
func IsCommandType(t string) bool { return newCommand(t) != nil }

// newCommand returns an empty command of the given type, or nil if there is none.
func newCommand(t string) Command {
	switch t {
	case "startRun":
		return new(StartRun)
	case "continueRun":
		return new(ContinueRun)
	case "activatePlan":
		return new(ActivatePlan)
	case "missionState":
		return new(MissionState)
	case "grant":
		return new(IssueGrant)
	case "revokeGrant":
		return new(RevokeGrant)
	case "approve":
		return new(Approve)
	case "withdrawApproval":
		return new(WithdrawApproval)
	case "admit":
		return new(Admit)
	case "dispatch":
		return new(Dispatch)
	case "settle":
		return new(Settle)
	case "retry":
		return new(Retry)
	case "wait":
		return new(Wait)
	case "resume":
		return new(Resume)
	case "join":
		return new(Join)
	case "transition":
		return new(Transition)
	case "verify":
		return new(Verify)
	case "accept":
		return new(Accept)
	case "invalidate":
		return new(Invalidate)
	case "tickTrigger":
		return new(TickTrigger)
	case "registerTrigger":
		return new(RegisterTrigger)
	case "fireTrigger":
		return new(FireTrigger)
	case "registerGraph":
		return new(RegisterGraph)
	case "attachGraph":
		return new(AttachGraph)
	case "completeNode":
		return new(CompleteNode)
	case "openContract":
		return new(OpenContract)
	case "pinPlan":
		return new(PinPlan)
	}
	return nil
}

// StartRun opens a run.
type StartRun struct {
	RunID   string
	Context *Context
}

// Type is "startRun".
func (*StartRun) Type() string { return "startRun" }

// Ctx returns the context, or nil.
func (c *StartRun) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *StartRun) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("runId", &c.RunID)
	m.Const("type", "startRun")
}

// ContinueRun opens a segment of a run, with a new epoch.
type ContinueRun struct {
	RunID     string
	SegmentID string
	Context   *Context
}

// Type is "continueRun".
func (*ContinueRun) Type() string { return "continueRun" }

// Ctx returns the context, or nil.
func (c *ContinueRun) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *ContinueRun) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("runId", &c.RunID)
	m.ID("segmentId", &c.SegmentID)
	m.Const("type", "continueRun")
}

// ActivatePlan makes another plan the run's plan.
type ActivatePlan struct {
	RunID        string
	PlanID       string
	ExpectedPlan string
	Context      *Context
}

// Type is "activatePlan".
func (*ActivatePlan) Type() string { return "activatePlan" }

// Ctx returns the context, or nil.
func (c *ActivatePlan) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *ActivatePlan) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("expectedPlan", &c.ExpectedPlan)
	m.ID("planId", &c.PlanID)
	m.ID("runId", &c.RunID)
	m.Const("type", "activatePlan")
}

// MissionState opens, suspends or closes the mission.
type MissionState struct {
	State   string
	Context *Context
}

// Type is "missionState".
func (*MissionState) Type() string { return "missionState" }

// Ctx returns the context, or nil.
func (c *MissionState) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *MissionState) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Enum("state", &c.State, MissionStates)
	m.Const("type", "missionState")
}

// IssueGrant issues a grant: the command "grant".
type IssueGrant struct {
	Grant   Grant
	Context *Context
}

// Type is "grant".
func (*IssueGrant) Type() string { return "grant" }

// Ctx returns the context, or nil.
func (c *IssueGrant) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *IssueGrant) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("grant", &c.Grant)
	m.Const("type", "grant")
}

// RevokeGrant revokes a grant and what was delegated from it.
type RevokeGrant struct {
	GrantID string
	Context *Context
}

// Type is "revokeGrant".
func (*RevokeGrant) Type() string { return "revokeGrant" }

// Ctx returns the context, or nil.
func (c *RevokeGrant) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *RevokeGrant) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("grantId", &c.GrantID)
	m.Const("type", "revokeGrant")
}

// Approve records an approval.
type Approve struct {
	Approval Approval
	Context  *Context
}

// Type is "approve".
func (*Approve) Type() string { return "approve" }

// Ctx returns the context, or nil.
func (c *Approve) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Approve) Members(m *Members) {
	m.Record("approval", &c.Approval)
	OptRecord(m, "context", &c.Context)
	m.Const("type", "approve")
}

// WithdrawApproval withdraws an approval.
type WithdrawApproval struct {
	ApprovalID string
	Context    *Context
}

// Type is "withdrawApproval".
func (*WithdrawApproval) Type() string { return "withdrawApproval" }

// Ctx returns the context, or nil.
func (c *WithdrawApproval) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *WithdrawApproval) Members(m *Members) {
	m.ID("approvalId", &c.ApprovalID)
	OptRecord(m, "context", &c.Context)
	m.Const("type", "withdrawApproval")
}

// Admit admits an operation and reserves its first attempt.
type Admit struct {
	RunID                  string
	OperationID            string
	AttemptID              string
	GrantID                string
	Subject                string
	ApprovalID             string // "" if absent
	Action                 Action
	Amount                 Decimal
	AuthorizationCheckedAt Decimal
	Policy                 string
	MandatoryChecksOk      bool
	Context                *Context
}

// Type is "admit".
func (*Admit) Type() string { return "admit" }

// Ctx returns the context, or nil.
func (c *Admit) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Admit) Members(m *Members) {
	m.Record("action", &c.Action)
	m.Decimal("amount", &c.Amount)
	m.OptID("approvalId", &c.ApprovalID)
	m.ID("attemptId", &c.AttemptID)
	m.Decimal("authorizationCheckedAt", &c.AuthorizationCheckedAt)
	OptRecord(m, "context", &c.Context)
	m.ID("grantId", &c.GrantID)
	m.Bool("mandatoryChecksOk", &c.MandatoryChecksOk)
	m.ID("operationId", &c.OperationID)
	m.Enum("policy", &c.Policy, PolicyResults)
	m.ID("runId", &c.RunID)
	m.ID("subject", &c.Subject)
	m.Const("type", "admit")
}

// Dispatch says that an attempt is about to be made.
type Dispatch struct {
	AttemptID              string
	NodeID                 string // "" if absent
	AuthorizationCheckedAt Decimal
	Policy                 string
	MandatoryChecksOk      bool
	Context                *Context
}

// Type is "dispatch".
func (*Dispatch) Type() string { return "dispatch" }

// Ctx returns the context, or nil.
func (c *Dispatch) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Dispatch) Members(m *Members) {
	m.ID("attemptId", &c.AttemptID)
	m.Decimal("authorizationCheckedAt", &c.AuthorizationCheckedAt)
	OptRecord(m, "context", &c.Context)
	m.Bool("mandatoryChecksOk", &c.MandatoryChecksOk)
	m.OptID("nodeId", &c.NodeID)
	m.Enum("policy", &c.Policy, PolicyResults)
	m.Const("type", "dispatch")
}

// Settle reports what became of an attempt.
type Settle struct {
	AttemptID  string
	Effect     string
	ActualCost Decimal
	Context    *Context
}

// Type is "settle".
func (*Settle) Type() string { return "settle" }

// Ctx returns the context, or nil.
func (c *Settle) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Settle) Members(m *Members) {
	m.Decimal("actualCost", &c.ActualCost)
	m.ID("attemptId", &c.AttemptID)
	OptRecord(m, "context", &c.Context)
	m.Enum("effect", &c.Effect, Effects)
	m.Const("type", "settle")
}

// Retry reserves another attempt of an operation.
type Retry struct {
	OperationID            string
	AttemptID              string
	Amount                 Decimal
	AuthorizationCheckedAt Decimal
	Policy                 string
	MandatoryChecksOk      bool
	Context                *Context
}

// Type is "retry".
func (*Retry) Type() string { return "retry" }

// Ctx returns the context, or nil.
func (c *Retry) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Retry) Members(m *Members) {
	m.Decimal("amount", &c.Amount)
	m.ID("attemptId", &c.AttemptID)
	m.Decimal("authorizationCheckedAt", &c.AuthorizationCheckedAt)
	OptRecord(m, "context", &c.Context)
	m.Bool("mandatoryChecksOk", &c.MandatoryChecksOk)
	m.ID("operationId", &c.OperationID)
	m.Enum("policy", &c.Policy, PolicyResults)
	m.Const("type", "retry")
}

// Wait makes a run wait for something.
type Wait struct {
	RunID       string
	WaitID      string
	Correlation string
	Deadline    Decimal
	Kind        string
	Context     *Context
}

// Type is "wait".
func (*Wait) Type() string { return "wait" }

// Ctx returns the context, or nil.
func (c *Wait) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Wait) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("correlation", &c.Correlation)
	m.Decimal("deadline", &c.Deadline)
	m.Enum("kind", &c.Kind, WaitKinds)
	m.ID("runId", &c.RunID)
	m.Const("type", "wait")
	m.ID("waitId", &c.WaitID)
}

// Resume satisfies a wait.
type Resume struct {
	WaitID      string
	Correlation string
	Context     *Context
}

// Type is "resume".
func (*Resume) Type() string { return "resume" }

// Ctx returns the context, or nil.
func (c *Resume) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Resume) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("correlation", &c.Correlation)
	m.Const("type", "resume")
	m.ID("waitId", &c.WaitID)
}

// Join goes on after several waits.
type Join struct {
	RunID   string
	WaitIDs []string
	Mode    string
	Context *Context
}

// Type is "join".
func (*Join) Type() string { return "join" }

// Ctx returns the context, or nil.
func (c *Join) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Join) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Enum("mode", &c.Mode, JoinModes)
	m.ID("runId", &c.RunID)
	m.Const("type", "join")
	m.IDs("waitIds", &c.WaitIDs)
}

// Transition moves a run to another state.
type Transition struct {
	RunID   string
	To      string
	Context *Context
}

// Type is "transition".
func (*Transition) Type() string { return "transition" }

// Ctx returns the context, or nil.
func (c *Transition) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Transition) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("runId", &c.RunID)
	m.Enum("to", &c.To, RunStates)
	m.Const("type", "transition")
}

// Verify records an assessment of a run.
type Verify struct {
	RunID     string
	Assessor  string
	Revision  string
	Results   []Verdict
	Evidence  []string
	Rationale string
	Context   *Context
}

// Type is "verify".
func (*Verify) Type() string { return "verify" }

// Ctx returns the context, or nil.
func (c *Verify) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Verify) Members(m *Members) {
	m.ID("assessor", &c.Assessor)
	OptRecord(m, "context", &c.Context)
	m.IDs("evidence", &c.Evidence)
	m.ID("rationale", &c.Rationale)
	m.Verdicts("results", &c.Results)
	m.ID("revision", &c.Revision)
	m.ID("runId", &c.RunID)
	m.Const("type", "verify")
}

// Accept decides on an assessment.
type Accept struct {
	RunID                string
	Authority            string
	VerificationRevision string
	Decision             string
	Rationale            string
	Context              *Context
}

// Type is "accept".
func (*Accept) Type() string { return "accept" }

// Ctx returns the context, or nil.
func (c *Accept) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Accept) Members(m *Members) {
	m.ID("authority", &c.Authority)
	OptRecord(m, "context", &c.Context)
	m.Enum("decision", &c.Decision, Decisions)
	m.ID("rationale", &c.Rationale)
	m.ID("runId", &c.RunID)
	m.Const("type", "accept")
	m.ID("verificationRevision", &c.VerificationRevision)
}

// Invalidate invalidates the assessment of a run and of those that depend on it.
type Invalidate struct {
	RunID   string
	Reason  string
	Context *Context
}

// Type is "invalidate".
func (*Invalidate) Type() string { return "invalidate" }

// Ctx returns the context, or nil.
func (c *Invalidate) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *Invalidate) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("reason", &c.Reason)
	m.ID("runId", &c.RunID)
	m.Const("type", "invalidate")
}

// TickTrigger lets a scheduled trigger fire what is due.
type TickTrigger struct {
	TriggerID string
	Context   *Context
}

// Type is "tickTrigger".
func (*TickTrigger) Type() string { return "tickTrigger" }

// Ctx returns the context, or nil.
func (c *TickTrigger) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *TickTrigger) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("triggerId", &c.TriggerID)
	m.Const("type", "tickTrigger")
}

// RegisterTrigger registers a trigger.
type RegisterTrigger struct {
	Trigger Trigger
	Context *Context
}

// Type is "registerTrigger".
func (*RegisterTrigger) Type() string { return "registerTrigger" }

// Ctx returns the context, or nil.
func (c *RegisterTrigger) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *RegisterTrigger) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("trigger", &c.Trigger)
	m.Const("type", "registerTrigger")
}

// FireTrigger gives an event to a trigger.
type FireTrigger struct {
	TriggerID string
	Event     TriggerEvent
	RunID     string
	Context   *Context
}

// Type is "fireTrigger".
func (*FireTrigger) Type() string { return "fireTrigger" }

// Ctx returns the context, or nil.
func (c *FireTrigger) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *FireTrigger) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("event", &c.Event)
	m.ID("runId", &c.RunID)
	m.ID("triggerId", &c.TriggerID)
	m.Const("type", "fireTrigger")
}

// RegisterGraph registers a graph.
type RegisterGraph struct {
	Graph   Graph
	Context *Context
}

// Type is "registerGraph".
func (*RegisterGraph) Type() string { return "registerGraph" }

// Ctx returns the context, or nil.
func (c *RegisterGraph) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *RegisterGraph) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("graph", &c.Graph)
	m.Const("type", "registerGraph")
}

// AttachGraph attaches a graph to a run.
type AttachGraph struct {
	RunID   string
	GraphID string
	Context *Context
}

// Type is "attachGraph".
func (*AttachGraph) Type() string { return "attachGraph" }

// Ctx returns the context, or nil.
func (c *AttachGraph) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *AttachGraph) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("graphId", &c.GraphID)
	m.ID("runId", &c.RunID)
	m.Const("type", "attachGraph")
}

// CompleteNode completes a node of a run's graph.
type CompleteNode struct {
	RunID   string
	NodeID  string
	Result  Value // object
	Context *Context
}

// Type is "completeNode".
func (*CompleteNode) Type() string { return "completeNode" }

// Ctx returns the context, or nil.
func (c *CompleteNode) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *CompleteNode) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.ID("nodeId", &c.NodeID)
	m.Object("result", &c.Result)
	m.ID("runId", &c.RunID)
	m.Const("type", "completeNode")
}
