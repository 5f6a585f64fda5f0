package schema

// The words that enumerated members may hold, in the schema's order.
var (
	Features        = []string{"triggers", "graphs"}
	TriggerKinds    = []string{"MANUAL", "SCHEDULED", "EVENT", "RESOURCE_CHANGE", "CONDITION", "WORKFLOW_LIFECYCLE", "EXTERNAL_RESPONSE"}
	TriggerActions  = []string{"START_RUN", "RESUME_WAIT"}
	ConditionModes  = []string{"EDGE", "LEVEL"}
	CatchUps        = []string{"SKIP", "LATEST", "ALL"}
	NodeKinds       = []string{"TASK", "DECISION", "FORK", "JOIN", "LOOP", "WAIT", "APPROVAL", "SUBWORKFLOW", "VERIFICATION", "ACCEPTANCE", "RECONCILIATION", "COMPENSATION", "END"}
	DecisionClasses = []string{"DETERMINISTIC", "HUMAN", "MODEL", "DELEGATED"}
	MissionStates   = []string{"OPEN", "SUSPENDED", "CLOSED"}
	PolicyResults   = []string{"ALLOW", "DENY", "INDETERMINATE"}
	Effects         = []string{"CONFIRMED_APPLIED", "CONFIRMED_NOT_APPLIED", "UNKNOWN"}
	WaitKinds       = []string{"INPUT", "AUTHORIZATION", "EXTERNAL", "TIMER", "RECONCILIATION"}
	JoinModes       = []string{"ALL", "ANY"}
	RunStates       = []string{"READY", "RUNNING", "WAITING", "PAUSED", "CANCELING", "COMPLETED", "FAILED", "CANCELED", "REJECTED"}
	Results         = []string{"PASS", "FAIL", "INCONCLUSIVE"}
	Decisions       = []string{"ACCEPTED", "REJECTED", "DEFERRED"}
)

// Contract is the frame that everything in a ledger happens in.
type Contract struct {
	ID                    string
	MissionID             string
	Budget                Decimal
	Deadline              Decimal
	Criteria              []string
	Actions               []string
	Resources             []string
	RequiresApproval      bool
	MaxAttempts           Decimal
	MaxAuthorizationAgeMs Decimal
	Features              []string
}

// Profile is the only profile there is: a contract's profile is always this.
const Profile = "finite-v1"

// Members lists the contract.
func (c *Contract) Members(m *Members) {
	m.IDs("actions", &c.Actions)
	m.Const("aiwsEdition", "0.4")
	m.Decimal("budget", &c.Budget)
	m.IDs("criteria", &c.Criteria)
	m.Decimal("deadline", &c.Deadline)
	m.Enums("features", &c.Features, Features)
	m.ID("id", &c.ID)
	m.Decimal("maxAttempts", &c.MaxAttempts)
	m.Decimal("maxAuthorizationAgeMs", &c.MaxAuthorizationAgeMs)
	m.ID("missionId", &c.MissionID)
	m.Const("profile", Profile)
	m.Bool("requiresApproval", &c.RequiresApproval)
	m.IDs("resources", &c.Resources)
}

// Grant gives a subject a part of the contract's, or of its parent's, authority.
type Grant struct {
	ID          string
	ParentID    string // "" for a root
	Subject     string
	Profile     string
	Actions     []string
	Resources   []string
	NotBefore   Decimal
	ExpiresAt   Decimal
	Limit       Decimal
	CanDelegate bool
	Depth       Decimal
}

// Members lists the grant.
func (g *Grant) Members(m *Members) {
	m.IDs("actions", &g.Actions)
	m.Bool("canDelegate", &g.CanDelegate)
	m.Decimal("depth", &g.Depth)
	m.Decimal("expiresAt", &g.ExpiresAt)
	m.ID("id", &g.ID)
	m.Decimal("limit", &g.Limit)
	m.Decimal("notBefore", &g.NotBefore)
	m.OptID("parentId", &g.ParentID)
	m.ID("profile", &g.Profile)
	m.IDs("resources", &g.Resources)
	m.ID("subject", &g.Subject)
}

// Approval lets an action of one fingerprint be attempted a number of times.
type Approval struct {
	ID          string
	RunID       string
	Approver    string
	Fingerprint string
	ExpiresAt   Decimal
	Uses        Decimal
}

// Members lists the approval.
func (a *Approval) Members(m *Members) {
	m.ID("approver", &a.Approver)
	m.Decimal("expiresAt", &a.ExpiresAt)
	m.ID("fingerprint", &a.Fingerprint)
	m.ID("id", &a.ID)
	m.ID("runId", &a.RunID)
	m.Decimal("uses", &a.Uses)
}

// Action is what an operation does. Fingerprint identifies it.
type Action struct {
	Capability    string
	Resource      string
	Payload       Value // object
	Preconditions Value // object
}

// Members lists the action.
func (a *Action) Members(m *Members) {
	m.ID("capability", &a.Capability)
	m.Object("payload", &a.Payload)
	m.Object("preconditions", &a.Preconditions)
	m.ID("resource", &a.Resource)
}

