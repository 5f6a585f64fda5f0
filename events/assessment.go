package events

import "github.com/aiws-reducer/aiws-reducer/schema"

// VerificationRecorded becomes the run's current verification (RULES 8).
type VerificationRecorded struct {
	Assessor       string
	Evidence       []string
	Rationale      string
	Results        []schema.Verdict
	Revision       string
	RunID          string
	SubjectVersion int64 // the run's at that moment
}

// AcceptanceRecorded is an authority's decision on a verification (RULES 8).
type AcceptanceRecorded struct {
	Authority string
	Decision  string
	Rationale string
	Revision  string
	RunID     string
}

// AssessmentInvalidated takes back a run's current verification. Cause is the
// run that the command named, Reason is set for that run alone; More says that
// dependents are left for a further invalidate (RULES 8).
type AssessmentInvalidated struct {
	Cause    string
	More     bool
	Reason   string
	Revision string
	RunID    string
}

// The decisions of accept.
const (
	Accepted = "ACCEPTED"
	Rejected = "REJECTED"
	Deferred = "DEFERRED"
)

// ResultPass is the result of a criterion that holds.
const ResultPass = "PASS"

// Type implements [Event].
func (*VerificationRecorded) Type() string { return "verificationRecorded" }

// Type implements [Event].
func (*AcceptanceRecorded) Type() string { return "acceptanceRecorded" }

// Type implements [Event].
func (*AssessmentInvalidated) Type() string { return "assessmentInvalidated" }

// Members implements [schema.Record].
func (e *VerificationRecorded) Members(m *schema.Members) {
	m.ID("assessor", &e.Assessor)
	m.IDs("evidence", &e.Evidence)
	m.ID("rationale", &e.Rationale)
	m.Verdicts("results", &e.Results)
	m.ID("revision", &e.Revision)
	m.ID("runId", &e.RunID)
	m.Int("subjectVersion", &e.SubjectVersion)
	m.Const("type", "verificationRecorded")
}

// Members implements [schema.Record].
func (e *AcceptanceRecorded) Members(m *schema.Members) {
	m.ID("authority", &e.Authority)
	m.Enum("decision", &e.Decision, schema.Decisions)
	m.ID("rationale", &e.Rationale)
	m.ID("revision", &e.Revision)
	m.ID("runId", &e.RunID)
	m.Const("type", "acceptanceRecorded")
}

// Members implements [schema.Record].
func (e *AssessmentInvalidated) Members(m *schema.Members) {
	m.ID("cause", &e.Cause)
	m.Flag("more", &e.More)
	m.OptID("reason", &e.Reason)
	m.ID("revision", &e.Revision)
	m.ID("runId", &e.RunID)
	m.Const("type", "assessmentInvalidated")
}
