package events

// Code says why a command was refused. Names are for ever (RULES 2).
type Code string

// Every rejection code.
const (
	// Common checks, in order of precedence (RULES 2).
	CodeSubjectInvalid         Code = "SUBJECT_INVALID"
	CodeCommandIDInvalid       Code = "COMMAND_ID_INVALID"
	CodeBodyTooLarge           Code = "BODY_TOO_LARGE"
	CodeJSONInvalid            Code = "JSON_INVALID"
	CodeSchemaInvalid          Code = "SCHEMA_INVALID"
	CodeSubjectMismatch        Code = "SUBJECT_MISMATCH"
	CodeCommandIDReused        Code = "COMMAND_ID_REUSED"
	CodeContractNotFound       Code = "CONTRACT_NOT_FOUND"
	CodeContractExists         Code = "CONTRACT_EXISTS"
	CodeActorMismatch          Code = "ACTOR_MISMATCH"
	CodePrincipalNotAllowed    Code = "PRINCIPAL_NOT_ALLOWED"
	CodeDecisionClassForbidden Code = "DECISION_CLASS_FORBIDDEN"
	CodeFeatureDisabled        Code = "FEATURE_DISABLED"

	// The last common check (RULES 2.10).
	CodeRecordTooLarge Code = "RECORD_TOO_LARGE"

	// The commands' own checks (RULES 3 to 10). Within a command the order is the rulebook's.
	CodeContractMismatch            Code = "CONTRACT_MISMATCH"
	CodeContractExpired             Code = "CONTRACT_EXPIRED"
	CodeMissionNotOpen              Code = "MISSION_NOT_OPEN"
	CodeMissionClosed               Code = "MISSION_CLOSED"
	CodeMissionStateUnchanged       Code = "MISSION_STATE_UNCHANGED"
	CodeRunNotFound                 Code = "RUN_NOT_FOUND"
	CodeRunTerminal                 Code = "RUN_TERMINAL"
	CodeRunNotRunning               Code = "RUN_NOT_RUNNING"
	CodeRunExists                   Code = "RUN_EXISTS"
	CodeRunIDReserved               Code = "RUN_ID_RESERVED"
	CodeSegmentExists               Code = "SEGMENT_EXISTS"
	CodePlanIDReserved              Code = "PLAN_ID_RESERVED"
	CodePlanActive                  Code = "PLAN_ACTIVE"
	CodePlanInvalid                 Code = "PLAN_INVALID"
	CodePlanExists                  Code = "PLAN_EXISTS"
	CodePlanConflict                Code = "PLAN_CONFLICT"
	CodePlanUnchanged               Code = "PLAN_UNCHANGED"
	CodePlanNotPinned               Code = "PLAN_NOT_PINNED"
	CodeTransitionNotAllowed        Code = "TRANSITION_NOT_ALLOWED"
	CodeWaitsPending                Code = "WAITS_PENDING"
	CodeUnsettledWork               Code = "UNSETTLED_WORK"
	CodeRunHasOperations            Code = "RUN_HAS_OPERATIONS"
	CodeGraphIncomplete             Code = "GRAPH_INCOMPLETE"
	CodeGrantExists                 Code = "GRANT_EXISTS"
	CodeProfileMismatch             Code = "PROFILE_MISMATCH"
	CodeGrantWindowInvalid          Code = "GRANT_WINDOW_INVALID"
	CodeGrantParentNotFound         Code = "GRANT_PARENT_NOT_FOUND"
	CodeDelegationForbidden         Code = "DELEGATION_FORBIDDEN"
	CodeGrantNotAttenuated          Code = "GRANT_NOT_ATTENUATED"
	CodeGrantNotFound               Code = "GRANT_NOT_FOUND"
	CodeGrantRevoked                Code = "GRANT_REVOKED"
	CodeGrantNotYetValid            Code = "GRANT_NOT_YET_VALID"
	CodeGrantExpired                Code = "GRANT_EXPIRED"
	CodeApprovalExists              Code = "APPROVAL_EXISTS"
	CodePrincipalMismatch           Code = "PRINCIPAL_MISMATCH"
	CodeApprovalExpired             Code = "APPROVAL_EXPIRED"
	CodeApprovalUsesInvalid         Code = "APPROVAL_USES_INVALID"
	CodeApprovalNotFound            Code = "APPROVAL_NOT_FOUND"
	CodeApprovalWithdrawn           Code = "APPROVAL_WITHDRAWN"
	CodeOperationExists             Code = "OPERATION_EXISTS"
	CodeAttemptExists               Code = "ATTEMPT_EXISTS"
	CodePolicyDenied                Code = "POLICY_DENIED"
	CodePolicyIndeterminate         Code = "POLICY_INDETERMINATE"
	CodeMandatoryChecksFailed       Code = "MANDATORY_CHECKS_FAILED"
	CodeAuthorizationInFuture       Code = "AUTHORIZATION_IN_FUTURE"
	CodeAuthorizationStale          Code = "AUTHORIZATION_STALE"
	CodeActionNotAllowed            Code = "ACTION_NOT_ALLOWED"
	CodeResourceNotAllowed          Code = "RESOURCE_NOT_ALLOWED"
	CodeEffectUnresolved            Code = "EFFECT_UNRESOLVED"
	CodeGrantSubjectMismatch        Code = "GRANT_SUBJECT_MISMATCH"
	CodeActionNotGranted            Code = "ACTION_NOT_GRANTED"
	CodeResourceNotGranted          Code = "RESOURCE_NOT_GRANTED"
	CodeApprovalRequired            Code = "APPROVAL_REQUIRED"
	CodeApprovalRunMismatch         Code = "APPROVAL_RUN_MISMATCH"
	CodeSelfApproval                Code = "SELF_APPROVAL"
	CodeApprovalFingerprintMismatch Code = "APPROVAL_FINGERPRINT_MISMATCH"
	CodeApprovalExhausted           Code = "APPROVAL_EXHAUSTED"
	CodeAttemptsExhausted           Code = "ATTEMPTS_EXHAUSTED"
	CodeBudgetExceeded              Code = "BUDGET_EXCEEDED"
	CodeGrantLimitExceeded          Code = "GRANT_LIMIT_EXCEEDED"
	CodeAttemptNotFound             Code = "ATTEMPT_NOT_FOUND"
	CodeAttemptNotPrepared          Code = "ATTEMPT_NOT_PREPARED"
	CodePreviousEffectApplied       Code = "PREVIOUS_EFFECT_APPLIED"
	CodeEpochStale                  Code = "EPOCH_STALE"
	CodeGraphRequired               Code = "GRAPH_REQUIRED"
	CodeNodeRequired                Code = "NODE_REQUIRED"
	CodeGraphNotAttached            Code = "GRAPH_NOT_ATTACHED"
	CodeNodeNotFound                Code = "NODE_NOT_FOUND"
	CodeNodeKindMismatch            Code = "NODE_KIND_MISMATCH"
	CodeNodeNotPending              Code = "NODE_NOT_PENDING"
	CodeNodeNotReady                Code = "NODE_NOT_READY"
	CodeNodeMismatch                Code = "NODE_MISMATCH"
	CodeNodeActionMismatch          Code = "NODE_ACTION_MISMATCH"
	CodeNodeEffectExists            Code = "NODE_EFFECT_EXISTS"
	CodeLoopExhausted               Code = "LOOP_EXHAUSTED"
	CodeNodeInputInvalid            Code = "NODE_INPUT_INVALID"
	CodeAttemptNotDispatched        Code = "ATTEMPT_NOT_DISPATCHED"
	CodeAttemptSettled              Code = "ATTEMPT_SETTLED"
	CodeOperationNotFound           Code = "OPERATION_NOT_FOUND"
	CodePreviousEffectUnresolved    Code = "PREVIOUS_EFFECT_UNRESOLVED"
	CodeWaitExists                  Code = "WAIT_EXISTS"
	CodeWaitDeadlinePast            Code = "WAIT_DEADLINE_PAST"
	CodeWaitDeadlineTooLate         Code = "WAIT_DEADLINE_TOO_LATE"
	CodeWaitNotFound                Code = "WAIT_NOT_FOUND"
	CodeWaitNotPending              Code = "WAIT_NOT_PENDING"
	CodeCorrelationMismatch         Code = "CORRELATION_MISMATCH"
	CodeTimerNotDue                 Code = "TIMER_NOT_DUE"
	CodeWaitExpired                 Code = "WAIT_EXPIRED"
	CodeJoinEmpty                   Code = "JOIN_EMPTY"
	CodeWaitRunMismatch             Code = "WAIT_RUN_MISMATCH"
	CodeJoinNotSatisfied            Code = "JOIN_NOT_SATISFIED"
	CodeRunStateInvalid             Code = "RUN_STATE_INVALID"
	CodeSelfVerification            Code = "SELF_VERIFICATION"
	CodeAlreadyDecided              Code = "ALREADY_DECIDED"
	CodeVerificationExists          Code = "VERIFICATION_EXISTS"
	CodeCriteriaMismatch            Code = "CRITERIA_MISMATCH"
	CodeEvidenceRequired            Code = "EVIDENCE_REQUIRED"
	CodeVerificationNotFound        Code = "VERIFICATION_NOT_FOUND"
	CodeVerificationInvalidated     Code = "VERIFICATION_INVALIDATED"
	CodeVerificationSuperseded      Code = "VERIFICATION_SUPERSEDED"
	CodeVerificationStale           Code = "VERIFICATION_STALE"
	CodeSelfAcceptance              Code = "SELF_ACCEPTANCE"
	CodeCriteriaNotMet              Code = "CRITERIA_NOT_MET"
	CodeNothingToInvalidate         Code = "NOTHING_TO_INVALIDATE"
	CodeTriggerExists               Code = "TRIGGER_EXISTS"
	CodeTriggerInvalid              Code = "TRIGGER_INVALID"
	CodeTriggerNotFound             Code = "TRIGGER_NOT_FOUND"
	CodeTriggerKindMismatch         Code = "TRIGGER_KIND_MISMATCH"
	CodeTriggerDisabled             Code = "TRIGGER_DISABLED"
	CodeTriggerNotYetValid          Code = "TRIGGER_NOT_YET_VALID"
	CodeTriggerExpired              Code = "TRIGGER_EXPIRED"
	CodeEventMismatch               Code = "EVENT_MISMATCH"
	CodeEventInFuture               Code = "EVENT_IN_FUTURE"
	CodeEventStale                  Code = "EVENT_STALE"
	CodeDepthExceeded               Code = "DEPTH_EXCEEDED"
	CodeDepthMismatch               Code = "DEPTH_MISMATCH"
	CodeEventDuplicate              Code = "EVENT_DUPLICATE"
	CodeEventIDReused               Code = "EVENT_ID_REUSED"
	CodeEventFiltered               Code = "EVENT_FILTERED"
	CodeRateLimited                 Code = "RATE_LIMITED"
	CodeConcurrencyLimited          Code = "CONCURRENCY_LIMITED"
	CodeTriggerNotDue               Code = "TRIGGER_NOT_DUE"
	CodeGraphExists                 Code = "GRAPH_EXISTS"
	CodeGraphInvalid                Code = "GRAPH_INVALID"
	CodeGraphNotFound               Code = "GRAPH_NOT_FOUND"
	CodeGraphAttached               Code = "GRAPH_ATTACHED"
	CodeNodeProofMissing            Code = "NODE_PROOF_MISSING"
	CodeNodeOutputInvalid           Code = "NODE_OUTPUT_INVALID"
)

