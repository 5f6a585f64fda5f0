package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// fieldsOf is a document written down member by member.
type fieldsOf func(m *schema.Members)

// Members implements [schema.Record].
func (f fieldsOf) Members(m *schema.Members) { f(m) }

func readStored(_ *State, parts []string, r row) schema.Record { return r.(projected).stored(parts) }

// readWait computes EXPIRED as of the ledger's now (RULES 12).
func readWait(s *State, parts []string, r row) schema.Record {
	wait := r.(*Wait)
	return &waitDocument{parts[1], wait.StateAt(s.Ledger(parts[0]).Now), wait}
}

// readGrantExposure shows a grant revoked through an ancestor as revoked.
func readGrantExposure(s *State, parts []string, r row) schema.Record {
	d := r.(*Grant).stored(parts).(*exposureDocument)
	d.revoked = d.revoked || s.HasRevokedAncestor(parts[0], parts[1])
	return d
}

// readMission shows an open ledger; _unrouted has no mission.
func readMission(s *State, parts []string, r row) schema.Record {
	ledger := r.(*Ledger)
	terms := s.Terms(parts[0])
	if terms == nil {
		return nil
	}
	c := terms.Contract
	return fieldsOf(func(m *schema.Members) {
		m.Sum("budget", &c.Budget)
		m.ID("contractId", &c.ID)
		m.Sum("deadline", &c.Deadline)
		m.Enums("features", &c.Features, nil)
		m.Text("head", &ledger.Head)
		m.Sum("maxAttempts", &c.MaxAttempts)
		m.ID("missionId", &c.MissionID)
		m.Sum("now", &ledger.Now)
		m.Bool("requiresApproval", &c.RequiresApproval)
		m.Text("state", &ledger.Mission)
	})
}

func readGrant(s *State, parts []string, r row) schema.Record {
	grant := r.(*Grant)
	terms := s.GrantTerms(parts[0], parts[1])
	if terms == nil {
		return nil
	}
	g := terms.Grant
	used := grant.Reserved.Add(grant.Spent)
	available, over := grant.Limit.SubFloor(used), used.SubFloor(grant.Limit)
	revoked := grant.Revoked || s.HasRevokedAncestor(parts[0], parts[1])
	return fieldsOf(func(m *schema.Members) {
		m.IDList("actions", &g.Actions)
		m.Sum("available", &available)
		m.Bool("canDelegate", &g.CanDelegate)
		m.Sum("depth", &g.Depth)
		m.Sum("expiresAt", &g.ExpiresAt)
		m.ID("grantId", &g.ID)
		m.Sum("limit", &g.Limit)
		m.Int("liveDescendants", &grant.LiveBelow)
		m.Sum("notBefore", &g.NotBefore)
		m.Sum("overrun", &over)
		m.OptID("parentId", &g.ParentID)
		m.Sum("reserved", &grant.Reserved)
		m.IDList("resources", &g.Resources)
		m.Bool("revoked", &revoked)
		m.Sum("spent", &grant.Spent)
		m.ID("subject", &g.Subject)
	})
}

// readApproval adds what keeps an approval from being used, as of the ledger's
// now.
func readApproval(s *State, parts []string, r row) schema.Record {
	a := r.(*Approval)
	state := "LIVE"
	switch {
	case a.Withdrawn:
		state = "WITHDRAWN"
	case !s.Ledger(parts[0]).Now.Less(a.ExpiresAt):
		state = "EXPIRED"
	case !a.Used.Less(a.Uses):
		state = "EXHAUSTED"
	}
	return fieldsOf(func(m *schema.Members) {
		m.ID("approvalId", &a.ID)
		m.ID("approver", &a.Approver)
		m.Sum("expiresAt", &a.ExpiresAt)
		m.Text("fingerprint", &a.Fingerprint)
		m.ID("runId", &a.RunID)
		m.Text("state", &state)
		m.Sum("used", &a.Used)
		m.Sum("uses", &a.Uses)
	})
}

