package state

import (
	"fmt"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The five named projections (RULES 12): they are hashed, mirrored and part of
// the state digest.
const (
	Runs     = "runs"
	Exposed  = "exposure"
	Attempts = "attempts"
	Waits    = "waits"
	Triggers = "triggers"
)

// Named lists the five named projections, sorted.
var Named = []string{Attempts, Exposed, Runs, Triggers, Waits}

// projected is a row that is a document of a named projection.
type projected interface {
	row
	projection() string
	// documentKey is the document's key, given the parts of the row's key.
	documentKey(parts []string) string
	// stored is the document as stored: with nothing that depends on another
	// row or on the time of reading.
	stored(parts []string) schema.Record
}

// runDocument is a row of runs (RULES 12). Members lists it.
type runDocument struct {
	id string
	*Run
}

func (*Run) projection() string                    { return Runs }
func (*Run) documentKey(parts []string) string     { return parts[1] }
func (r *Run) stored(parts []string) schema.Record { return &runDocument{parts[1], r} }

// Members implements [schema.Record].
func (d *runDocument) Members(m *schema.Members) {
	m.Int("attempts", &d.Attempts)
	m.Int("epoch", &d.Epoch)
	m.OptText("graphHash", &d.GraphHash)
	m.OptID("graphId", &d.GraphID)
	schema.OptRecord(m, "origin", &d.Origin)
	m.ID("planId", &d.PlanID)
	m.Sum("reserved", &d.Reserved)
	m.ID("runId", &d.id)
	m.OptText("runPlanHash", &d.RunPlanHash)
	m.OptID("segmentId", &d.SegmentID)
	m.Sum("spent", &d.Spent)
	m.Sum("startedAt", &d.StartedAt)
	m.Enum("state", &d.State, schema.RunStates)
	m.Int("subjectVersion", &d.SubjectVersion)
	m.Int("unsettled", &d.Unsettled)
	m.Sum("updatedAt", &d.UpdatedAt)
}

// exposureDocument is a row of exposure: of a contract or of a grant.
type exposureDocument struct {
	scope, id, subject       string
	budget, reserved, spent  schema.Decimal
	available, over, unknown schema.Decimal
	revoked                  bool
}

func (*Exposure) projection() string                { return Exposed }
func (*Exposure) documentKey(parts []string) string { return "contract/" + parts[0] }
func (r *Exposure) stored(parts []string) schema.Record {
	d := newExposure("contract", parts[0], r.Budget, r.Reserved, r.Spent)
	d.unknown = r.Unknown
	return d
}

func (*Grant) projection() string                { return Exposed }
func (*Grant) documentKey(parts []string) string { return "grant/" + parts[1] }
func (r *Grant) stored(parts []string) schema.Record {
	d := newExposure("grant", parts[1], r.Limit, r.Reserved, r.Spent)
	d.subject, d.revoked = r.Subject, r.Revoked
	return d
}

func newExposure(scope, id string, budget, reserved, spent schema.Decimal) *exposureDocument {
	used := reserved.Add(spent)
	return &exposureDocument{
		scope: scope, id: id, budget: budget, reserved: reserved, spent: spent,
		available: budget.SubFloor(used), over: used.SubFloor(budget),
	}
}

// Members implements [schema.Record].
func (d *exposureDocument) Members(m *schema.Members) {
	m.Sum("available", &d.available)
	if d.scope == "contract" {
		m.Sum("budget", &d.budget)
	}
	m.ID("id", &d.id)
	if d.scope == "grant" {
		m.Sum("limit", &d.budget)
	}
	m.Sum("overrun", &d.over)
	m.Sum("reserved", &d.reserved)
	if d.scope == "grant" {
		m.Bool("revoked", &d.revoked)
	}
	m.Text("scope", &d.scope)
	m.Sum("spent", &d.spent)
	m.OptText("subject", &d.subject)
	if d.scope == "contract" {
		m.Sum("unknown", &d.unknown)
	}
}

type attemptDocument struct {
	id string
	*Attempt
}

func (*Attempt) projection() string                    { return Attempts }
func (*Attempt) documentKey(parts []string) string     { return parts[1] }
func (r *Attempt) stored(parts []string) schema.Record { return &attemptDocument{parts[1], r} }

// Members implements [schema.Record].
func (d *attemptDocument) Members(m *schema.Members) {
	m.Sum("amount", &d.Amount)
	m.OptID("approvalId", &d.ApprovalID)
	m.ID("attemptId", &d.id)
	m.ID("capability", &d.Capability)
	m.OptSum("dispatchedAt", &d.DispatchedAt)
	m.Flag("disputed", &d.Disputed)
	m.Int("epoch", &d.Epoch)
	m.Text("fingerprint", &d.Fingerprint)
	m.ID("grantId", &d.GrantID)
	m.OptID("nodeId", &d.NodeID)
	m.Int("number", &d.Number)
	m.ID("operationId", &d.OperationID)
	m.Sum("preparedAt", &d.PreparedAt)
	m.Sum("reserved", &d.Reserved)
	m.ID("resource", &d.Resource)
	m.ID("runId", &d.RunID)
	m.OptSum("settledAt", &d.SettledAt)
	m.Sum("spent", &d.Spent)
	m.Text("state", &d.State)
	m.ID("subject", &d.Subject)
}

type waitDocument struct {
	id    string
	state string
	*Wait
}

func (*Wait) projection() string                    { return Waits }
func (*Wait) documentKey(parts []string) string     { return parts[1] }
func (r *Wait) stored(parts []string) schema.Record { return &waitDocument{parts[1], r.State, r} }

// Members implements [schema.Record].
func (d *waitDocument) Members(m *schema.Members) {
	m.ID("correlation", &d.Correlation)
	m.Sum("createdAt", &d.CreatedAt)
	m.Sum("deadline", &d.Deadline)
	m.Text("kind", &d.Kind)
	m.ID("runId", &d.RunID)
	m.OptSum("satisfiedAt", &d.SatisfiedAt)
	m.Text("state", &d.state)
	m.ID("waitId", &d.id)
}

type triggerDocument struct {
	id string
	*Trigger
}

func (*Trigger) projection() string                    { return Triggers }
func (*Trigger) documentKey(parts []string) string     { return parts[1] }
func (r *Trigger) stored(parts []string) schema.Record { return &triggerDocument{parts[1], r} }

// Members implements [schema.Record].
func (d *triggerDocument) Members(m *schema.Members) {
	m.Text("action", &d.Action)
	m.OptBool("condition", &d.Condition)
	m.OptSum("cursor", &d.Cursor)
	m.Bool("enabled", &d.Enabled)
	m.Int("fired", &d.Fired)
	m.Text("kind", &d.Kind)
	m.OptSum("lastFiredAt", &d.LastFiredAt)
	m.Int("live", &d.Live)
	m.Text("revision", &d.Revision)
	m.ID("triggerId", &d.id)
}

// Document is a document of a projection as read.
type Document struct {
	Projection string
	Contract   string
	Key        string
	Value      schema.Value // canonical JSON
	Meta       Meta         // of the row that it shows
}

// AppendLine appends the document's canonical line, without a newline: what
// `fold --state` prints and what the state digest covers (DESIGN 4).
func (d *Document) AppendLine(dst []byte) []byte {
	dst = schema.AppendString(append(dst, `{"contract":`...), d.Contract)
	dst = schema.AppendString(append(dst, `,"key":`...), d.Key)
	dst = schema.AppendString(append(dst, `,"projection":`...), d.Projection)
	dst = append(append(dst, `,"value":`...), d.Value...)
	return append(dst, '}')
}

// Reader reads documents from rows: committed ones, so that it can be used
// beside a State (on a snapshot). One Reader is for one goroutine.
type Reader struct {
	state *State
}

// NewReader returns a reader of rows.
func NewReader(rows Rows) *Reader {
	return &Reader{state: New(rows, Cursor{}, 1000)}
}

// State gives the read methods of a State over the same rows.
func (r *Reader) State() *State { return r.state }

// Documents calls f for each document of a projection, sorted by contract and
// key, until f returns false. contract "" means all ledgers; from is the first
// key wanted (of one contract only), "" for all.
func (r *Reader) Documents(projection, contract, from string, f func(*Document) bool) error {
	p, ok := projections[projection]
	if !ok {
		return fmt.Errorf("no projection %q", projection)
	}
	contracts := []string{contract}
	if contract == "" {
		var err error
		if contracts, err = r.Contracts(); err != nil {
			return err
		}
	}
	for _, c := range contracts {
		more, err := r.scan(projection, p, c, from, f)
		if err != nil || !more {
			return err
		}
	}
	return r.state.Err()
}

func (r *Reader) scan(projection string, p sources, contract, from string, f func(*Document) bool) (bool, error) {
	if projection == Nodes {
		return r.scanNodes(contract, from, f)
	}
	return p.scan(r, projection, contract, from, f)
}

// Get returns one document; ok is false when there is none.
func (r *Reader) Get(projection, contract, key string) (doc *Document, ok bool, err error) {
	err = r.Documents(projection, contract, key, func(d *Document) bool {
		if d.Key == key {
			doc, ok = d, true
		}
		return false
	})
	return doc, ok, err
}

// Contracts lists the open ledgers, sorted.
func (r *Reader) Contracts() ([]string, error) {
	var contracts []string
	prefix := []byte{kindTerms}
	var failed error
	err := r.state.rows.Scan(prefix, after(prefix), false, func(key, _ []byte) bool {
		parts, err := splitKey(string(key))
		if err != nil {
			failed = err
			return false
		}
		contracts = append(contracts, parts[0])
		return true
	})
	if err == nil {
		err = failed
	}
	return contracts, err
}
