package events_test

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func dec(text string) schema.Decimal { return schema.MustDecimal(text) }

func ptr[T any](v T) *T { return &v }

// huge has more than 64 bits: a hundred digits.
var huge = dec("1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890")

const (
	hash        = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	fingerprint = "sha256:" + hash
)

// samples are events with every member set, and again with those set otherwise
// that exclude each other. Their encoding is testdata/wire/<Event>_v1.json.
var samples = map[string][]events.Event{
	"AcceptanceRecorded": {&events.AcceptanceRecorded{
		Authority: "owner", Decision: events.Accepted, Rationale: "it is \"good\"", Revision: "v1", RunID: "r",
	}},
	"ApprovalRecorded": {&events.ApprovalRecorded{Approval: schema.Approval{
		ID: "ok", RunID: "r", Approver: "manager", Fingerprint: fingerprint, ExpiresAt: dec("100000"), Uses: dec("2"),
	}}},
	"ApprovalWithdrawn": {&events.ApprovalWithdrawn{ApprovalID: "ok"}},
	"AssessmentInvalidated": {
		&events.AssessmentInvalidated{Cause: "r", Reason: "it was wrong", Revision: "v1", RunID: "r"},
		&events.AssessmentInvalidated{Cause: "r", More: true, Revision: "v2", RunID: "s"},
	},
	"AttemptDispatched": {
		&events.AttemptDispatched{AttemptID: "o-1", By: "agent", NodeID: "work"},
		&events.AttemptDispatched{AttemptID: "o-1", By: "agent"},
	},
	"AttemptPrepared": {&events.AttemptPrepared{
		Amount: huge, AttemptID: "o-2", By: "agent", Epoch: 3, Number: 2, OperationID: "o", RunID: "r",
	}},
	"AttemptSettled": {&events.AttemptSettled{
		ActualCost: dec("70"), AttemptID: "o-1", By: "adapter", Effect: events.EffectApplied, Overrun: dec("10"),
		Released: dec("60"), Reserved: dec("0"), Spent: dec(huge.String() + "0"),
	}},
	"ContractOpened": {
		&events.ContractOpened{By: "owner", Contract: contract, Policy: events.Policy{
			ActFor: &[]schema.PrincipalList{{Key: "agent", Principals: []string{"helper", "helper"}}, {Key: "\uE000"}},
			Allow:  []schema.PrincipalList{{Key: "grant"}, {Key: "settle", Principals: []string{"adapter"}}}, ClockSkewMs: dec("10"),
			Models: []string{"bot"}, RequireGraph: true, RequirePinnedPlan: true,
		}},
		&events.ContractOpened{By: "owner", Contract: contract, Policy: events.Policy{SeparationOfDuties: true}},
	},
	"GrantIssued": {&events.GrantIssued{By: "owner", Grant: schema.Grant{
		ID: "g", ParentID: "top", Subject: "agent", Profile: "finite-v1", Actions: []string{"buy"}, Resources: []string{"shop"},
		NotBefore: dec("0"), ExpiresAt: dec("100000"), Limit: dec("500"), CanDelegate: true, Depth: dec("1"),
	}}},
	"GrantRevoked":  {&events.GrantRevoked{Affected: 3, GrantID: "g"}},
	"GraphAttached": {&events.GraphAttached{GraphHash: fingerprint, GraphID: "g", RunID: "r"}},
	"GraphRegistered": {&events.GraphRegistered{GraphHash: fingerprint, Graph: schema.Graph{
		ID: "g", Revision: "1", Nodes: []schema.Node{
			{ID: "work", Kind: events.NodeTask, Config: `{"effect":"none"}`, InputSchema: `{"type":"object"}`, OutputSchema: `{}`},
			{ID: "end", Kind: events.NodeEnd, DependsOn: []string{"work"}, Config: "{}"},
		},
	}}},
	"JoinSatisfied":       {&events.JoinSatisfied{Mode: events.JoinAny, RunID: "r", WaitIDs: []string{"b", "a"}}},
	"MissionStateChanged": {&events.MissionStateChanged{From: events.MissionOpen, To: events.MissionSuspended}},
	"NodeCompleted": {&events.NodeCompleted{
		By: "agent", NodeID: "work", Result: `{"list":[1,2.5,1e+21,null,true],"text":"\u0000\n"}`, RunID: "r",
	}},
	"NodesSkipped": {&events.NodesSkipped{NodeIDs: []string{"left", "far"}, RunID: "r"}},
	"OperationAdmitted": {&events.OperationAdmitted{
		Action:     schema.Action{Capability: "buy", Resource: "shop", Payload: `{"item":"désk"}`, Preconditions: `{}`},
		ApprovalID: "ok", By: "agent", Fingerprint: fingerprint, GrantID: "g", OperationID: "o", RunID: "r", Subject: "agent",
	}},
	"PlanActivated": {
		&events.PlanActivated{PlanID: "p", Previous: events.PlanNone, RunID: "r", RunPlanHash: fingerprint},
		&events.PlanActivated{PlanID: "q", Previous: "p", RunID: "r"},
	},
	"PlanPinConfirmed": {&events.PlanPinConfirmed{PlanID: "p", RunID: "r", RunPlanHash: fingerprint}},
	"PlanPinned": {
		&events.PlanPinned{
			Envelope: `{"a":1}`, Form: schema.FormGraphPlan, Params: `{"x":null}`, ParamsHash: fingerprint, PlanID: "p", RunID: "r",
			RunPlanHash: fingerprint,
		},
		&events.PlanPinned{
			Envelope: `{"schema":"kxm.run-plan.v2"}`, Form: schema.FormRunPlan, Identity: `{"projectId":"p"}`, PlanID: "p", RunID: "r",
			RunPlanHash: fingerprint,
		},
	},
	"RunContinued": {&events.RunContinued{Epoch: 4, RunID: "r", SegmentID: "second"}},
	"RunStarted": {
		&events.RunStarted{RunID: "r"},
		&events.RunStarted{RunID: "r", Origin: &events.Origin{Depth: dec("1"), EventID: "e1", TriggerID: "t"}},
		&events.RunStarted{RunID: "t@900", Origin: &events.Origin{Depth: dec("1"), Slot: ptr(dec("900")), TriggerID: "t"}},
	},
	"RunTransitioned":    {&events.RunTransitioned{From: events.RunReady, RunID: "r", To: events.RunRunning}},
	"SettlementDisputed": {&events.SettlementDisputed{ActualCost: dec("90"), Added: dec("20"), AttemptID: "o-1", By: "adapter", Effect: events.EffectUnknown}},
	"TriggerCursorMoved": {&events.TriggerCursorMoved{Admitted: 2, Cursor: dec("900"), Skipped: 315359985, TriggerID: "t"}},
	"TriggerFired": {
		&events.TriggerFired{Condition: ptr(true), ContentHash: hash, Depth: ptr(dec("0")), EventID: "e1", RunID: "r", TriggerID: "t"},
		&events.TriggerFired{RunID: "t@900", Slot: ptr(dec("900")), TriggerID: "t"},
	},
	"TriggerObserved": {&events.TriggerObserved{Condition: false, ContentHash: hash, EventID: "e1", TriggerID: "t"}},
	"TriggerRegistered": {&events.TriggerRegistered{Trigger: schema.Trigger{
		ID: "t", Revision: "1", Kind: events.TriggerCondition, Source: "s", EventType: "e", ContractID: "c",
		Action: events.TriggerResumeWait, WaitID: "w", Enabled: true, NotBefore: dec("0"), ExpiresAt: dec("9"), MaxAgeMs: dec("1"),
		MaxConcurrent: dec("2"), RateLimit: dec("3"), RateWindowMs: dec("4"), MaxDepth: dec("5"), ConditionMode: "EDGE",
		Schedule: &schema.Schedule{StartMs: dec("0"), IntervalMs: dec("100"), CatchUp: events.CatchUpAll, MaxCatchUp: dec("3")},
		Filter:   &schema.Filter{Field: "hot", Equals: `[true,{"a":1.5}]`},
	}}},
	"VerificationRecorded": {&events.VerificationRecorded{
		Assessor: "auditor", Evidence: []string{"log", "photo"}, Rationale: "looked at it",
		Results:  []schema.Verdict{{Criterion: "safe", Result: "INCONCLUSIVE"}, {Criterion: "works", Result: events.ResultPass}},
		Revision: "v1", RunID: "r", SubjectVersion: 7,
	}},
	"WaitCreated":   {&events.WaitCreated{Correlation: "for-w", Deadline: dec("2000"), Kind: events.WaitTimer, RunID: "r", WaitID: "w"}},
	"WaitSatisfied": {&events.WaitSatisfied{RunID: "r", WaitID: "w"}},
}

