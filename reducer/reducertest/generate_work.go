package reducertest

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// goodGrant is a grant that is in force, if a few tries find one.
func (g *Generator) goodGrant(l *memory) string {
	id := g.late(l.grants)
	for range 4 {
		grant, _ := g.state.Grant(l.contract, id)
		terms := g.state.GrantTerms(l.contract, id)
		if terms != nil && !grant.Revoked && g.from(0, 1).Less(terms.ExpiresAt) {
			break
		}
		id = g.late(l.grants)
	}
	return id
}

func (g *Generator) admit(l *memory, runID string) (schema.Command, string) {
	grantID := g.goodGrant(l)
	grant, ok := g.state.Grant(l.contract, grantID)
	if !ok {
		grant.Subject = "agent"
	}
	id := g.id("o")
	c := &schema.Admit{
		RunID: runID, OperationID: id, AttemptID: g.id("t"), GrantID: grantID, Subject: grant.Subject,
		Action: g.action(), Amount: g.amount(), AuthorizationCheckedAt: g.from(-35, 2), Policy: "ALLOW", MandatoryChecksOk: true,
	}
	if terms := g.state.GrantTerms(l.contract, grantID); terms != nil {
		for range 6 {
			if terms.HasAction(c.Action.Capability) && terms.HasResource(c.Action.Resource) {
				break
			}
			c.Action = g.action()
		}
	}
	if l.terms != nil && l.terms.Contract.RequiresApproval || g.chance(15) {
		c.ApprovalID = g.late(l.approvals)
		if approval, ok := g.state.Approval(l.contract, c.ApprovalID); ok {
			c.RunID = approval.RunID
			for range 8 {
				if schema.Fingerprint(&c.Action) == approval.Fingerprint {
					break
				}
				c.Action = g.action()
			}
		}
	}
	return c, grant.Subject
}

// attempt goes on with an operation: dispatches, settles or tries again.
func (g *Generator) attempt(l *memory) (schema.Command, string) {
	id := g.late(l.attempts)
	attempt, ok := g.state.Attempt(l.contract, id)
	if !ok {
		return g.settle(l)
	}
	switch attempt.State {
	case events.AttemptStatePrepared:
		return g.dispatch(l, id)
	case events.AttemptStateNotApplied, events.AttemptStateReleased:
		return &schema.Retry{
			OperationID: attempt.OperationID, AttemptID: g.id("t"), Amount: g.amount(),
			AuthorizationCheckedAt: g.from(-35, 2), Policy: "ALLOW", MandatoryChecksOk: true,
		}, attempt.Subject
	}
	return g.settle(l)
}

// dispatch names a node where the run has a graph and one takes work.
func (g *Generator) dispatch(l *memory, id string) (schema.Command, string) {
	attempt, _ := g.state.Attempt(l.contract, id)
	c := &schema.Dispatch{
		AttemptID: id, AuthorizationCheckedAt: g.from(-35, 2), Policy: "ALLOW", MandatoryChecksOk: true,
	}
	run, _ := g.state.Run(l.contract, attempt.RunID)
	graph := g.state.Graph(l.contract, run.GraphID)
	if graph == nil {
		return c, attempt.Subject
	}
	operation, _ := g.state.Operation(l.contract, attempt.OperationID)
	if c.NodeID = operation.NodeID; c.NodeID != "" {
		return c, attempt.Subject
	}
	for i := range graph.Nodes {
		node := g.state.Node(l.contract, attempt.RunID, graph.Nodes[i].ID)
		if node.Pending() && graph.Ready(i, &node) && callsOut(graph.Nodes[i].Kind) && (c.NodeID == "" || g.chance(50)) {
			c.NodeID = graph.Nodes[i].ID
		}
	}
	return c, attempt.Subject
}

func callsOut(kind string) bool {
	switch kind {
	case events.NodeTask, events.NodeLoop, events.NodeCompensation, events.NodeReconciliation:
		return true
	}
	return false
}

// settle reports on an attempt, an open one rather than another.
func (g *Generator) settle(l *memory) (schema.Command, string) {
	id := g.late(l.attempts)
	for range 4 {
		if attempt, ok := g.state.Attempt(l.contract, id); ok && attempt.Called() {
			break
		}
		id = g.pick(l.attempts...)
	}
	attempt, _ := g.state.Attempt(l.contract, id)
	if attempt.State == events.AttemptStatePrepared {
		if g.chance(60) {
			return g.dispatch(l, id)
		}
		return &schema.Settle{AttemptID: id, Effect: events.EffectNotApplied}, "agent"
	}
	effect := g.pick(events.EffectApplied, events.EffectApplied, events.EffectNotApplied, events.EffectUnknown)
	return &schema.Settle{AttemptID: id, Effect: effect, ActualCost: g.amount()}, "agent"
}
