package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Run is the state of a run (RULES 4).
type Run struct {
	State          string
	Epoch          int64
	SegmentID      string
	PlanID         string
	RunPlanHash    string // "" while the active plan is not pinned
	GraphID        string
	GraphHash      string
	SubjectVersion int64
	Origin         *events.Origin
	Reserved       schema.Decimal
	Spent          schema.Decimal
	Unsettled      int64 // attempts PREPARED, DISPATCHED or UNKNOWN
	Unknown        int64 // attempts UNKNOWN
	Attempts       int64
	Operations     int64
	StartedAt      schema.Decimal
	UpdatedAt      schema.Decimal

	PausedFromWaiting bool   // PAUSED, and WAITING before that
	PendingTimers     int64  // TIMER waits whose stored state is PENDING
	Verification      string // revision of the current verification, or ""
	EndsCompleted     int64  // END nodes
	EndsSkipped       int64
}

func (r *Run) fields(c *coder) {
	c.string(&r.State)
	c.int(&r.Epoch)
	c.string(&r.SegmentID)
	c.string(&r.PlanID)
	c.string(&r.RunPlanHash)
	c.string(&r.GraphID)
	c.string(&r.GraphHash)
	c.int(&r.SubjectVersion)
	c.origin(&r.Origin)
	c.decimal(&r.Reserved)
	c.decimal(&r.Spent)
	c.int(&r.Unsettled)
	c.int(&r.Unknown)
	c.int(&r.Attempts)
	c.int(&r.Operations)
	c.decimal(&r.StartedAt)
	c.decimal(&r.UpdatedAt)
	c.bool(&r.PausedFromWaiting)
	c.int(&r.PendingTimers)
	c.string(&r.Verification)
	c.int(&r.EndsCompleted)
	c.int(&r.EndsSkipped)
}

func (c *coder) origin(p **events.Origin) {
	present := *p != nil
	c.bool(&present)
	if !present {
		return
	}
	if c.reading {
		*p = &events.Origin{}
	}
	o := *p
	c.decimal(&o.Depth)
	c.string(&o.EventID)
	c.optDecimal(&o.Slot)
	c.string(&o.TriggerID)
}

// Terminal says whether the run is over.
func (r *Run) Terminal() bool { return events.RunTerminal(r.State) }

// Run returns a run; ok is false when there is none.
func (s *State) Run(contract, runID string) (run Run, ok bool) {
	if r := get[Run](s, kindRun, contract, runID); r != nil {
		return *r, true
	}
	return Run{}, false
}

// HadSegment says whether the run ever had the segment.
func (s *State) HadSegment(contract, runID, segmentID string) bool {
	return get[mark](s, kindSegment, contract, runID, segmentID) != nil
}

// IsWorker says whether the principal or subject has worked on the run (RULES
// 2 "workers").
func (s *State) IsWorker(contract, runID, principal string) bool {
	return get[mark](s, kindWorker, contract, runID, principal) != nil
}

// PendingWait says whether the run has a pending wait at now: stored PENDING,
// and a TIMER or not past its deadline (RULES 2).
func (s *State) PendingWait(contract, runID string, now schema.Decimal) bool {
	if run := get[Run](s, kindRun, contract, runID); run != nil && run.PendingTimers > 0 {
		return true
	}
	prefix := appendKey(nil, kindPendingWait, contract, runID)
	pending := false
	s.ascend(prefix, true, func(key string) bool {
		pending = key[len(prefix):] >= string(appendPart(nil, decimalPart(now)))
		return false
	})
	return pending
}

// Plan is a pinned plan (PLANS).
type Plan struct {
	Form, RunPlanHash, Envelope string
	Identity, Params            schema.Value
	ParamsHash                  string
	PinnedSequence              uint64 // commandSeq of the pin
}

func (r *Plan) fields(c *coder) {
	c.string(&r.Form)
	c.string(&r.RunPlanHash)
	c.string(&r.Envelope)
	c.string((*string)(&r.Identity))
	c.string((*string)(&r.Params))
	c.string(&r.ParamsHash)
	c.unsigned(&r.PinnedSequence)
}

