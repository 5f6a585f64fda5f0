package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// openContract opens a ledger (RULES 3).
func (q *question) openContract(c *schema.OpenContract) ([]events.Event, *refusal) {
	if c.Contract.ID != q.contract {
		return reject(refuse(events.CodeContractMismatch, "the subject names contract %q, the body %q", q.contract, c.Contract.ID))
	}
	if !q.now.Less(c.Contract.Deadline) {
		return reject(refuse(events.CodeContractExpired, "the deadline %s has passed, now is %s", c.Contract.Deadline, q.now))
	}
	return accept(&events.ContractOpened{Contract: c.Contract, Policy: policyOf(c.Policy), By: q.principal})
}

// policyOf fills in the defaults of RULES 3.
func policyOf(given *schema.Policy) events.Policy {
	policy := events.Policy{SeparationOfDuties: true}
	if given == nil {
		return policy
	}
	set(&policy.ClockSkewMs, given.ClockSkewMs)
	set(&policy.RequirePinnedPlan, given.RequirePinnedPlan)
	set(&policy.RequireGraph, given.RequireGraph)
	set(&policy.SeparationOfDuties, given.SeparationOfDuties)
	set(&policy.Models, given.Models)
	set(&policy.Allow, given.Allow)
	policy.ActFor = given.ActFor
	return policy
}

func set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}