func readOperation(s *State, parts []string, r row) schema.Record {
	o := r.(*Operation)
	action := s.Action(parts[0], parts[1])
	return fieldsOf(func(m *schema.Members) {
		m.Record("action", &action)
		m.Sum("admittedAt", &o.AdmittedAt)
		m.Int("applied", &o.Applied)
		m.OptID("approvalId", &o.ApprovalID)
		m.Int("attempts", &o.Attempts)
		m.ID("by", &o.By)
		m.Text("fingerprint", &o.Fingerprint)
		m.ID("grantId", &o.GrantID)
		m.ID("newestAttemptId", &o.Newest)
		m.OptID("nodeId", &o.NodeID)
		m.ID("operationId", &parts[1])
		m.Int("released", &o.Released)
		m.ID("runId", &o.RunID)
		m.ID("subject", &o.Subject)
	})
}

func readGraph(_ *State, _ []string, r row) schema.Record {
	g := r.(*Graph)
	count := int64(len(g.Nodes))
	return fieldsOf(func(m *schema.Members) {
		m.Record("graph", &g.Graph)
		m.Text("graphHash", &g.Hash)
		m.ID("graphId", &g.Graph.ID)
		m.Int("nodes", &count)
		m.ID("revision", &g.Graph.Revision)
	})
}

func readPlan(_ *State, parts []string, r row) schema.Record {
	p := r.(*Plan)
	seq := int64(p.PinnedSequence)
	return fieldsOf(func(m *schema.Members) {
		m.Text("envelope", &p.Envelope)
		m.Text("form", &p.Form)
		m.OptAny("identity", &p.Identity)
		m.OptAny("params", &p.Params)
		m.OptText("paramsHash", &p.ParamsHash)
		m.Int("pinnedSequence", &seq)
		m.ID("planId", &parts[2])
		m.ID("runId", &parts[1])
		m.Text("runPlanHash", &p.RunPlanHash)
	})
}

func readAssessment(s *State, parts []string, r row) schema.Record {
	v := r.(*Verification)
	run, _ := s.Run(parts[0], parts[1])
	current := run.Verification == parts[2]
	stale := run.SubjectVersion != v.SubjectVersion
	return fieldsOf(func(m *schema.Members) {
		m.ID("assessor", &v.Assessor)
		m.OptID("authority", &v.Authority)
		m.Bool("current", &current)
		m.OptSum("decidedAt", &v.DecidedAt)
		m.OptText("decision", &v.Decision)
		m.IDList("evidence", &v.Evidence)
		m.Bool("invalidated", &v.Invalidated)
		m.ID("rationale", &v.Rationale)
		m.Sum("recordedAt", &v.RecordedAt)
		m.Verdicts("results", &v.Results)
		m.ID("revision", &parts[2])
		m.ID("runId", &parts[1])
		m.Bool("stale", &stale)
		m.Int("subjectVersion", &v.SubjectVersion)
	})
}

func readDecision(_ *State, _ []string, r row) schema.Record {
	d := r.(*Decided)
	seq := int64(d.CommandSeq)
	return fieldsOf(func(m *schema.Members) {
		m.Sum("at", &d.At)
		m.OptText("code", (*string)(&d.Code))
		m.Text("commandId", &d.CommandID)
		m.Int("commandSeq", &seq)
		m.OptText("contract", &d.Contract)
		m.IDList("events", &d.Events)
		m.Text("outcome", (*string)(&d.Outcome))
		m.OptText("principal", &d.Principal)
		m.OptText("reason", &d.Reason)
		m.OptText("type", &d.Type)
	})
}

func (s *State) nodeDocument(contract, runID string, graph *Graph, i int, meta Meta) *Document {
	node := &graph.Nodes[i]
	n := s.Node(contract, runID, node.ID)
	state := n.State
	if n.Pending() {
		state = events.NodeStatePending
	}
	ready := n.Pending() && graph.Ready(i, &n)
	value := schema.AppendRecord(nil, fieldsOf(func(m *schema.Members) {
		m.Int("applied", &n.Applied)
		m.OptID("by", &n.By)
		m.Int("closed", &n.Closed)
		m.OptSum("completedAt", &n.CompletedAt)
		m.IDs("dependsOn", &node.DependsOn)
		m.Int("done", &n.Done)
		m.Text("kind", &node.Kind)
		m.ID("nodeId", &node.ID)
		m.Bool("ready", &ready)
		m.ID("runId", &runID)
		m.Text("state", &state)
		m.Int("unsettled", &n.Unsettled)
	}))
	return &Document{
		Projection: Nodes, Contract: contract, Key: PairKey(runID, node.ID), Value: schema.Value(value), Meta: meta,
	}
}
