package main

import (
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// words tells an event to people in a few words. An event that has none of its
// own is told as it is written.
func words(event events.Event) string {
	for _, tell := range []func(events.Event) string{workWords, runWords, authorityWords, assessmentWords, graphWords} {
		if text := tell(event); text != "" {
			return text
		}
	}
	return events.Format(event)
}

// workWords: operations and attempts.
func workWords(event events.Event) string {
	switch e := event.(type) {
	case *events.OperationAdmitted:
		text := fmt.Sprintf("operation %s admitted for %s: %s at %s, grant %s", e.OperationID, e.Subject, e.Action.Capability, e.Action.Resource, e.GrantID)
		return text + with(", approval ", e.ApprovalID)
	case *events.AttemptPrepared:
		return fmt.Sprintf("attempt %s prepared, number %d of operation %s: %s reserved", e.AttemptID, e.Number, e.OperationID, e.Amount)
	case *events.AttemptDispatched:
		return fmt.Sprintf("attempt %s dispatched", e.AttemptID) + with(" for node ", e.NodeID)
	case *events.AttemptSettled:
		text := fmt.Sprintf("attempt %s settled %s, cost %s", e.AttemptID, e.Effect, e.ActualCost)
		if !e.Overrun.IsZero() {
			text += fmt.Sprintf(", %s more than reserved", e.Overrun)
		}
		return text
	case *events.SettlementDisputed:
		return fmt.Sprintf("attempt %s disputed: reported %s, cost %s, %s added", e.AttemptID, e.Effect, e.ActualCost, e.Added)
	}
	return ""
}

// runWords: runs, plans, waits and triggers.
func runWords(event events.Event) string {
	switch e := event.(type) {
	case *events.RunStarted:
		text := "run started"
		if e.Origin != nil {
			text += " by trigger " + e.Origin.TriggerID
		}
		return text
	case *events.RunTransitioned:
		return fmt.Sprintf("run goes from %s to %s", e.From, e.To)
	case *events.RunContinued:
		return fmt.Sprintf("segment %s begins, epoch %d", e.SegmentID, e.Epoch)
	case *events.PlanPinned:
		return fmt.Sprintf("plan %s pinned (%s)", e.PlanID, e.Form)
	case *events.PlanPinConfirmed:
		return fmt.Sprintf("plan %s was pinned already", e.PlanID)
	case *events.PlanActivated:
		return fmt.Sprintf("plan %s activated after %s", e.PlanID, e.Previous)
	case *events.WaitCreated:
		return fmt.Sprintf("waits for %s (%s) until %s", e.WaitID, e.Kind, timeCell(e.Deadline.String()))
	case *events.WaitSatisfied:
		return fmt.Sprintf("wait %s satisfied", e.WaitID)
	case *events.JoinSatisfied:
		return fmt.Sprintf("join satisfied: %s of %s", strings.ToLower(e.Mode), strings.Join(e.WaitIDs, ", "))
	case *events.TriggerFired:
		return fmt.Sprintf("trigger %s fired", e.TriggerID)
	}
	return ""
}

// authorityWords: contracts, grants and approvals.
func authorityWords(event events.Event) string {
	switch e := event.(type) {
	case *events.ContractOpened:
		return fmt.Sprintf("contract opened with a budget of %s", e.Contract.Budget)
	case *events.MissionStateChanged:
		return fmt.Sprintf("mission goes from %s to %s", e.From, e.To)
	case *events.GrantIssued:
		text := fmt.Sprintf("grant %s issued to %s: up to %s", e.Grant.ID, e.Grant.Subject, e.Grant.Limit)
		return text + with(" below ", e.Grant.ParentID)
	case *events.GrantRevoked:
		return fmt.Sprintf("grant %s revoked, and %d below it", e.GrantID, e.Affected)
	case *events.ApprovalRecorded:
		return fmt.Sprintf("approval %s by %s, uses %s, until %s", e.Approval.ID, e.Approval.Approver, e.Approval.Uses, timeCell(e.Approval.ExpiresAt.String()))
	case *events.ApprovalWithdrawn:
		return fmt.Sprintf("approval %s withdrawn", e.ApprovalID)
	}
	return ""
}

// assessmentWords: verification and acceptance.
func assessmentWords(event events.Event) string {
	switch e := event.(type) {
	case *events.VerificationRecorded:
		return fmt.Sprintf("verification %s by %s: %s", e.Revision, e.Assessor, verdicts(e.Results))
	case *events.AcceptanceRecorded:
		return fmt.Sprintf("verification %s is %s by %s", e.Revision, e.Decision, e.Authority)
	case *events.AssessmentInvalidated:
		return fmt.Sprintf("verification %s of run %s invalidated", e.Revision, e.RunID) + with(": ", e.Reason)
	}
	return ""
}

// graphWords: graphs and nodes.
func graphWords(event events.Event) string {
	switch e := event.(type) {
	case *events.GraphRegistered:
		return fmt.Sprintf("graph %s registered with %d nodes", e.Graph.ID, len(e.Graph.Nodes))
	case *events.GraphAttached:
		return fmt.Sprintf("graph %s attached", e.GraphID)
	case *events.NodeCompleted:
		return fmt.Sprintf("node %s completed", e.NodeID)
	case *events.NodesSkipped:
		return "nodes skipped: " + strings.Join(e.NodeIDs, ", ")
	}
	return ""
}

func verdicts(results []schema.Verdict) string {
	var all []string
	for _, v := range results {
		all = append(all, v.Criterion+" "+v.Result)
	}
	return strings.Join(all, ", ")
}

// with is a word before a value, or nothing where there is none.
func with(word, value string) string {
	if value == "" {
		return ""
	}
	return word + value
}

// whatOf tells what became of a command, a line for each thing.
func whatOf(d *events.Decision) []string {
	switch d.Outcome {
	case events.OutcomeDuplicate:
		return []string{fmt.Sprintf("repeats command %d, %s", d.Of, d.OfOutcome) + with(" ", string(d.OfCode))}
	case events.OutcomeRejected:
		text := string(d.Code)
		if d.Reason != "" {
			text += " (" + d.Reason + ")"
		}
		return []string{text + with(" at ", d.Pointer) + with(": ", d.Message)}
	}
	var all []string
	for _, e := range d.Events {
		all = append(all, words(e))
	}
	return all
}
