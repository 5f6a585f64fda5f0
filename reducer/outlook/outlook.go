// Package outlook says what the rules would answer to a command that nobody has
// sent, for operators who ask what an attempt waits for. It has no rules of its
// own: it asks the reducer's decision on the state as it is read and applies
// nothing, so that it cannot drift from what will be decided.
package outlook

import (
	"fmt"
	"slices"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Bounds of what is tried for one attempt.
const (
	maxPrincipals = 16
	maxNodes      = 256
)

// Attempt says what an unsettled attempt waits for at a time, in milliseconds
// (RULES 6 "dispatch"). An attempt that is settled, or unknown, waits for a
// change that will not come. The error is one of reading the state.
func Attempt(s *state.State, contract, attemptID string, now int64) (wire.Waiting, error) {
	attempt, ok := s.Attempt(contract, attemptID)
	terms := s.Terms(contract)
	if err := s.Err(); err != nil {
		return wire.Waiting{}, err
	}
	switch {
	case !ok || terms == nil:
		return wire.Waiting{For: wire.WaitsForChange, Message: "there is no such attempt"}, nil
	case attempt.State == events.AttemptStateDispatched:
		return wire.Waiting{For: wire.WaitsForSettle, Message: "the call was allowed; nobody has settled it"}, nil
	case attempt.State == events.AttemptStateUnknown:
		return wire.Waiting{For: wire.WaitsForSettle, Message: "it is not known whether it took effect; find out, then settle it"}, nil
	}
	a := asking{
		State: s, reducer: reducer.New(), contract: contract, attemptID: attemptID, attempt: attempt, terms: terms,
		stamp: now, now: schema.DecimalOf(uint64(max(now, 0))).Max(s.Ledger(contract).Now),
	}
	w := a.waiting()
	return w, s.Err()
}

// asking is what is asked about one PREPARED attempt.
type asking struct {
	*state.State
	reducer   *reducer.Reducer
	contract  string
	attemptID string
	attempt   state.Attempt
	terms     *state.Terms
	stamp     int64          // milliseconds, of the command that nobody sends
	now       schema.Decimal // of the ledger, when it is decided
}

// waiting asks for each principal who could dispatch, and each node that could
// take the attempt, until one of them is accepted.
func (a *asking) waiting() wire.Waiting {
	var refused *events.Decision
	for _, principal := range a.principals() {
		d := a.dispatch(principal, a.boundNode())
		if d.Code == events.CodeNodeRequired {
			return a.anyNode(principal)
		}
		if d.Outcome == events.OutcomeAccepted {
			return a.ready(principal, a.boundNode())
		}
		if refused == nil {
			refused = d
		}
	}
	return waitsFor(refused)
}

// ready: nothing stands in the way.
func (a *asking) ready(principal, node string) wire.Waiting {
	message := fmt.Sprintf("%q may dispatch it now, with a policy check not older than %s ms", principal, a.terms.Contract.MaxAuthorizationAgeMs)
	return wire.Waiting{For: wire.WaitsForDispatch, NodeID: node, Message: message}
}

func waitsFor(refused *events.Decision) wire.Waiting {
	return wire.Waiting{For: wire.WaitsForChange, Code: string(refused.Code), Reason: refused.Reason, Message: refused.Message}
}

// boundNode is the node that the operation works for already, or "".
func (a *asking) boundNode() string {
	operation, _ := a.Operation(a.contract, a.attempt.OperationID)
	return operation.NodeID
}

// anyNode asks for the nodes of the run's graph. Where none takes the attempt
// the answer is that of the node which comes nearest: one that could be pending.
func (a *asking) anyNode(principal string) wire.Waiting {
	run, _ := a.Run(a.contract, a.attempt.RunID)
	graph := a.Graph(a.contract, run.GraphID)
	var nearest *events.Decision
	node := ""
	for i := range min(len(graph.Nodes), maxNodes) {
		id := graph.Nodes[i].ID
		d := a.dispatch(principal, id)
		if d.Outcome == events.OutcomeAccepted {
			return a.ready(principal, id)
		}
		if nearest == nil || farOff(nearest.Code) && !farOff(d.Code) {
			nearest, node = d, id
		}
	}
	w := waitsFor(nearest)
	w.Message = fmt.Sprintf("no node of graph %q takes it; %q: %s", run.GraphID, node, nearest.Message)
	return w
}

// farOff: a node with this answer will never take the attempt.
func farOff(code events.Code) bool {
	return code == events.CodeNodeKindMismatch || code == events.CodeNodeNotPending
}

// dispatch is what the reducer would decide.
func (a *asking) dispatch(principal, node string) *events.Decision {
	body := schema.AppendRecord(nil, &schema.Dispatch{
		AttemptID: a.attemptID, NodeID: node, Policy: "ALLOW", MandatoryChecksOk: true, AuthorizationCheckedAt: a.now,
	})
	subject := schema.Subject{Contract: a.contract, Principal: principal, Type: "dispatch"}
	return a.reducer.Decide(a.State, &events.Message{
		Seq: 1, Time: a.stamp * events.NanosPerMilli, Subject: subject.String(), Body: body,
	})
}

// principals are those who may send the dispatch, the likeliest first; the
// subject where nobody may.
func (a *asking) principals() []string {
	operation, _ := a.Operation(a.contract, a.attempt.OperationID)
	candidates := []string{a.attempt.Subject, operation.By}
	candidates = append(candidates, listed(a.terms.Policy.Allow, "dispatch")...)
	if a.terms.Policy.ActFor != nil {
		candidates = append(candidates, listed(*a.terms.Policy.ActFor, a.attempt.Subject)...)
	}
	var able []string
	for _, principal := range candidates {
		may := a.terms.Allowed("dispatch", principal) && a.terms.MayActFor(principal, a.attempt.Subject)
		if may && !slices.Contains(able, principal) && len(able) < maxPrincipals {
			able = append(able, principal)
		}
	}
	if len(able) == 0 {
		return candidates[:1]
	}
	return able
}

func listed(lists []schema.PrincipalList, key string) []string {
	for _, list := range lists {
		if list.Key == key {
			return list.Principals
		}
	}
	return nil
}
