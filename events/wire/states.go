package wire

import "slices"

// States are the states that documents of a projection can be in; projections
// that are not listed have none.
var States = map[string][]string{
	"approvals": {"LIVE", "WITHDRAWN", "EXPIRED", "EXHAUSTED"},
	"attempts":  {"PREPARED", "DISPATCHED", "UNKNOWN", "APPLIED", "NOT_APPLIED", "RELEASED"},
	"missions":  {"OPEN", "SUSPENDED", "CLOSED"},
	"nodes":     {"PENDING", "COMPLETED", "SKIPPED"},
	"runs":      {"READY", "RUNNING", "WAITING", "PAUSED", "CANCELING", "COMPLETED", "FAILED", "CANCELED", "REJECTED"},
	"waits":     {"PENDING", "SATISFIED", "EXPIRED"},
}

// UnsettledStates are the states of attempts that are not settled.
var UnsettledStates = []string{"PREPARED", "DISPATCHED", "UNKNOWN"}

// Outcomes are the outcomes of decisions.
var Outcomes = []string{"accepted", "rejected", "duplicate"}

// Follows says whether changes of a projection can be followed as they happen:
// its rows are in the bucket.
func Follows(projection string) bool { return slices.Contains(Mirrored, projection) }
