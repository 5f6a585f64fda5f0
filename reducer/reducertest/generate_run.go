package reducertest

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// liveRun is a run that is not over, if a few tries find one; a RUNNING one
// rather than another.
func (g *Generator) liveRun(l *memory) string {
	found := g.late(l.runs)
	for range 8 {
		id := g.late(l.runs)
		run, _ := g.state.Run(l.contract, id)
		if run.State == events.RunRunning {
			return id
		}
		if !run.Terminal() {
			found = id
		}
	}
	return found
}

func (g *Generator) startRun(l *memory) (schema.Command, string) {
	if run, _ := g.state.Run(l.contract, g.liveRun(l)); run.State == events.RunRunning && g.chance(60) {
		return g.work(l) // there is enough to do
	}
	if len(l.graphs) > 0 && g.chance(60) {
		for range 4 {
			id := g.late(l.runs)
			if run, ok := g.state.Run(l.contract, id); ok && run.GraphID == "" && run.Operations == 0 {
				return &schema.AttachGraph{RunID: id, GraphID: g.late(l.graphs)}, "agent"
			}
		}
	}
	return &schema.StartRun{RunID: g.id("r")}, "agent"
}

// work takes the next step of a run.
func (g *Generator) work(l *memory) (schema.Command, string) {
	if len(l.runs) == 0 {
		return g.startRun(l)
	}
	id := g.liveRun(l)
	run, _ := g.state.Run(l.contract, id)
	switch {
	case g.chance(6):
		return &schema.Transition{RunID: id, To: g.pick(schema.RunStates...)}, "agent"
	case g.chance(2):
		return &schema.ContinueRun{RunID: id, SegmentID: g.id("seg")}, "agent"
	case g.chance(3), l.terms != nil && l.terms.Policy.RequirePinnedPlan && run.RunPlanHash == "" && g.chance(60):
		return g.plan(l, id, &run)
	case g.chance(6):
		return g.wait(id)
	case run.State == events.RunReady && len(l.graphs) > 0 && run.GraphID == "" && run.Operations == 0 && (g.graphs || g.chance(40)):
		return &schema.AttachGraph{RunID: id, GraphID: g.late(l.graphs)}, "agent"
	case run.State == events.RunReady:
		return &schema.Transition{RunID: id, To: events.RunRunning}, "agent"
	case run.State == events.RunWaiting || run.State == events.RunPaused:
		return &schema.Transition{RunID: id, To: events.RunReady}, "agent"
	case run.State == events.RunCanceling:
		return &schema.Transition{RunID: id, To: events.RunCanceled}, "agent"
	}
	return g.running(l, id, &run)
}

// running works in a run that is RUNNING.
func (g *Generator) running(l *memory, id string, run *state.Run) (schema.Command, string) {
	if graph := g.state.Graph(l.contract, run.GraphID); graph != nil && g.chance(75) {
		if command, principal := g.node(l, id, run, graph); command != nil {
			return command, principal
		}
	}
	switch {
	case run.Unsettled == 0 && run.Operations > 2 && g.chance(30), run.Operations == 0 && g.chance(4):
		return &schema.Transition{RunID: id, To: events.RunCompleted}, "agent"
	case run.Operations > 0 && g.chance(55):
		return g.attempt(l)
	}
	return g.admit(l, id)
}

func (g *Generator) plan(l *memory, runID string, run *state.Run) (schema.Command, string) {
	planID := g.pick("p1", "p2", "p3")
	if g.chance(4) {
		planID = events.PlanNone
	}
	if plan, pinned := g.state.Plan(l.contract, runID, planID); !pinned && g.chance(60) || g.chance(20) {
		document := schema.Value(g.pick(`{}`, `[1,2.5,"x"]`, `{"a":{"b":null}}`, `"\u0000"`))
		if pinned && g.chance(60) {
			document = schema.Value(plan.Envelope)
		}
		return &schema.PinPlan{RunID: runID, PlanID: planID, Form: schema.FormOpaque, Document: document}, "agent"
	}
	expected := run.PlanID
	if expected == "" {
		expected = events.PlanNone
	}
	return &schema.ActivatePlan{RunID: runID, PlanID: planID, ExpectedPlan: expected}, "agent"
}

func (g *Generator) wait(runID string) (schema.Command, string) {
	id := g.id("w")
	return &schema.Wait{
		RunID: runID, WaitID: id, Correlation: "for-" + id[:2], Deadline: g.from(1, 4000), Kind: g.pick(schema.WaitKinds...),
	}, "agent"
}

func (g *Generator) resume(l *memory) (schema.Command, string) {
	id := g.late(l.waits)
	for range 5 {
		if wait, ok := g.state.Wait(l.contract, id); ok && wait.State == state.WaitPending {
			break
		}
		id = g.late(l.waits)
	}
	wait, ok := g.state.Wait(l.contract, id)
	if !ok {
		wait.Correlation = "any"
	}
	return &schema.Resume{WaitID: id, Correlation: wait.Correlation}, "host"
}

func (g *Generator) join(l *memory) (schema.Command, string) {
	first := g.late(l.waits)
	wait, _ := g.state.Wait(l.contract, first)
	if wait.RunID == "" {
		wait.RunID = "none"
	}
	waits := []string{first}
	for range g.rng.IntN(3) {
		id := g.late(l.waits)
		if other, ok := g.state.Wait(l.contract, id); ok && other.RunID == wait.RunID && id != first {
			waits = []string{first, id}
		}
	}
	return &schema.Join{RunID: wait.RunID, WaitIDs: waits, Mode: g.pick(schema.JoinModes...)}, "agent"
}

// assess verifies a run, decides on a verification or invalidates one.
func (g *Generator) assess(l *memory) (schema.Command, string) {
	id := g.late(l.runs)
	for range 5 {
		if run, _ := g.state.Run(l.contract, id); run.Unsettled == 0 && (run.Verification != "" || run.Operations > 0) {
			break
		}
		id = g.late(l.runs)
	}
	switch n := g.rng.IntN(10); {
	case n < 5:
		return g.verify(l, id)
	case n < 9:
		authority := g.pick("owner", "owner", "manager", "auditor")
		revision := g.late(l.revisions[id])
		if run, _ := g.state.Run(l.contract, id); run.Verification != "" && g.chance(80) {
			revision = run.Verification
		}
		return &schema.Accept{
			RunID: id, Authority: authority, VerificationRevision: revision,
			Decision: g.pick("ACCEPTED", "ACCEPTED", "REJECTED", "DEFERRED"), Rationale: "so",
		}, authority
	}
	return &schema.Invalidate{RunID: id, Reason: "wrong"}, "auditor"
}

func (g *Generator) verify(l *memory, runID string) (schema.Command, string) {
	assessor := g.pick("auditor", "auditor", "manager", "helper")
	v := &schema.Verify{RunID: runID, Assessor: assessor, Revision: g.id("v"), Rationale: "seen"}
	if g.chance(90) {
		v.Evidence = []string{"log"}
	}
	if l.terms == nil {
		return v, assessor
	}
	for _, criterion := range []string{"safe", "works"} {
		for _, wanted := range l.terms.Contract.Criteria {
			if wanted == criterion {
				v.Results = append(v.Results, schema.Verdict{Criterion: criterion, Result: g.pick("PASS", "PASS", "PASS", "FAIL")})
			}
		}
	}
	return v, assessor
}
