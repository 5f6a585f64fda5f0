package events

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Event is one thing that an accepted decision made true. Its Members method
// includes the member "type" with the value of Type.
type Event interface {
	schema.Record
	Type() string
}

// New returns an empty event of the type, or nil for a type that this build
// does not know.
func New(eventType string) Event { //nolint:funlen // the table of all events
	switch eventType {
	case "acceptanceRecorded":
		return &AcceptanceRecorded{}
	case "approvalRecorded":
		return &ApprovalRecorded{}
	case "approvalWithdrawn":
		return &ApprovalWithdrawn{}
	case "assessmentInvalidated":
		return &AssessmentInvalidated{}
	case "attemptDispatched":
		return &AttemptDispatched{}
	case "attemptPrepared":
		return &AttemptPrepared{}
	case "attemptSettled":
		return &AttemptSettled{}
	case "contractOpened":
		return &ContractOpened{}
	case "grantIssued":
		return &GrantIssued{}
	case "grantRevoked":
		return &GrantRevoked{}
	case "graphAttached":
		return &GraphAttached{}
	case "graphRegistered":
		return &GraphRegistered{}
	case "joinSatisfied":
		return &JoinSatisfied{}
	case "missionStateChanged":
		return &MissionStateChanged{}
	case "nodeCompleted":
		return &NodeCompleted{}
	case "nodesSkipped":
		return &NodesSkipped{}
	case "operationAdmitted":
		return &OperationAdmitted{}
	case "planActivated":
		return &PlanActivated{}
	case "planPinConfirmed":
		return &PlanPinConfirmed{}
	case "planPinned":
		return &PlanPinned{}
	case "runContinued":
		return &RunContinued{}
	case "runStarted":
		return &RunStarted{}
	case "runTransitioned":
		return &RunTransitioned{}
	case "settlementDisputed":
		return &SettlementDisputed{}
	case "triggerCursorMoved":
		return &TriggerCursorMoved{}
	case "triggerFired":
		return &TriggerFired{}
	case "triggerObserved":
		return &TriggerObserved{}
	case "triggerRegistered":
		return &TriggerRegistered{}
	case "verificationRecorded":
		return &VerificationRecorded{}
	case "waitCreated":
		return &WaitCreated{}
	case "waitSatisfied":
		return &WaitSatisfied{}
	}
	return nil
}

// Types lists every event type, sorted.
var Types = []string{
	"acceptanceRecorded", "approvalRecorded", "approvalWithdrawn", "assessmentInvalidated",
	"attemptDispatched", "attemptPrepared", "attemptSettled", "contractOpened", "grantIssued",
	"grantRevoked", "graphAttached", "graphRegistered", "joinSatisfied", "missionStateChanged",
	"nodeCompleted", "nodesSkipped", "operationAdmitted", "planActivated", "planPinConfirmed",
	"planPinned", "runContinued", "runStarted", "runTransitioned", "settlementDisputed",
	"triggerCursorMoved", "triggerFired", "triggerObserved", "triggerRegistered",
	"verificationRecorded", "waitCreated", "waitSatisfied",
}

func parseEvent(value schema.Value) (Event, error) {
	raw := []byte(value)
	eventType := schema.TypeOf(raw)
	e := New(eventType)
	if e == nil {
		return nil, fmt.Errorf("type %q is not known to this build", eventType)
	}
	if err := schema.DecodeRecord(raw, e); err != nil {
		return nil, fmt.Errorf("%s: %w", eventType, err)
	}
	return e, nil
}
