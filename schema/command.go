package schema

// Command is one of the 27 commands: the 25 of the wire schema, in a file per subject, and the host's two, in host.go. A
// command's Go fields are named after its members.
type Command interface {
	Record
	// Type returns the member "type", which is also the last token of the subject.
	Type() string
	// Ctx returns the member "context", or nil where it is absent.
	Ctx() *Context
}

// CommandTypes are the types of all commands, the wire schema's in its order, then the host's.
var CommandTypes = []string{
	"startRun",
	"continueRun",
	"activatePlan",
	"missionState",
	"grant",
	"revokeGrant",
	"approve",
	"withdrawApproval",
	"admit",
	"dispatch",
	"settle",
	"retry",
	"wait",
	"resume",
	"join",
	"transition",
	"verify",
	"accept",
	"invalidate",
	"tickTrigger",
	"registerTrigger",
	"fireTrigger",
	"registerGraph",
	"attachGraph",
	"completeNode",
	"openContract",
	"pinPlan",
}

// IsCommandType reports whether t is the type of a command.
func IsCommandType(t string) bool { return newCommand(t) != nil }

// newCommand returns an empty command of the given type, or nil if there is none.
func newCommand(t string) Command {
	switch t {
	case "startRun":
		return new(StartRun)
	case "continueRun":
		return new(ContinueRun)
	case "activatePlan":
		return new(ActivatePlan)
	case "missionState":
		return new(MissionState)
	case "grant":
		return new(IssueGrant)
	case "revokeGrant":
		return new(RevokeGrant)
	case "approve":
		return new(Approve)
	case "withdrawApproval":
		return new(WithdrawApproval)
	case "admit":
		return new(Admit)
	case "dispatch":
		return new(Dispatch)
	case "settle":
		return new(Settle)
	case "retry":
		return new(Retry)
	case "wait":
		return new(Wait)
	case "resume":
		return new(Resume)
	case "join":
		return new(Join)
	case "transition":
		return new(Transition)
	case "verify":
		return new(Verify)
	case "accept":
		return new(Accept)
	case "invalidate":
		return new(Invalidate)
	case "tickTrigger":
		return new(TickTrigger)
	case "registerTrigger":
		return new(RegisterTrigger)
	case "fireTrigger":
		return new(FireTrigger)
	case "registerGraph":
		return new(RegisterGraph)
	case "attachGraph":
		return new(AttachGraph)
	case "completeNode":
		return new(CompleteNode)
	case "openContract":
		return new(OpenContract)
	case "pinPlan":
		return new(PinPlan)
	}
	return nil
}