var contract = schema.Contract{
	ID: "c", MissionID: "mission", Budget: huge, Deadline: dec("100000"), Criteria: []string{"works", "safe"},
	Actions: []string{"buy"}, Resources: []string{"shop"}, RequiresApproval: true, MaxAttempts: dec("3"),
	MaxAuthorizationAgeMs: dec("1000"), Features: []string{"triggers", "graphs"},
}

// decisions are sealed records, one of each outcome and of each chain.
func decisions() map[string]*events.Decision {
	accepted := &events.Decision{
		Contract: "c", CommandSeq: 7, CommandID: "01J", Principal: "agent", Type: "admit", At: dec("1000"), BodyHash: hash,
		Outcome: events.OutcomeAccepted, Events: append(append([]events.Event{}, samples["OperationAdmitted"]...), samples["AttemptPrepared"]...),
	}
	rejected := &events.Decision{
		Contract: "c", CommandSeq: 8, CommandID: "seq-8", Principal: "owner", Type: "grant", At: dec("1001"), BodyHash: hash,
		Outcome: events.OutcomeRejected, Code: events.CodeGrantNotAttenuated, Reason: "limit", Pointer: "/grant/limit", Message: "too \"wide\"",
	}
	duplicate := &events.Decision{
		Contract: "c", CommandSeq: 9, CommandID: "01J", Principal: "agent", Type: "admit", At: dec("1002"), BodyHash: hash,
		Outcome: events.OutcomeDuplicate, Of: 8, OfOutcome: events.OutcomeRejected, OfCode: events.CodeGrantNotAttenuated,
	}
	unrouted := &events.Decision{
		CommandSeq: 10, CommandID: "seq-10", At: dec("1002"), BodyHash: hash,
		Outcome: events.OutcomeRejected, Code: events.CodeSubjectInvalid, Message: "no subject",
	}
	accepted.Seal(events.ZeroHash)
	rejected.Seal(accepted.Hash)
	duplicate.Seal(rejected.Hash)
	unrouted.Seal(events.ZeroHash)
	return map[string]*events.Decision{"accepted": accepted, "rejected": rejected, "duplicate": duplicate, "unrouted": unrouted}
}

// messages are what those decisions answer: a usual one, and such as need
// another writing.
func messages() map[string]*events.Message {
	return map[string]*events.Message{
		"accepted":  {Seq: 7, Time: 1_000_000_001, Subject: "aiws.cmd.c.agent.admit", IDs: []string{"01J"}, Body: []byte(`{"type":"admit"}`)},
		"rejected":  {Seq: 8, Time: 1_001_000_000, Subject: "aiws.cmd.c.owner.grant", Body: []byte("{\"type\": \"grant\"}\n\x00é")},
		"duplicate": {Seq: 9, Time: 1_002_000_000, Subject: "aiws.cmd.c.agent.admit", IDs: []string{"01J", "\xff", ""}, Body: []byte("\xff\xfe")},
		"unrouted":  {Seq: 10, Time: -5, Subject: "\xff.\x00", IDs: []string{}},
	}
}
