package state

import (
	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// Ledger is the head of a ledger. The ledger _unrouted has one too, with no
// mission.
type Ledger struct {
	Now     schema.Decimal // milliseconds; never falls
	Head    string         // hash of its last record, or events.ZeroHash
	Mission string         // "" while the ledger is not open
}

func (r *Ledger) fields(c *coder) {
	c.decimal(&r.Now)
	c.string(&r.Head)
	c.string(&r.Mission)
}

// Open says whether the ledger was opened.
func (r *Ledger) Open() bool { return r.Mission != "" }

// Ledger returns the head of a ledger; a ledger that has no record yet has the
// zero hash and now 0.
func (s *State) Ledger(contract string) Ledger {
	if r := get[Ledger](s, kindLedger, contract); r != nil {
		return *r
	}
	return Ledger{Head: events.ZeroHash}
}

// Terms is what a ledger was opened with. It never changes; callers must not
// write to it.
type Terms struct {
	Contract schema.Contract
	Policy   events.Policy

	text     string
	actions  map[string]bool
	resource map[string]bool
	allow    map[string]map[string]bool
	actFor   map[string]map[string]bool
	models   map[string]bool
}

func (r *Terms) fields(c *coder) {
	c.string(&r.text)
	if !c.reading || c.err != nil {
		return
	}
	var opened events.ContractOpened
	if err := schema.DecodeRecord([]byte(r.text), &opened); err != nil {
		c.err = err
		return
	}
	r.set(&opened)
}

func (r *Terms) set(e *events.ContractOpened) {
	r.Contract, r.Policy = e.Contract, e.Policy
	r.actions, r.resource = setOf(e.Contract.Actions), setOf(e.Contract.Resources)
	r.models = setOf(e.Policy.Models)
	r.allow = listsOf(e.Policy.Allow)
	if e.Policy.ActFor != nil {
		r.actFor = listsOf(*e.Policy.ActFor)
	}
}

func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, item := range list {
		set[item] = true
	}
	return set
}

func listsOf(lists []schema.PrincipalList) map[string]map[string]bool {
	sets := make(map[string]map[string]bool, len(lists))
	for _, list := range lists {
		sets[list.Key] = setOf(list.Principals)
	}
	return sets
}

// HasAction says whether the contract has the capability.
func (r *Terms) HasAction(capability string) bool { return r.actions[capability] }

// HasResource says whether the contract has the resource.
func (r *Terms) HasResource(resource string) bool { return r.resource[resource] }

// IsModel says whether the policy names the principal a model.
func (r *Terms) IsModel(principal string) bool { return r.models[principal] }

// Allowed says whether policy.allow lets the principal send the type: listed,
// or no list for the type.
func (r *Terms) Allowed(commandType, principal string) bool {
	list, ok := r.allow[commandType]
	return !ok || list[principal]
}

// Listed says whether policy.allow lists the principal for the type.
func (r *Terms) Listed(commandType, principal string) bool {
	return r.allow[commandType][principal]
}

// MayActFor says whether the principal may act for the subject (RULES 2
// "acting").
func (r *Terms) MayActFor(principal, subject string) bool {
	return r.actFor == nil || principal == subject || r.actFor[subject][principal]
}

// Terms returns what an open ledger was opened with, or nil.
func (s *State) Terms(contract string) *Terms {
	return get[Terms](s, kindTerms, contract)
}

// Exposure is the money of a contract.
type Exposure struct {
	Budget, Reserved, Spent schema.Decimal
	Unknown                 schema.Decimal // what UNKNOWN attempts reserve
}

func (r *Exposure) fields(c *coder) {
	c.decimal(&r.Budget)
	c.decimal(&r.Reserved)
	c.decimal(&r.Spent)
	c.decimal(&r.Unknown)
}

// Exposure returns the figures of an open contract.
func (s *State) Exposure(contract string) Exposure {
	if r := get[Exposure](s, kindExposure, contract); r != nil {
		return *r
	}
	return Exposure{}
}

// Receipt is the first decision of a principal's command id in a ledger.
type Receipt struct {
	CommandSeq uint64
	BodyHash   string
	Outcome    events.Outcome
	Code       events.Code
}

func (r *Receipt) fields(c *coder) {
	c.unsigned(&r.CommandSeq)
	c.string(&r.BodyHash)
	c.string((*string)(&r.Outcome))
	c.string((*string)(&r.Code))
}

// Receipt returns the receipt of a command id; ok is false when the ledger has
// no decision for it.
func (s *State) Receipt(contract, principal, commandID string) (receipt Receipt, ok bool) {
	if r := get[Receipt](s, kindReceipt, contract, principal, commandID); r != nil {
		return *r, true
	}
	return Receipt{}, false
}

// Decided is the index entry of a decision; the record itself is in the block
// that its Meta names.
type Decided struct {
	CommandSeq uint64
	CommandID  string
	Contract   string // as the record names it; in _unrouted it may be any
	Principal  string
	Type       string
	At         schema.Decimal
	Outcome    events.Outcome
	Code       events.Code
	Reason     string
	Events     []string // types, in order

	ledger string // whose chain holds the record
}

func (r *Decided) fields(c *coder) {
	c.unsigned(&r.CommandSeq)
	c.string(&r.CommandID)
	c.string(&r.Contract)
	c.string(&r.Principal)
	c.string(&r.Type)
	c.decimal(&r.At)
	c.string((*string)(&r.Outcome))
	c.string((*string)(&r.Code))
	c.string(&r.Reason)
	c.strings(&r.Events)
}

// DecisionBlock is the sequence, on the log, of the block with the ledger's
// decision on a command; ok is false when the ledger has none, or while that
// block is not sealed.
func (s *State) DecisionBlock(ledger string, commandSeq uint64) (logSeq uint64, ok bool) {
	value, err := s.rows.Get(appendKey(nil, kindDecision, ledger, sequencePart(commandSeq)))
	if err != nil {
		s.fail(err)
	}
	if value == nil {
		return 0, false
	}
	var meta Meta
	if err := decodeRow(value, &meta, &Decided{}); err != nil {
		s.fail(err)
		return 0, false
	}
	return meta.LogSeq, true
}
