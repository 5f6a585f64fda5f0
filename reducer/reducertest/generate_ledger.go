package reducertest

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

var (
	people    = []string{"agent", "helper", "manager", "auditor", "owner", "bot"}
	abilities = []string{"buy", "sell", "mail"}
	places    = []string{"shop", "bank"}
)

func (g *Generator) openContract(l *memory) schema.Command {
	contract := schema.Contract{
		ID: l.contract, MissionID: "mission", Budget: schema.DecimalOf(uint64(200 + g.rng.IntN(5000))),
		Deadline: g.from(8_000, 300_000), Criteria: []string{"works", "safe"}[:g.rng.IntN(3)],
		Actions: slices.Clone(abilities), Resources: slices.Clone(places), RequiresApproval: g.chance(10),
		MaxAttempts: schema.DecimalOf(uint64(g.rng.IntN(5))), MaxAuthorizationAgeMs: schema.DecimalOf(uint64(40 + g.rng.IntN(500))),
		Features: []string{"triggers", "graphs"},
	}
	if contract.MaxAttempts.IsZero() && g.chance(80) {
		contract.MaxAttempts = schema.DecimalOf(2)
	}
	if g.chance(5) {
		contract.Features = nil
	}
	return &schema.OpenContract{Contract: contract, Policy: g.policy()}
}

func (g *Generator) policy() *schema.Policy {
	if g.chance(20) {
		return nil
	}
	p := &schema.Policy{}
	separation, plans, graphs := g.chance(50), g.chance(10), g.chance(10)
	p.SeparationOfDuties, p.RequirePinnedPlan, p.RequireGraph = &separation, &plans, &graphs
	skew := schema.DecimalOf(uint64(g.rng.IntN(100)))
	p.ClockSkewMs = &skew
	if g.chance(20) {
		models := []string{"bot", "bot"}
		p.Models = &models
	}
	if g.chance(15) {
		lists := []schema.PrincipalList{
			{Key: "grant", Principals: []string{"owner", "manager"}},
			{Key: "settle", Principals: []string{"agent", "helper", "owner"}},
		}
		p.Allow = &lists
	}
	if g.chance(15) {
		lists := []schema.PrincipalList{{Key: "agent", Principals: []string{"helper", "owner"}}, {Key: "helper"}}
		p.ActFor = &lists
	}
	return p
}

func (g *Generator) missionState(_ *memory) (schema.Command, string) {
	state := g.pick(events.MissionSuspended, events.MissionOpen)
	if g.chance(4) {
		state = events.MissionClosed
	}
	return &schema.MissionState{State: state}, "owner"
}

// grant issues a root, or gives on from a grant.
func (g *Generator) grant(l *memory) (schema.Command, string) {
	grant := schema.Grant{
		ID: g.id("g"), Subject: g.pick("agent", "agent", "helper"), Profile: schema.Profile,
		Actions: slices.Clone(abilities[:1+g.rng.IntN(3)]), Resources: slices.Clone(places[:1+g.rng.IntN(2)]),
		NotBefore: g.from(-1000, 20), ExpiresAt: g.from(2000, 20_000), Limit: schema.DecimalOf(uint64(100 + g.rng.IntN(1000))),
		CanDelegate: g.chance(80), Depth: schema.DecimalOf(uint64(g.rng.IntN(6))),
	}
	if l.terms != nil && !g.chance(5) {
		grant.Limit, grant.ExpiresAt = grant.Limit.Min(l.terms.Contract.Budget), grant.ExpiresAt.Min(l.terms.Contract.Deadline)
	}
	if len(l.grants) == 0 || g.chance(50) {
		return &schema.IssueGrant{Grant: grant}, "owner"
	}
	grant.ParentID = g.late(l.grants)
	parent := g.state.GrantTerms(l.contract, grant.ParentID)
	if parent == nil || g.chance(10) {
		return &schema.IssueGrant{Grant: grant}, g.pick(people...)
	}
	if !g.chance(30) {
		grant.Actions, grant.Resources = slices.Clone(parent.Actions), slices.Clone(parent.Resources)
	}
	grant.Depth = parent.Depth.SubFloor(schema.DecimalOf(uint64(1 + g.rng.IntN(2))))
	grant.Limit = parent.Limit.Min(grant.Limit)
	grant.NotBefore, grant.ExpiresAt = grant.NotBefore.Max(parent.NotBefore), grant.ExpiresAt.Min(parent.ExpiresAt)
	return &schema.IssueGrant{Grant: grant}, parent.Subject
}

func (g *Generator) revoke(l *memory) (schema.Command, string) {
	if len(l.approvals) > 0 && g.chance(50) {
		return &schema.WithdrawApproval{ApprovalID: g.late(l.approvals)}, "manager"
	}
	return &schema.RevokeGrant{GrantID: g.pick(l.grants...)}, "owner"
}

// action is one of few, so that fingerprints meet again.
func (g *Generator) action() schema.Action {
	return schema.Action{
		Capability: abilities[g.rng.IntN(2)], Resource: places[0], Preconditions: "{}",
		Payload: schema.Value(g.pick(`{"item":"desk"}`, `{"item":"lamp"}`, `{"item":"lamp","n":1e+21}`, `{}`)),
	}
}

// approve approves an action, or a gate of the run's graph.
func (g *Generator) approve(l *memory) (schema.Command, string) {
	action := g.action()
	approval := schema.Approval{
		ID: g.id("ok"), RunID: g.liveRun(l), Approver: g.pick("manager", "manager", "owner", "agent"),
		Fingerprint: schema.Fingerprint(&action), ExpiresAt: g.from(100, 5000), Uses: schema.DecimalOf(uint64(g.rng.IntN(4))),
	}
	run, _ := g.state.Run(l.contract, approval.RunID)
	if graph := g.state.Graph(l.contract, run.GraphID); graph != nil && g.chance(70) {
		for i := range graph.Nodes {
			node := g.state.Node(l.contract, approval.RunID, graph.Nodes[i].ID)
			if graph.Nodes[i].Kind == events.NodeApproval && node.Pending() {
				approval.Fingerprint = gateFingerprint(run.GraphID, graph.Nodes[i].ID, approval.RunID)
			}
		}
	}
	return &schema.Approve{Approval: approval}, approval.Approver
}

// gateFingerprint is what an approval of an APPROVAL node is for (RULES 10).
func gateFingerprint(graphID, nodeID, runID string) string {
	text := append([]byte(`{"graphId":`), schema.AppendString(nil, graphID)...)
	text = schema.AppendString(append(text, `,"nodeId":`...), nodeID)
	text = schema.AppendString(append(text, `,"runId":`...), runID)
	return schema.HashOf(append(text, '}'))
}