// CodeInfo explains a code: what it means and what the caller should do.
type CodeInfo struct {
	Code    Code
	Meaning string
	Caller  string
}

// Codes lists every code with its explanation, in the order of the constants.
// The printed rulebook and the command line read it.
var Codes = []CodeInfo{
	{CodeSubjectInvalid, "The subject is not aiws.cmd.<contract>.<principal>.<type> in canonical encoding.", "Fix the publisher's subject."},
	{CodeCommandIDInvalid, "The header Aiws-Command-Id is given twice or is not 1 to 128 visible ASCII characters.", "Send again under a valid id."},
	{CodeBodyTooLarge, "The body is over 384 KiB.", "Send a smaller body under a new id."},
	{CodeJSONInvalid, "The body is not one strict JSON value.", "Fix the body; send it under a new id."},
	{CodeSchemaInvalid, "The body is not exactly a command of the schema; the pointer names the place.", "Fix the body; send it under a new id."},
	{CodeSubjectMismatch, "The subject's type is not the body's.", "Fix the publisher; send under a new id."},
	{CodeCommandIDReused, "The same principal used this id for another body before.", "Use a new id for each new command."},
	{CodeContractNotFound, "The ledger is not open.", "Send openContract first; the same id may be used again."},
	{CodeContractExists, "The ledger is open already.", "Nothing to do."},
	{CodeActorMismatch, "context.actor is not the principal.", "Publish as the actor, or leave context.actor out."},
	{CodePrincipalNotAllowed, "The policy lists who may send this type, and the principal is not listed.", "Let a listed principal send it."},
	{CodeDecisionClassForbidden, "A model may not widen authority.", "Let a person or a deterministic host decide."},
	{CodeFeatureDisabled, "The contract does not have the feature that the command needs.", "Open a contract with the feature."},
	{CodeRecordTooLarge, "The decision record would exceed 1,000,000 bytes.", "Split the command into smaller ones."},
	{CodeContractMismatch, "The contract named in the body is not the subject's.", "Fix the body or the subject."},
	{CodeContractExpired, "The contract's deadline has passed, or lies in the past at opening.", "Open a new contract."},
	{CodeMissionNotOpen, "The mission is suspended or closed.", "Wait until it is open again."},
	{CodeMissionClosed, "The mission is closed for good.", "Open a new contract."},
	{CodeMissionStateUnchanged, "The mission is in that state already.", "Nothing to do."},
	{CodeRunNotFound, "No run has this id.", "Start the run first."},
	{CodeRunTerminal, "The run is over.", "Start another run."},
	{CodeRunNotRunning, "The run is not RUNNING.", "Move it to RUNNING first."},
	{CodeRunExists, "A run has this id.", "Use another id, or go on with that run."},
	{CodeRunIDReserved, "Ids that end in @ and digits, or begin slot-, are kept for scheduled runs.", "Use another id."},
	{CodeSegmentExists, "The run had this segment before.", "Use a new segment id."},
	{CodePlanIDReserved, "\"none\" is the plan of a run that has none.", "Use another plan id."},
	{CodePlanActive, "The plan is active and was activated unpinned; a pin would come too late.", "Pin and activate another plan id."},
	{CodePlanInvalid, "The document breaks its form's rules; reason and pointer say where.", "Fix the document."},
	{CodePlanExists, "Another document, form or params are pinned under this plan id.", "Use another plan id."},
	{CodePlanConflict, "The run's plan is not the expected one.", "Read the run and decide again."},
	{CodePlanUnchanged, "The plan is active already.", "Nothing to do."},
	{CodePlanNotPinned, "The policy requires a pinned plan, and this one is not pinned.", "Pin the plan and activate it."},
	{CodeTransitionNotAllowed, "The table of run states has no such step.", "Read the run's state and take an allowed step."},
	{CodeWaitsPending, "A wait of the run is pending.", "Resume it or let it expire."},
	{CodeUnsettledWork, "An attempt of the run is PREPARED, DISPATCHED or UNKNOWN.", "Settle it first."},
	{CodeRunHasOperations, "The run has admitted an operation.", "Fail or cancel the run; attach graphs before the first admit."},
	{CodeGraphIncomplete, "The run's graph has not reached its end.", "Complete its nodes first."},
	{CodeGrantExists, "A grant has this id.", "Use another id."},
	{CodeProfileMismatch, "The grant's profile is not the contract's.", "Fix the grant."},
	{CodeGrantWindowInvalid, "The grant ends before it begins.", "Fix the grant."},
	{CodeGrantParentNotFound, "No grant has the parent's id.", "Grant the parent first."},
	{CodeDelegationForbidden, "The parent may not delegate, or the principal may not delegate from it.", "Let the parent's subject or a listed granter do it."},
	{CodeGrantNotAttenuated, "The grant is wider than what it comes from; the reason names the first figure.", "Narrow the grant."},
	{CodeGrantNotFound, "No grant has this id.", "Grant it first."},
	{CodeGrantRevoked, "The grant or one above it is revoked.", "Use another grant."},
	{CodeGrantNotYetValid, "A grant of the chain is not in force yet.", "Try again later under a new id."},
	{CodeGrantExpired, "A grant of the chain has expired.", "Use another grant."},
	{CodeApprovalExists, "An approval has this id.", "Use another id."},
	{CodePrincipalMismatch, "The principal is not the one named, or may not act for the subject.", "Let the right principal send it."},
	{CodeApprovalExpired, "The approval has expired.", "Get a new approval."},
	{CodeApprovalUsesInvalid, "An approval needs at least one use.", "Fix the approval."},
	{CodeApprovalNotFound, "No approval has this id.", "Record the approval first."},
	{CodeApprovalWithdrawn, "The approval was withdrawn.", "Get a new approval."},
	{CodeOperationExists, "An operation has this id.", "Use another id, or retry that operation."},
	{CodeAttemptExists, "An attempt has this id.", "Use another id."},
	{CodePolicyDenied, "The policy engine said no.", "Do not do it."},
	{CodePolicyIndeterminate, "The policy engine could not say.", "Ask the policy engine again."},
	{CodeMandatoryChecksFailed, "A mandatory check failed.", "Mend what it found."},
	{CodeAuthorizationInFuture, "The authorization was checked later than the ledger's now and its clock skew.", "Fix the host's clock."},
	{CodeAuthorizationStale, "The authorization is too old.", "Authorize again and send under a new id."},
	{CodeActionNotAllowed, "The contract does not have the capability.", "Do not do it under this contract."},
	{CodeResourceNotAllowed, "The contract does not have the resource.", "Do not do it under this contract."},
	{CodeEffectUnresolved, "Another operation of the run does the same and its effect is not known.", "Settle that one first."},
	{CodeGrantSubjectMismatch, "The subject is not the grant's.", "Use the subject's own grant."},
	{CodeActionNotGranted, "The grant does not have the capability.", "Use a grant that has it."},
	{CodeResourceNotGranted, "The grant does not have the resource.", "Use a grant that has it."},
	{CodeApprovalRequired, "The contract wants an approval for each operation.", "Get an approval of this exact action."},
	{CodeApprovalRunMismatch, "The approval is for another run.", "Get an approval for this run."},
	{CodeSelfApproval, "Who approved may not act on it.", "Let another principal act."},
	{CodeApprovalFingerprintMismatch, "The approval is for another action.", "Get an approval of this exact action."},
	{CodeApprovalExhausted, "The approval's uses are taken.", "Get a new approval."},
	{CodeAttemptsExhausted, "The operation may not be attempted again.", "Give up, or admit another operation."},
	{CodeBudgetExceeded, "The contract's budget does not cover it.", "Wait for settlements, or stop."},
	{CodeGrantLimitExceeded, "A grant's limit does not cover it; the message names the grant.", "Wait for settlements, or use another grant."},
	{CodeAttemptNotFound, "No attempt has this id.", "Admit the operation first."},
	{CodeAttemptNotPrepared, "The attempt was dispatched or settled before.", "Never call again: read the attempt."},
	{CodePreviousEffectApplied, "The operation has taken effect.", "Do not repeat it."},
	{CodeEpochStale, "The attempt was prepared before the run was continued.", "Release it and retry."},
	{CodeGraphRequired, "The policy wants a graph, and the run has none.", "Attach a graph."},
	{CodeNodeRequired, "The run has a graph, and no node was named.", "Dispatch for a node."},
	{CodeGraphNotAttached, "The run has no graph.", "Attach a graph."},
	{CodeNodeNotFound, "The graph has no such node.", "Fix the node id."},
	{CodeNodeKindMismatch, "A node of this kind does no external work.", "Dispatch for a TASK, LOOP, COMPENSATION or RECONCILIATION."},
	{CodeNodeNotPending, "The node is completed or skipped.", "Go on with another node."},
	{CodeNodeNotReady, "The node's dependencies are not done.", "Complete them first."},
	{CodeNodeMismatch, "The operation works for another node.", "Name that node."},
	{CodeNodeActionMismatch, "The node's config names another capability or resource.", "Admit the node's own action."},
	{CodeNodeEffectExists, "Another operation works, or has worked, for the node.", "Settle that one."},
	{CodeLoopExhausted, "The loop has had all its iterations.", "Complete the node."},
	{CodeNodeInputInvalid, "The payload breaks the node's input schema; the pointer says where.", "Fix the payload."},
	{CodeAttemptNotDispatched, "The attempt was never called: it can only be released at no cost.", "Settle CONFIRMED_NOT_APPLIED at 0."},
	{CodeAttemptSettled, "This report is known already.", "Nothing to do."},
	{CodeOperationNotFound, "No operation has this id.", "Admit it first."},
	{CodePreviousEffectUnresolved, "The newest attempt is not settled.", "Settle it first."},
	{CodeWaitExists, "A wait has this id.", "Use another id."},
	{CodeWaitDeadlinePast, "The deadline is not in the future.", "Fix the deadline."},
	{CodeWaitDeadlineTooLate, "The deadline is later than the contract's.", "Fix the deadline."},
	{CodeWaitNotFound, "No wait has this id.", "Create the wait first."},
	{CodeWaitNotPending, "The wait is satisfied already.", "Nothing to do."},
	{CodeCorrelationMismatch, "The correlation is not the wait's.", "Resume with the wait's own correlation."},
	{CodeTimerNotDue, "The timer's deadline has not come.", "Try again at the deadline under a new id."},
	{CodeWaitExpired, "The wait's deadline has passed.", "Create a new wait."},
	{CodeJoinEmpty, "A join names at least one wait.", "Name the waits."},
	{CodeWaitRunMismatch, "The wait belongs to another run.", "Name a wait of this run."},
	{CodeJoinNotSatisfied, "Not enough of the waits are satisfied.", "Try again later under a new id."},
	{CodeRunStateInvalid, "A run in this state cannot be assessed so.", "Assess another run."},
	{CodeSelfVerification, "Who worked on the run does not verify it.", "Let another principal verify."},
	{CodeAlreadyDecided, "The verification has been decided.", "Nothing to do."},
	{CodeVerificationExists, "The run has this revision.", "Use a new revision."},
	{CodeCriteriaMismatch, "The results are not exactly for the contract's criteria.", "Give one result for each criterion."},
	{CodeEvidenceRequired, "A PASS needs evidence.", "Name the evidence."},
	{CodeVerificationNotFound, "The run has no such verification.", "Verify first."},
	{CodeVerificationInvalidated, "The verification was invalidated.", "Verify anew."},
	{CodeVerificationSuperseded, "A newer verification is current.", "Decide on the current one."},
	{CodeVerificationStale, "The run's subject has changed since.", "Verify anew."},
	{CodeSelfAcceptance, "Who worked on or verified the run does not accept it.", "Let another principal accept."},
	{CodeCriteriaNotMet, "A criterion does not PASS.", "Reject or defer it."},
	{CodeNothingToInvalidate, "No live verification is left there.", "Nothing to do."},
	{CodeTriggerExists, "A trigger has this id.", "Use another id."},
	{CodeTriggerInvalid, "The trigger contradicts itself; the reason names the first fault.", "Fix the trigger."},
	{CodeTriggerNotFound, "No trigger has this id.", "Register it first."},
	{CodeTriggerKindMismatch, "Scheduled triggers tick, the others fire.", "Use the other command."},
	{CodeTriggerDisabled, "The trigger is disabled.", "Register an enabled one."},
	{CodeTriggerNotYetValid, "The trigger's time has not come.", "Try again later under a new id."},
	{CodeTriggerExpired, "The trigger's time is over.", "Register a new one."},
	{CodeEventMismatch, "The event's source or type is not the trigger's.", "Fire the right trigger."},
	{CodeEventInFuture, "The event occurred later than now and the clock skew.", "Fix the source's clock."},
	{CodeEventStale, "The event is too old.", "Drop it."},
	{CodeDepthExceeded, "The chain of triggers is too deep.", "Drop it: this is a loop guard."},
	{CodeDepthMismatch, "The depth is not that of the run named in the event.", "Fix the publisher."},
	{CodeEventDuplicate, "The trigger has a receipt for this very event.", "Nothing to do."},
	{CodeEventIDReused, "The trigger has a receipt for another event of this id.", "Use a new event id."},
	{CodeEventFiltered, "The event does not match the filter.", "Nothing to do."},
	{CodeRateLimited, "The trigger fired too often in its window.", "Try again later under a new id."},
	{CodeConcurrencyLimited, "Too many runs of the trigger are live.", "Try again when one has ended, under a new id."},
	{CodeTriggerNotDue, "No slot is due.", "Tick again later under a new id."},
	{CodeGraphExists, "A graph has this id.", "Use another id."},
	{CodeGraphInvalid, "The graph breaks a rule; the reason names it.", "Fix the graph."},
	{CodeGraphNotFound, "No graph has this id.", "Register it first."},
	{CodeGraphAttached, "The run has a graph.", "Nothing to do."},
	{CodeNodeProofMissing, "What the node's kind demands is not proved.", "Bring the proof first."},
	{CodeNodeOutputInvalid, "The result breaks the node's output schema; the pointer says where.", "Fix the result."},
}
