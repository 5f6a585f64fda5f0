package reducer

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// revokeGrant ends a grant and, in effect, all below it (RULES 5).
func (q *question) revokeGrant(c *schema.RevokeGrant) ([]events.Event, *refusal) {
	grant, ok := q.Grant(q.contract, c.GrantID)
	if !ok {
		return reject(refuse(events.CodeGrantNotFound, "no grant %q", c.GrantID))
	}
	if grant.Revoked {
		return reject(refuse(events.CodeGrantRevoked, "grant %q is revoked", c.GrantID))
	}
	affected := grant.LiveBelow
	if q.HasRevokedAncestor(q.contract, c.GrantID) {
		affected = 0
	}
	return accept(&events.GrantRevoked{GrantID: c.GrantID, Affected: affected})
}
