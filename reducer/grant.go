package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// maxDepth bounds the depth of a root grant, and so the length of every chain.
const maxDepth = 32

// grant gives authority: from the contract to a root, or from a parent
// (RULES 5). It can only narrow.
func (q *question) grant(c *schema.IssueGrant) ([]events.Event, *refusal) {
	grant := &c.Grant
	if _, exists := q.Grant(q.contract, grant.ID); exists {
		return reject(refuse(events.CodeGrantExists, "grant %q exists", grant.ID))
	}
	if grant.Profile != schema.Profile {
		return reject(refuse(events.CodeProfileMismatch, "the grant's profile is %q, the contract's %q", grant.Profile, schema.Profile))
	}
	if !grant.NotBefore.Less(grant.ExpiresAt) {
		return reject(refuse(events.CodeGrantWindowInvalid, "the grant ends at %s and begins at %s", grant.ExpiresAt, grant.NotBefore))
	}
	attenuated := q.attenuatesContract
	if grant.ParentID != "" {
		if refused := q.mayDelegate(grant.ParentID); refused != nil {
			return reject(refused)
		}
		attenuated = q.attenuatesParent
	}
	if reason := attenuated(grant); reason != "" {
		return reject(refuse(events.CodeGrantNotAttenuated, "the grant's %s is wider than what it comes from", reason).because(reason))
	}
	return accept(&events.GrantIssued{Grant: *grant, By: q.principal})
}

func (q *question) mayDelegate(parentID string) *refusal {
	parent := q.GrantTerms(q.contract, parentID)
	if parent == nil {
		return refuse(events.CodeGrantParentNotFound, "no grant %q", parentID)
	}
	if refused := q.grantChain(parentID); refused != nil {
		return refused
	}
	if !parent.CanDelegate || parent.Depth.IsZero() {
		return refuse(events.CodeDelegationForbidden, "grant %q may not be delegated from", parentID)
	}
	if parent.Subject != q.principal && !q.terms.Listed("grant", q.principal) {
		return refuse(events.CodeDelegationForbidden, "%q is neither the subject of grant %q nor listed to grant", q.principal, parentID)
	}
	return nil
}

// attenuatesContract names the first figure in which a root is wider than the
// contract, or "".
func (q *question) attenuatesContract(grant *schema.Grant) string {
	contract := &q.terms.Contract
	switch {
	case schema.DecimalOf(maxDepth).Less(grant.Depth):
		return "depth"
	case !all(grant.Actions, q.terms.HasAction):
		return "actions"
	case !all(grant.Resources, q.terms.HasResource):
		return "resources"
	case contract.Budget.Less(grant.Limit):
		return "limit"
	case contract.Deadline.Less(grant.ExpiresAt):
		return "expiresAt"
	}
	return ""
}

// attenuatesParent names the first figure in which a child is wider than its
// parent, or "". The parent's depth is over 0.
func (q *question) attenuatesParent(grant *schema.Grant) string {
	parent := q.GrantTerms(q.contract, grant.ParentID)
	switch {
	case !grant.Depth.Less(parent.Depth):
		return "depth"
	case !all(grant.Actions, parent.HasAction):
		return "actions"
	case !all(grant.Resources, parent.HasResource):
		return "resources"
	case parent.Limit.Less(grant.Limit):
		return "limit"
	case grant.NotBefore.Less(parent.NotBefore):
		return "notBefore"
	case parent.ExpiresAt.Less(grant.ExpiresAt):
		return "expiresAt"
	}
	return ""
}

func all(items []string, holds func(string) bool) bool {
	for _, item := range items {
		if !holds(item) {
			return false
		}
	}
	return true
}
