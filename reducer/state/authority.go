package state

import (
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// GrantTerms is a grant as it was issued. It never changes; callers must not
// write to it.
type GrantTerms struct {
	schema.Grant

	text      string
	actions   map[string]bool
	resources map[string]bool
}

func (r *GrantTerms) fields(c *coder) {
	c.string(&r.text)
	if !c.reading || c.err != nil {
		return
	}
	var grant schema.Grant
	if err := schema.DecodeRecord([]byte(r.text), &grant); err != nil {
		c.err = err
		return
	}
	r.set(grant)
}

func (r *GrantTerms) set(grant schema.Grant) {
	r.Grant = grant
	r.actions, r.resources = setOf(grant.Actions), setOf(grant.Resources)
}

// HasAction says whether the grant has the capability.
func (r *GrantTerms) HasAction(capability string) bool { return r.actions[capability] }

// HasResource says whether the grant has the resource.
func (r *GrantTerms) HasResource(resource string) bool { return r.resources[resource] }

// Grant is the money of a grant and whether it is in force.
type Grant struct {
	ParentID  string // "" for a root
	Subject   string
	Limit     schema.Decimal
	Reserved  schema.Decimal
	Spent     schema.Decimal
	Revoked   bool  // itself; an ancestor may be
	LiveBelow int64 // descendants with no revoked grant between them and this one, themselves included
}

func (r *Grant) fields(c *coder) {
	c.string(&r.ParentID)
	c.string(&r.Subject)
	c.decimal(&r.Limit)
	c.decimal(&r.Reserved)
	c.decimal(&r.Spent)
	c.bool(&r.Revoked)
	c.int(&r.LiveBelow)
}

// GrantTerms returns a grant as issued, or nil.
func (s *State) GrantTerms(contract, grantID string) *GrantTerms {
	return get[GrantTerms](s, kindGrantTerms, contract, grantID)
}

// Grant returns the figures of a grant; ok is false when there is none.
func (s *State) Grant(contract, grantID string) (grant Grant, ok bool) {
	if r := get[Grant](s, kindGrant, contract, grantID); r != nil {
		return *r, true
	}
	return Grant{}, false
}

// Chain calls f for a grant and each above it, from the leaf to the root, until
// f returns false. A chain is at most 33 long: depth is bounded (RULES 5).
func (s *State) Chain(contract, grantID string, f func(id string, grant *Grant) bool) {
	for id := grantID; id != ""; {
		r := get[Grant](s, kindGrant, contract, id)
		if r == nil {
			return
		}
		grant := *r
		if !f(id, &grant) {
			return
		}
		id = grant.ParentID
	}
}

// HasRevokedAncestor says whether a grant above this one is revoked.
func (s *State) HasRevokedAncestor(contract, grantID string) bool {
	revoked := false
	s.Chain(contract, grantID, func(id string, grant *Grant) bool {
		revoked = grant.Revoked && id != grantID
		return !revoked
	})
	return revoked
}

// Approval is an approval and how often it was used (RULES 5).
type Approval struct {
	schema.Approval
	Used      schema.Decimal
	Withdrawn bool
}

func (r *Approval) fields(c *coder) {
	c.string(&r.ID)
	c.string(&r.RunID)
	c.string(&r.Approver)
	c.string(&r.Fingerprint)
	c.decimal(&r.ExpiresAt)
	c.decimal(&r.Uses)
	c.decimal(&r.Used)
	c.bool(&r.Withdrawn)
}

// Approval returns an approval; ok is false when there is none.
func (s *State) Approval(contract, approvalID string) (approval Approval, ok bool) {
	if r := get[Approval](s, kindApproval, contract, approvalID); r != nil {
		return *r, true
	}
	return Approval{}, false
}
