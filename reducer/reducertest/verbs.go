package reducertest

// verb is one command as a story writes it.
type verb struct {
	command string            // type on the wire
	by      string            // principal, where the story names none
	subject string            // path of the member that the first bare argument gives
	short   map[string]string // short names of arguments: paths; [] behind a path marks a list
	body    string            // members that a story may leave out
}

// verbs are the commands of the stories. In a body {x} stands for the text of
// another member at the top, {by} for the principal, {now} for the time,
// {contract} for the ledger, and {action} for the fingerprint of the usual
// action with the item that the story names.
var verbs = map[string]verb{
	// open-contract budget=1000 requires-approval=true allow.settle=(adapter) separation=false
	"open-contract": {"openContract", "owner", "contract.id", map[string]string{
		"budget": "contract.budget", "deadline": "contract.deadline", "criteria": "contract.criteria",
		"actions": "contract.actions", "resources": "contract.resources", "features": "contract.features",
		"requires-approval": "contract.requiresApproval", "max-attempts": "contract.maxAttempts",
		"max-age": "contract.maxAuthorizationAgeMs", "skew": "policy.clockSkewMs", "models": "policy.models[]",
		"separation": "policy.separationOfDuties", "require-graph": "policy.requireGraph", "require-plan": "policy.requirePinnedPlan",
	}, `{"contract": {"id": "{contract}", "missionId": "mission", "aiwsEdition": "0.4", "profile": "finite-v1", "budget": "1000",
		"deadline": "100000", "criteria": ["works"], "actions": ["buy"], "resources": ["shop"], "requiresApproval": false,
		"maxAttempts": "3", "maxAuthorizationAgeMs": "1000", "features": ["triggers", "graphs"]}}`},
	// mission-state SUSPENDED
	"mission-state": {"missionState", "owner", "state", nil, `{}`},
	// start-run r
	"start-run": {"startRun", "agent", "runId", nil, `{"runId": "r"}`},
	// continue-run segment-2 run=r
	"continue-run": {"continueRun", "agent", "segmentId", nil, `{"runId": "r"}`},
	// pin-plan p document={"steps":[]}
	"pin-plan": {"pinPlan", "agent", "planId", nil, `{"runId": "r", "form": "opaque", "document": {}}`},
	// activate-plan p expected=none
	"activate-plan": {"activatePlan", "agent", "planId", map[string]string{"expected": "expectedPlan"},
		`{"runId": "r", "expectedPlan": "none"}`},
	// transition RUNNING run=r
	"transition": {"transition", "agent", "to", nil, `{"runId": "r"}`},
	// grant g subject=agent limit=500 parent=top
	"grant": {"grant", "owner", "grant.id", map[string]string{
		"subject": "grant.subject", "parent": "grant.parentId", "limit": "grant.limit", "depth": "grant.depth",
		"delegate": "grant.canDelegate", "actions": "grant.actions", "resources": "grant.resources", "profile": "grant.profile",
		"not-before": "grant.notBefore", "expires": "grant.expiresAt",
	}, `{"grant": {"id": "g", "subject": "agent", "profile": "finite-v1", "actions": ["buy"], "resources": ["shop"],
		"notBefore": "0", "expiresAt": "100000", "limit": "1000", "canDelegate": true, "depth": "2"}}`},
	// revoke-grant g
	"revoke-grant": {"revokeGrant", "owner", "grantId", nil, `{"grantId": "g"}`},
	// approve ok item=lamp uses=2           approve gate-ok gate=(graph,node,r)
	"approve": {"approve", "manager", "approval.id", map[string]string{
		"run": "approval.runId", "expires": "approval.expiresAt", "uses": "approval.uses", "approver": "approval.approver",
		"fingerprint": "approval.fingerprint",
	}, `{"approval": {"id": "ok", "runId": "r", "approver": "{by}", "fingerprint": "{action}", "expiresAt": "100000", "uses": "1"}}`},
	// withdraw-approval ok
	"withdraw-approval": {"withdrawApproval", "manager", "approvalId", nil, `{"approvalId": "ok"}`},
	// admit lamp amount=60 item=lamp grant=g approval=ok
	"admit": {"admit", "agent", "operationId", map[string]string{
		"attempt": "attemptId", "approval": "approvalId", "grant": "grantId", "item": "action.payload.item",
		"capability": "action.capability", "resource": "action.resource", "payload": "action.payload",
		"checked": "authorizationCheckedAt", "checks-ok": "mandatoryChecksOk",
	}, `{"runId": "r", "operationId": "o", "attemptId": "{operationId}-1", "grantId": "g", "subject": "agent", "amount": "100",
		"action": {"capability": "buy", "resource": "shop", "payload": {"item": "desk"}, "preconditions": {}},
		"authorizationCheckedAt": "{now}", "policy": "ALLOW", "mandatoryChecksOk": true}`},
	// dispatch lamp-1 node=purchase
	"dispatch": {"dispatch", "agent", "attemptId", map[string]string{
		"node": "nodeId", "checked": "authorizationCheckedAt", "checks-ok": "mandatoryChecksOk",
	}, `{"attemptId": "o-1", "authorizationCheckedAt": "{now}", "policy": "ALLOW", "mandatoryChecksOk": true}`},
	// settle lamp-1 cost=60 effect=UNKNOWN
	"settle": {"settle", "adapter", "attemptId", map[string]string{"cost": "actualCost"},
		`{"attemptId": "o-1", "effect": "CONFIRMED_APPLIED", "actualCost": "100"}`},
	// retry lamp attempt=lamp-2 amount=60
	"retry": {"retry", "agent", "operationId", map[string]string{
		"attempt": "attemptId", "checked": "authorizationCheckedAt", "checks-ok": "mandatoryChecksOk",
	}, `{"operationId": "o", "attemptId": "{operationId}-2", "amount": "100", "authorizationCheckedAt": "{now}",
		"policy": "ALLOW", "mandatoryChecksOk": true}`},
	// wait answer kind=INPUT deadline=+100
	"wait": {"wait", "agent", "waitId", nil,
		`{"runId": "r", "waitId": "w", "correlation": "for-{waitId}", "deadline": "50000", "kind": "INPUT"}`},
	// resume answer
	"resume": {"resume", "host", "waitId", nil, `{"waitId": "w", "correlation": "for-{waitId}"}`},
	// join waits=(a, b) mode=ANY
	"join": {"join", "agent", "runId", map[string]string{"waits": "waitIds"},
		`{"runId": "r", "waitIds": ["w"], "mode": "ALL"}`},
	// verify v1 results={"works":"FAIL"}
	"verify": {"verify", "auditor", "revision", nil, `{"runId": "r", "assessor": "{by}", "revision": "v1",
		"results": {"works": "PASS"}, "evidence": ["log"], "rationale": "looked at it"}`},
	// accept v1 decision=REJECTED
	"accept": {"accept", "owner", "verificationRevision", nil, `{"runId": "r", "authority": "{by}", "verificationRevision": "v1",
		"decision": "ACCEPTED", "rationale": "it is good"}`},
	// invalidate r
	"invalidate": {"invalidate", "auditor", "runId", nil, `{"runId": "r", "reason": "it was wrong"}`},
	// register-trigger t kind=EVENT          register-trigger t every=100 catch-up=ALL max-catch-up=3
	"register-trigger": {"registerTrigger", "owner", "trigger.id", map[string]string{
		"kind": "trigger.kind", "source": "trigger.source", "event-type": "trigger.eventType", "action": "trigger.action",
		"wait": "trigger.waitId", "enabled": "trigger.enabled", "not-before": "trigger.notBefore", "expires": "trigger.expiresAt",
		"max-age": "trigger.maxAgeMs", "max-concurrent": "trigger.maxConcurrent", "rate-limit": "trigger.rateLimit",
		"rate-window": "trigger.rateWindowMs", "max-depth": "trigger.maxDepth", "mode": "trigger.conditionMode",
		"field": "trigger.filter.field", "equals": "trigger.filter.equals", "every": "trigger.schedule.intervalMs",
		"start": "trigger.schedule.startMs", "catch-up": "trigger.schedule.catchUp", "max-catch-up": "trigger.schedule.maxCatchUp",
		"for": "trigger.contractId",
	}, `{"trigger": {"id": "t", "revision": "1", "kind": "EVENT", "source": "shop", "eventType": "order", "contractId": "{contract}",
		"action": "START_RUN", "enabled": true, "notBefore": "0", "expiresAt": "100000", "maxAgeMs": "1000", "maxConcurrent": "10",
		"rateLimit": "10", "rateWindowMs": "1000", "maxDepth": "3"}}`},
	// fire-trigger t event=e1 run=r1 data={"total":5}
	"fire-trigger": {"fireTrigger", "host", "triggerId", map[string]string{
		"event": "event.id", "source": "event.source", "event-type": "event.type", "occurred": "event.occurredAt",
		"data": "event.data", "depth": "event.depth", "correlation": "event.correlation",
	}, `{"triggerId": "t", "runId": "r", "event": {"id": "e1", "source": "shop", "type": "order", "occurredAt": "{now}", "data": {},
		"depth": "0"}}`},
	// tick-trigger t
	"tick-trigger": {"tickTrigger", "host", "triggerId", nil, `{"triggerId": "t"}`},
	// register-graph g, and its nodes below, one a line: build TASK after=(a, b) config={"effect":"none"} in={..} out={..}
	"register-graph": {"registerGraph", "owner", "graph.id", map[string]string{"revision": "graph.revision"},
		`{"graph": {"id": "g", "revision": "1", "nodes": []}}`},
	// attach-graph g run=r
	"attach-graph": {"attachGraph", "agent", "graphId", nil, `{"runId": "r", "graphId": "g"}`},
	// complete-node build result={"selected":["a"]}
	"complete-node": {"completeNode", "agent", "nodeId", nil, `{"runId": "r", "result": {}}`},
}
