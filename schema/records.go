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
