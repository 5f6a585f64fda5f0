package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// dispatch allows the one external call of an attempt (RULES 6). After it the
// adapter calls; nothing can be taken back.
func (q *question) dispatch(c *schema.Dispatch) ([]events.Event, *refusal) {
	attempt, ok := q.Attempt(q.contract, c.AttemptID)
	if !ok {
		return reject(refuse(events.CodeAttemptNotFound, "no attempt %q", c.AttemptID))
	}
	if attempt.State != events.AttemptStatePrepared {
		return reject(refuse(events.CodeAttemptNotPrepared, "attempt %q is %s", c.AttemptID, attempt.State))
	}
	operation, _ := q.Operation(q.contract, attempt.OperationID)
	if refused := notApplied(attempt.OperationID, &operation); refused != nil {
		return reject(refused)
	}
	run, refused := q.runningRun(attempt.RunID)
	if refused != nil {
		return reject(refused)
	}
	refused = first(
		q.openMission,
		func() *refusal { return currentEpoch(&attempt, &run) },
		func() *refusal { return q.pinnedPlan(&run) },
		func() *refusal { return q.acting(attempt.Subject) },
		func() *refusal {
			return q.authorized(authorization{c.Policy, c.MandatoryChecksOk, c.AuthorizationCheckedAt})
		},
		func() *refusal { return q.grantChain(attempt.GrantID) },
		func() *refusal { return q.stillApproved(&attempt) },
		func() *refusal { return q.effectUnresolved(attempt.RunID, attempt.Fingerprint, attempt.OperationID) },
		func() *refusal { return q.capacity(attempt.GrantID, schema.Decimal{}) },
		func() *refusal { return q.nodeGiven(c.NodeID, &run) },
		func() *refusal { return q.nodeTakes(c.NodeID, &attempt, &operation, &run) },
	)
	if refused != nil {
		return reject(refused)
	}
	return accept(&events.AttemptDispatched{AttemptID: c.AttemptID, NodeID: c.NodeID, By: q.principal})
}

func currentEpoch(attempt *state.Attempt, run *state.Run) *refusal {
	if attempt.Epoch != run.Epoch {
		return refuse(events.CodeEpochStale, "the attempt was prepared in epoch %d, the run is in %d", attempt.Epoch, run.Epoch)
	}
	return nil
}

// stillApproved checks the approval whose use the attempt took.
func (q *question) stillApproved(attempt *state.Attempt) *refusal {
	if attempt.ApprovalID == "" {
		return nil
	}
	approval, _ := q.Approval(q.contract, attempt.ApprovalID)
	return q.approvalLive(&approval, attempt.Subject)
}

// nodeGiven says whether a node must or may be named.
func (q *question) nodeGiven(nodeID string, run *state.Run) *refusal {
	switch {
	case run.GraphID == "" && q.terms.Policy.RequireGraph:
		return refuse(events.CodeGraphRequired, "the policy wants a graph and the run has none")
	case run.GraphID != "" && nodeID == "":
		return refuse(events.CodeNodeRequired, "the run has graph %q: name the node", run.GraphID)
	case run.GraphID == "" && nodeID != "":
		return refuse(events.CodeGraphNotAttached, "the run has no graph")
	}
	return nil
}

// nodeTakes says whether the node may have this attempt bound to it.
func (q *question) nodeTakes(nodeID string, attempt *state.Attempt, operation *state.Operation, run *state.Run) *refusal {
	if nodeID == "" {
		return nil
	}
	graph := q.Graph(q.contract, run.GraphID)
	i := graph.Find(nodeID)
	if i < 0 {
		return refuse(events.CodeNodeNotFound, "graph %q has no node %q", run.GraphID, nodeID)
	}
	node, now := &graph.Nodes[i], q.Node(q.contract, attempt.RunID, nodeID)
	return first(
		func() *refusal { return callsOut(node) },
		func() *refusal { return pendingReady(graph, i, &now) },
		func() *refusal { return sameNode(nodeID, operation) },
		func() *refusal { return nodeAction(node, attempt) },
		func() *refusal { return soleEffect(node, &now, operation) },
		func() *refusal { return q.nodeInput(node, attempt.OperationID) },
	)
}

func callsOut(node *schema.Node) *refusal {
	switch node.Kind {
	case events.NodeTask, events.NodeLoop, events.NodeCompensation, events.NodeReconciliation:
		return nil
	}
	return refuse(events.CodeNodeKindMismatch, "node %q is a %s", node.ID, node.Kind)
}

func pendingReady(graph *state.Graph, i int, now *state.Node) *refusal {
	if !now.Pending() {
		return refuse(events.CodeNodeNotPending, "node %q is %s", graph.Nodes[i].ID, now.State)
	}
	if !graph.Ready(i, now) {
		return refuse(events.CodeNodeNotReady, "of %d dependencies of node %q %d are done and %d closed",
			len(graph.Nodes[i].DependsOn), graph.Nodes[i].ID, now.Done, now.Closed)
	}
	return nil
}

func sameNode(nodeID string, operation *state.Operation) *refusal {
	if operation.NodeID != "" && operation.NodeID != nodeID {
		return refuse(events.CodeNodeMismatch, "the operation works for node %q", operation.NodeID)
	}
	return nil
}

// nodeAction compares what the node's config names with the attempt's action. A
// member of the wrong type equals nothing.
func nodeAction(node *schema.Node, attempt *state.Attempt) *refusal {
	for _, bound := range [...]struct{ member, is string }{
		{"capability", attempt.Capability},
		{"resource", attempt.Resource},
	} {
		wanted, there := node.Config.Member(bound.member)
		if !there {
			continue
		}
		if text, ok := wanted.Str(); !ok || text != bound.is {
			return refuse(events.CodeNodeActionMismatch, "the node's %s is %s, the action's %q", bound.member, wanted, bound.is)
		}
	}
	return nil
}

// soleEffect refuses a second operation in a node; a LOOP takes as many as it
// has iterations.
func soleEffect(node *schema.Node, now *state.Node, operation *state.Operation) *refusal {
	others := now.ActiveOps
	if operation.NodeID == node.ID && operation.NodeActive > 0 {
		others--
	}
	if node.Kind != events.NodeLoop {
		if others > 0 {
			return refuse(events.CodeNodeEffectExists, "another operation works, or has worked, for node %q", node.ID)
		}
		return nil
	}
	if limit := maxIterations(node); others >= limit {
		return refuse(events.CodeLoopExhausted, "%d operations work, or have worked, for node %q, which allows %d", others, node.ID, limit)
	}
	return nil
}

// maxIterations is a LOOP's config.maxIterations, which registerGraph checked.
func maxIterations(node *schema.Node) int64 {
	member, _ := node.Config.Member("maxIterations")
	limit, _ := member.Int()
	return limit
}

func (q *question) nodeInput(node *schema.Node, operationID string) *refusal {
	if node.InputSchema == "" {
		return nil
	}
	action := q.Action(q.contract, operationID)
	return q.checkSchema(events.CodeNodeInputInvalid, node.InputSchema, action.Payload)
}