// Plan returns the pin of a run's plan; ok is false when it is not pinned.
func (s *State) Plan(contract, runID, planID string) (plan Plan, ok bool) {
	if r := get[Plan](s, kindPlan, contract, runID, planID); r != nil {
		return *r, true
	}
	return Plan{}, false
}

// PlanUnsaved says whether the row of a pin was folded from a decision of late
// and is not in the rows beneath yet: nothing can have happened to it.
func (s *State) PlanUnsaved(contract, runID, planID string) bool {
	s.scratch = appendKey(s.scratch[:0], kindPlan, contract, runID, planID)
	e := s.cache.find(s.scratch)
	return e != nil && (e.dirty || e.taken > 0)
}

// RestorePlan makes the row of a pin again what the event that pinned it made
// it, byte for byte, and returns the change that does the same to the rows
// beneath, for the caller to commit. It is for a row that was found damaged:
// the row is derived, and no decision made it so. made is the decision with the
// event and its block.
func (s *State) RestorePlan(contract string, e *events.PlanPinned, made Meta) Change {
	pin := planOf(e, made.CommandSeq)
	s.scratch = appendKey(s.scratch[:0], kindPlan, contract, e.RunID, e.PlanID)
	cached := s.cache.find(s.scratch)
	if cached == nil {
		cached = &entry{key: string(s.scratch)}
		s.cache.insert(cached)
	}
	cached.row, cached.meta = &pin, made
	return Change{Key: []byte(cached.key), Value: appendRow(nil, &made, &pin)}
}

func planOf(e *events.PlanPinned, seq uint64) Plan {
	return Plan{
		Form: e.Form, RunPlanHash: e.RunPlanHash, Envelope: e.Envelope,
		Identity: e.Identity, Params: e.Params, ParamsHash: e.ParamsHash, PinnedSequence: seq,
	}
}

// Verification is an assessment of a run (RULES 8).
type Verification struct {
	Assessor       string
	Evidence       []string
	Rationale      string
	Results        []schema.Verdict
	SubjectVersion int64
	Decision       string // ACCEPTED, REJECTED, DEFERRED or ""
	Authority      string // of that decision
	Invalidated    bool
	RecordedAt     schema.Decimal
	DecidedAt      *schema.Decimal
}

func (r *Verification) fields(c *coder) {
	c.string(&r.Assessor)
	c.strings(&r.Evidence)
	c.string(&r.Rationale)
	c.verdicts(&r.Results)
	c.int(&r.SubjectVersion)
	c.string(&r.Decision)
	c.string(&r.Authority)
	c.bool(&r.Invalidated)
	c.decimal(&r.RecordedAt)
	c.optDecimal(&r.DecidedAt)
}

func (c *coder) verdicts(p *[]schema.Verdict) {
	count := uint64(len(*p))
	c.unsigned(&count)
	if c.reading {
		if count > uint64(len(c.buf)) {
			c.fail()
			return
		}
		*p = make([]schema.Verdict, count)
	}
	for i := range *p {
		c.string(&(*p)[i].Criterion)
		c.string(&(*p)[i].Result)
	}
}

// AllPass says whether every result is PASS.
func (r *Verification) AllPass() bool {
	for _, verdict := range r.Results {
		if verdict.Result != events.ResultPass {
			return false
		}
	}
	return true
}

// Verification returns a verification of a run; ok is false when the run has
// no such revision.
func (s *State) Verification(contract, runID, revision string) (verification Verification, ok bool) {
	if r := get[Verification](s, kindVerification, contract, runID, revision); r != nil {
		return *r, true
	}
	return Verification{}, false
}

// Dependents calls f for each run that depends on the run, sorted by id, until
// f returns false (RULES 8).
func (s *State) Dependents(contract, runID string, f func(dependent string) bool) {
	prefix := appendKey(nil, kindDependent, contract, runID)
	s.ascend(prefix, false, func(key string) bool {
		dependent, _, err := splitPart(key[len(prefix):])
		if err != nil {
			s.fail(err)
			return false
		}
		return f(dependent)
	})
}

// DependsOn says whether the run depends on the other: the other proved one of
// its SUBWORKFLOW nodes.
func (s *State) DependsOn(contract, runID, other string) bool {
	prefix := appendKey(nil, kindDependent, contract, other)
	return s.contains(prefix, string(appendPart(prefix, runID)))
}
