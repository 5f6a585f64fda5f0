package auth

import (
	"maps"
	"slices"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Terms are the bounds of a contract that init opens. Lists that are empty allow
// nothing.
type Terms struct {
	Budget           schema.Decimal
	Deadline         schema.Decimal // milliseconds since 1970
	Actions          []string
	Resources        []string
	Criteria         []string
	MaxAttempts      schema.Decimal
	AuthorizationAge time.Duration
	Features         []string
}

// Opener is the role, and the user of that name, that opens contracts.
const Opener = "host"

// Contracts are those that a user is bound to, each once, sorted.
func Contracts(users []User) []string {
	seen := map[string]bool{}
	for _, u := range users {
		if u.Contract != "" {
			seen[u.Contract] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// OpenContract is the command that opens a contract strictly: each operation
// needs an approval, plans are pinned, duties are separated, nobody acts for
// another, agents count as models, and each type is for the principals of the
// roles that send it. What the server refuses, the rules refuse again.
func OpenContract(contract string, users []User, t *Terms) *schema.OpenContract {
	yes := true
	nobody := []schema.PrincipalList{}
	models := principals(users, contract, func(u User) bool { return u.Role == "agent" })
	allow := make([]schema.PrincipalList, 0, len(schema.CommandTypes))
	for _, kind := range slices.Sorted(slices.Values(schema.CommandTypes)) {
		sends := func(u User) bool { return slices.Contains(commands[u.Role], kind) }
		allow = append(allow, schema.PrincipalList{Key: kind, Principals: principals(users, contract, sends)})
	}
	return &schema.OpenContract{
		Contract: schema.Contract{
			ID: contract, MissionID: contract, Budget: t.Budget, Deadline: t.Deadline,
			Criteria: t.Criteria, Actions: t.Actions, Resources: t.Resources, RequiresApproval: true,
			MaxAttempts: t.MaxAttempts, MaxAuthorizationAgeMs: schema.DecimalOf(uint64(t.AuthorizationAge.Milliseconds())),
			Features: t.Features,
		},
		Policy: &schema.Policy{
			RequirePinnedPlan: &yes, SeparationOfDuties: &yes, Models: &models, Allow: &allow, ActFor: &nobody,
		},
	}
}

// principals are the users of a contract that something is true of, in their
// order.
func principals(users []User, contract string, is func(User) bool) []string {
	names := []string{}
	for _, u := range users {
		if u.Touches(contract) && is(u) {
			names = append(names, u.Name)
		}
	}
	return names
}

// Message is the n-th command of a file of commands to open contracts with, as if
// it were sent at a time.
func Message(n uint64, at time.Time, c *schema.OpenContract) *events.Message {
	return &events.Message{
		Seq: n, Time: at.UnixMilli() * events.NanosPerMilli,
		Subject: "aiws.cmd." + schema.EncodeToken(c.Contract.ID) + "." + Opener + "." + c.Type(),
		Body:    schema.AppendRecord(nil, c),
	}
}
