package schema

// OpenContract is the genesis of a ledger (RULES 3).
type OpenContract struct {
	Contract Contract
	Policy   *Policy
	Context  *Context
}

// Type is "openContract".
func (*OpenContract) Type() string { return "openContract" }

// Ctx returns the context, or nil.
func (c *OpenContract) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *OpenContract) Members(m *Members) {
	OptRecord(m, "context", &c.Context)
	m.Record("contract", &c.Contract)
	OptRecord(m, "policy", &c.Policy)
	m.Const("type", "openContract")
}

// Policy is a ledger's policy as the host gave it: nil is what it left to the defaults.
type Policy struct {
	ClockSkewMs        *Decimal
	RequirePinnedPlan  *bool
	RequireGraph       *bool
	SeparationOfDuties *bool
	Models             *[]string
	Allow              *[]PrincipalList // by command type
	ActFor             *[]PrincipalList // by subject
}

// Members lists the policy.
func (p *Policy) Members(m *Members) {
	m.OptLists("actFor", &p.ActFor, ValidID)
	m.OptLists("allow", &p.Allow, IsCommandType)
	m.OptDecimal("clockSkewMs", &p.ClockSkewMs)
	m.OptIDList("models", &p.Models)
	m.OptBool("requireGraph", &p.RequireGraph)
	m.OptBool("requirePinnedPlan", &p.RequirePinnedPlan)
	m.OptBool("separationOfDuties", &p.SeparationOfDuties)
}

// The forms of a plan (PLANS).
const (
	FormRunPlan       = "kxm.run-plan.v2"
	FormExecutionPlan = "execution-plan.v1"
	FormGraphPlan     = "graph-plan.v1"
	FormOpaque        = "opaque"
)

// Forms are the forms of a plan.
var Forms = []string{FormRunPlan, FormExecutionPlan, FormGraphPlan, FormOpaque}

// PinPlan freezes a plan of a run (RULES 3). Its document and what goes with it are any JSON here; the form's rules judge
// them.
type PinPlan struct {
	RunID     string
	PlanID    string
	Form      string
	Document  Value
	Identity  Value // FormRunPlan only
	Admission Value // FormExecutionPlan and FormGraphPlan only
	Params    Value // FormGraphPlan only, "" if absent
	Context   *Context
}

// Type is "pinPlan".
func (*PinPlan) Type() string { return "pinPlan" }

// Ctx returns the context, or nil.
func (c *PinPlan) Ctx() *Context { return c.Context }

// Members lists the command.
func (c *PinPlan) Members(m *Members) {
	m.OptAny("admission", &c.Admission)
	OptRecord(m, "context", &c.Context)
	m.Any("document", &c.Document)
	m.Enum("form", &c.Form, Forms)
	m.OptAny("identity", &c.Identity)
	m.OptAny("params", &c.Params)
	m.ID("planId", &c.PlanID)
	m.ID("runId", &c.RunID)
	m.Const("type", "pinPlan")
}

// check says which of identity, admission and params the form lacks or does not take.
func (c *PinPlan) check() (member, problem string) {
	admitted := c.Form == FormExecutionPlan || c.Form == FormGraphPlan
	for _, m := range []struct {
		name            string
		value           Value
		needed, allowed bool
	}{
		{"identity", c.Identity, c.Form == FormRunPlan, c.Form == FormRunPlan},
		{"admission", c.Admission, admitted, admitted},
		{"params", c.Params, false, c.Form == FormGraphPlan},
	} {
		if m.needed && m.value == "" {
			return m.name, "the form " + c.Form + " needs it"
		}
		if !m.allowed && m.value != "" {
			return m.name, "the form " + c.Form + " does not take it"
		}
	}
	return "", ""
}