// Trigger starts runs or resumes waits, by events or by a schedule.
type Trigger struct {
	ID            string
	Revision      string
	Kind          string
	Source        string
	EventType     string
	ContractID    string
	Action        string
	WaitID        string // "" if absent
	Enabled       bool
	NotBefore     Decimal
	ExpiresAt     Decimal
	MaxAgeMs      Decimal
	MaxConcurrent Decimal
	RateLimit     Decimal
	RateWindowMs  Decimal
	MaxDepth      Decimal
	ConditionMode string // "" if absent
	Schedule      *Schedule
	Filter        *Filter
}

// Members lists the trigger.
func (t *Trigger) Members(m *Members) {
	m.Enum("action", &t.Action, TriggerActions)
	m.OptEnum("conditionMode", &t.ConditionMode, ConditionModes)
	m.ID("contractId", &t.ContractID)
	m.Bool("enabled", &t.Enabled)
	m.ID("eventType", &t.EventType)
	m.Decimal("expiresAt", &t.ExpiresAt)
	OptRecord(m, "filter", &t.Filter)
	m.ID("id", &t.ID)
	m.Enum("kind", &t.Kind, TriggerKinds)
	m.Decimal("maxAgeMs", &t.MaxAgeMs)
	m.Decimal("maxConcurrent", &t.MaxConcurrent)
	m.Decimal("maxDepth", &t.MaxDepth)
	m.Decimal("notBefore", &t.NotBefore)
	m.Decimal("rateLimit", &t.RateLimit)
	m.Decimal("rateWindowMs", &t.RateWindowMs)
	m.ID("revision", &t.Revision)
	OptRecord(m, "schedule", &t.Schedule)
	m.ID("source", &t.Source)
	m.OptID("waitId", &t.WaitID)
}

// Schedule is the slots of a SCHEDULED trigger: startMs + k * intervalMs.
type Schedule struct {
	StartMs    Decimal
	IntervalMs Decimal
	CatchUp    string
	MaxCatchUp Decimal
}

// Members lists the schedule.
func (s *Schedule) Members(m *Members) {
	m.Enum("catchUp", &s.CatchUp, CatchUps)
	m.Decimal("intervalMs", &s.IntervalMs)
	m.Decimal("maxCatchUp", &s.MaxCatchUp)
	m.Decimal("startMs", &s.StartMs)
}

// Filter admits events in whose data the field equals the value.
type Filter struct {
	Field  string
	Equals Value // any
}

// Members lists the filter.
func (f *Filter) Members(m *Members) {
	m.Any("equals", &f.Equals)
	m.ID("field", &f.Field)
}

// TriggerEvent is what happened outside that may fire a trigger.
type TriggerEvent struct {
	ID          string
	Source      string
	Type        string
	OccurredAt  Decimal
	Data        Value  // object
	Correlation string // "" if absent
	Depth       Decimal
}

// Members lists the event.
func (e *TriggerEvent) Members(m *Members) {
	m.OptID("correlation", &e.Correlation)
	m.Object("data", &e.Data)
	m.Decimal("depth", &e.Depth)
	m.ID("id", &e.ID)
	m.Decimal("occurredAt", &e.OccurredAt)
	m.ID("source", &e.Source)
	m.ID("type", &e.Type)
}

// Graph is a workflow: nodes and what each depends on.
type Graph struct {
	ID       string
	Revision string
	Nodes    []Node
}

// Members lists the graph.
func (g *Graph) Members(m *Members) {
	m.ID("id", &g.ID)
	Records(m, "nodes", &g.Nodes, 1, maxItems)
	m.ID("revision", &g.Revision)
}

// Node is one node of a graph.
type Node struct {
	ID           string
	Kind         string
	DependsOn    []string
	Config       Value // object
	InputSchema  Value // object, "" if absent
	OutputSchema Value // object, "" if absent
}

// Members lists the node.
func (n *Node) Members(m *Members) {
	m.Object("config", &n.Config)
	m.IDs("dependsOn", &n.DependsOn)
	m.ID("id", &n.ID)
	m.OptObject("inputSchema", &n.InputSchema)
	m.Enum("kind", &n.Kind, NodeKinds)
	m.OptObject("outputSchema", &n.OutputSchema)
}

// Context is what any command may say about where it comes from.
type Context struct {
	Actor          string
	PolicyRevision string
	DecisionClass  string
	CorrelationID  string // "" if absent, as the next three
	CausationID    string
	TraceID        string
	ParentSpanID   string
}

// Members lists the context.
func (c *Context) Members(m *Members) {
	m.ID("actor", &c.Actor)
	m.OptID("causationId", &c.CausationID)
	m.OptID("correlationId", &c.CorrelationID)
	m.Enum("decisionClass", &c.DecisionClass, DecisionClasses)
	m.OptHex("parentSpanId", &c.ParentSpanID, 16)
	m.ID("policyRevision", &c.PolicyRevision)
	m.OptHex("traceId", &c.TraceID, 32)
}
