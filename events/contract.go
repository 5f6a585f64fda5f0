package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// ContractOpened is a ledger's genesis (RULES 3). Policy has every default
// filled in.
type ContractOpened struct {
	By       string
	Contract schema.Contract
	Policy   Policy
}

// Policy is the policy in force for a ledger, from its genesis on.
type Policy struct {
	ActFor             *[]schema.PrincipalList // nil: any principal may act for any subject
	Allow              []schema.PrincipalList  // by command type; a type without a list is open to all
	ClockSkewMs        schema.Decimal
	Models             []string
	RequireGraph       bool
	RequirePinnedPlan  bool
	SeparationOfDuties bool
}

// MissionStateChanged suspends, reopens or closes the mission (RULES 4).
type MissionStateChanged struct {
	From, To string
}

// The states of a mission (RULES 4). CLOSED is final.
const (
	MissionOpen      = "OPEN"
	MissionSuspended = "SUSPENDED"
	MissionClosed    = "CLOSED"
)

// Type implements [Event].
func (*ContractOpened) Type() string { return "contractOpened" }

// Type implements [Event].
func (*MissionStateChanged) Type() string { return "missionStateChanged" }

// Members implements [schema.Record].
func (e *ContractOpened) Members(m *schema.Members) {
	m.ID("by", &e.By)
	m.Record("contract", &e.Contract)
	m.Record("policy", &e.Policy)
	m.Const("type", "contractOpened")
}

// Members implements [schema.Record].
func (p *Policy) Members(m *schema.Members) {
	m.OptLists("actFor", &p.ActFor, schema.ValidID)
	m.Lists("allow", &p.Allow, schema.IsCommandType)
	m.Decimal("clockSkewMs", &p.ClockSkewMs)
	m.IDList("models", &p.Models)
	m.Bool("requireGraph", &p.RequireGraph)
	m.Bool("requirePinnedPlan", &p.RequirePinnedPlan)
	m.Bool("separationOfDuties", &p.SeparationOfDuties)
}

// Members implements [schema.Record].
func (e *MissionStateChanged) Members(m *schema.Members) {
	m.Enum("from", &e.From, schema.MissionStates)
	m.Enum("to", &e.To, schema.MissionStates)
	m.Const("type", "missionStateChanged")
}
