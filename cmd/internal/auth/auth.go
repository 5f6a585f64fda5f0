// Package auth says what each role may publish and subscribe, and writes it as
// users of a NATS server's configuration (DESIGN 5).
package auth

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// commands are the types that each role may send, always as its own principal.
// A role that is not here does not exist.
var commands = map[string][]string{
	"host": {
		"openContract", "pinPlan", "startRun", "continueRun", "activatePlan", "transition", "missionState", "grant", "revokeGrant",
		"registerTrigger", "fireTrigger", "registerGraph", "attachGraph", "wait", "resume", "join", "settle", "invalidate",
	},
	"agent":     {"admit", "dispatch", "settle", "retry", "wait", "resume", "join", "transition", "completeNode"},
	"approver":  {"approve", "withdrawApproval", "accept", "missionState"},
	"assessor":  {"verify", "invalidate"},
	"observer":  {},
	"scheduler": {"tickTrigger", "resume"},
}

// Questions are what every user may ask; those of one contract, about the
// user's contract only.
var Questions = []wire.Endpoint{
	wire.Get, wire.List, wire.Decision, wire.Plan, wire.Changes, wire.History, wire.ListUnsettled, wire.Status,
}

// Roles are the names of all roles, sorted.
func Roles() []string { return slices.Sorted(maps.Keys(commands)) }

// Commands are the command types that a role may send.
func Commands(role string) []string { return slices.Clone(commands[role]) }

// User is one principal.
type User struct {
	Name     string // the principal
	Role     string // one of [Roles]
	Contract string // the only one it may see and send to; every one when empty
	Public   string // key, or
	Hash     string // bcrypt hash of a password
}

// Token is the user's name in subjects, in the names of its files, and where it
// logs in with a password.
func (u User) Token() string { return schema.EncodeToken(u.Name) }

// Touches says whether the user may see and send to a contract.
func (u User) Touches(contract string) bool { return u.Contract == "" || u.Contract == contract }

// ParseUser reads NAME:ROLE[:CONTRACT].
func ParseUser(text string) (User, error) {
	parts := strings.SplitN(text, ":", 3)
	if len(parts) < 2 || parts[0] == "" {
		return User{}, fmt.Errorf("user %q: want NAME:ROLE or NAME:ROLE:CONTRACT", text)
	}
	u := User{Name: parts[0], Role: parts[1]}
	if _, known := commands[u.Role]; !known {
		return User{}, fmt.Errorf("user %q: there is no role %q; the roles are %s", text, u.Role, strings.Join(Roles(), ", "))
	}
	if len(parts) == 3 {
		if parts[2] == "" {
			return User{}, fmt.Errorf("user %q: the contract is empty", text)
		}
		u.Contract = parts[2]
	}
	for _, id := range []string{u.Name, u.Contract} {
		if id != "" && !schema.ValidID(id) {
			return User{}, fmt.Errorf("user %q: %.20q... is no id: one has at most 256 characters, in UTF-8", text, id)
		}
	}
	return u, nil
}

// Publish are the subjects that a user may publish to. None is JetStream's: all
// go through the service, which passes no header on but the command's id.
func (u User) Publish() []string {
	contract := "*"
	if u.Contract != "" {
		contract = schema.EncodeToken(u.Contract)
	}
	var subjects []string
	for _, kind := range commands[u.Role] {
		subjects = append(subjects, "aiws.submit."+contract+"."+u.Token()+"."+kind)
	}
	for _, question := range Questions {
		if u.Contract == "" {
			subjects = append(subjects, question.Pattern())
		} else {
			subjects = append(subjects, question.Subject(u.Contract))
		}
	}
	return subjects
}

// Inbox is the prefix of the user's inboxes, which nobody else may read.
func (u User) Inbox() string { return wire.ReplyPrefix + u.Token() }
