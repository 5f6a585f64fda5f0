package plan

import (
	"slices"

	"github.com/aiws-reducer/aiws-reducer/schema/jsontree"
)

var (
	stepKinds = []string{"agent", "moa", "gate", "approval", "wait"}
	stepKeys  = []string{
		"id", "index", "kind", "maxAttempts", "safeSpeculation", "repositories", "secrets", "requiredEvidence", "outcomes", "transitions",
		"requiresPlanHash", "assignments", "join",
	}
	stepKindKeys       = map[string][]string{"agent": {"agent"}, "moa": {"agent"}, "gate": {"gate", "expect"}, "wait": {"signal"}}
	stepOptionalKeys   = []string{"description", "instructions", "timeoutMs", "tools", "model"}
	evidenceKinds      = []string{"assignment-result", "gate", "receipt", "approval", "artifact"}
	evidenceKeys       = []string{"key", "kind", "minimum", "reusableAcrossAttempts"}
	producerPolicyKeys = []string{"minimumProducers", "eligibleAgents", "acceptedStatuses"}
	assignmentKeys     = []string{"allowedAgents", "minimum", "target", "maximum", "maxParallel", "maxAttemptsPerAssignment", "distinctBy"}
	assignmentCounts   = []string{"minimum", "target", "maximum", "maxParallel", "maxAttemptsPerAssignment"}
)

// step checks one step, and notes the gate that it names.
func (p *runPlan) step(id string) *Fault {
	n := p.steps.Get(id)
	r := reader{reason: "step"}
	r.has(n, "kind")
	kind := r.word(n.Get("kind"), stepKinds...)
	r.keys(n, slices.Concat(stepKeys, stepKindKeys[kind]), stepOptionalKeys)
	r.text(n.Get("id"))
	r.word(n.Get("id"), id)
	r.transitions(n.Get("transitions"), r.outcomes(n.Get("outcomes")))
	r.repositories(n.Get("repositories"))
	r.whole(n.Get("index"), false)
	r.optionalText(n.Get("description"))
	r.optionalText(n.Get("instructions"))
	r.whole(n.Get("maxAttempts"), true)
	r.optionalWhole(n.Get("timeoutMs"), false)
	r.flag(n.Get("safeSpeculation"))
	if tools := n.Get("tools"); tools != nil {
		r.object(tools)
	}
	r.secrets(n.Get("secrets"))
	r.evidence(n.Get("requiredEvidence"))
	r.flag(n.Get("requiresPlanHash"))
	r.assignments(n.Get("assignments"))
	r.join(n.Get("join"))
	switch kind {
	case "agent", "moa":
		r.text(n.Get("agent"))
	case "gate":
		r.word(n.Get("expect"), "pass", "fail")
		if gate := r.text(n.Get("gate")); gate != "" {
			p.gates[gate] = true
		}
	case "wait":
		r.text(n.Get("signal"))
	}
	return r.fault
}

// outcomes are unique and sorted by their UTF-16 code units.
func (r *reader) outcomes(n *jsontree.Node) []string {
	outcomes := r.texts(n)
	seen := make(map[string]bool, len(outcomes))
	for i, outcome := range outcomes {
		r.want(n.Kids[i], !seen[outcome], "unique")
		seen[outcome] = true
	}
	r.want(n, slices.IsSortedFunc(outcomes, jsontree.Compare), "sorted by UTF-16 code units")
	return outcomes
}

// transitions has one for each outcome and no others.
func (r *reader) transitions(n *jsontree.Node, outcomes []string) {
	if !r.object(n) {
		return
	}
	r.want(n, len(n.Kids) == len(outcomes), "an object with a member for each outcome")
	for _, outcome := range outcomes {
		r.want(n, n.Get(outcome) != nil, "an object with a member for each outcome")
	}
	for _, outcome := range outcomes {
		r.transition(n.Get(outcome))
	}
}

// transition: the cap is judged before the kind, and the kind decides the members.
func (r *reader) transition(n *jsontree.Node) {
	r.has(n, "to")
	to := r.text(n.Get("to"))
	r.optionalWhole(n.Get("maxTransitions"), true)
	switch to {
	case "step":
		r.keys(n, []string{"to", "target", "edge"}, []string{"maxTransitions"})
		r.word(n.Get("edge"), "forward", "back")
		r.text(n.Get("target"))
	case "terminal":
		r.keys(n, []string{"to", "terminalStatus"}, []string{"maxTransitions"})
		r.word(n.Get("terminalStatus"), "completed", "failed", "cancelled")
	default:
		r.word(n.Get("to"), "step", "terminal")
	}
}

func (r *reader) repositories(n *jsontree.Node) {
	if !r.object(n) {
		return
	}
	for _, access := range n.Kids {
		r.word(access, "none", "read", "write")
	}
}

func (r *reader) secrets(n *jsontree.Node) {
	if !r.array(n) {
		return
	}
	for _, secret := range n.Kids {
		r.object(secret)
	}
}

func (r *reader) evidence(n *jsontree.Node) {
	if !r.array(n) {
		return
	}
	for _, e := range n.Kids {
		r.keys(e, evidenceKeys, []string{"producerPolicy"})
		r.word(e.Get("kind"), evidenceKinds...)
		r.text(e.Get("key"))
		r.whole(e.Get("minimum"), true)
		r.flag(e.Get("reusableAcrossAttempts"))
		if policy := e.Get("producerPolicy"); policy != nil {
			r.producerPolicy(policy)
		}
	}
}

func (r *reader) producerPolicy(n *jsontree.Node) {
	r.keys(n, producerPolicyKeys, []string{"degradation"})
	accepted := n.Get("acceptedStatuses")
	if accepted != nil {
		r.want(accepted, accepted.Text == `["passed"]`, `["passed"]`)
	}
	if degradation := n.Get("degradation"); degradation != nil {
		r.keys(degradation, []string{"minimumProducers"}, nil)
		r.whole(degradation.Get("minimumProducers"), true)
	}
	r.whole(n.Get("minimumProducers"), true)
	r.texts(n.Get("eligibleAgents"))
}

// assignments: distinctBy and the agents are judged before the counts.
func (r *reader) assignments(n *jsontree.Node) {
	r.keys(n, assignmentKeys, []string{"maxWriteRepositories"})
	distinctBy := n.Get("distinctBy")
	if r.array(distinctBy) {
		for _, by := range distinctBy.Kids {
			r.word(by, "provider", "model", "profile")
		}
	}
	r.texts(n.Get("allowedAgents"))
	for _, name := range assignmentCounts {
		r.whole(n.Get(name), true)
	}
	r.optionalWhole(n.Get("maxWriteRepositories"), true)
}

func (r *reader) join(n *jsontree.Node) {
	r.keys(n, []string{"strategy"}, []string{"minimumPassed", "cancelRemaining"})
	r.word(n.Get("strategy"), "all", "all-settled", "quorum", "first-success")
	r.optionalWhole(n.Get("minimumPassed"), true)
	if cancel := n.Get("cancelRemaining"); cancel != nil {
		r.flag(cancel)
	}
}
