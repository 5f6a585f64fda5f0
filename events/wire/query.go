package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// AsOf says which state an answer is of: everything up to that command, and
// nothing after it.
type AsOf struct {
	Block uint64 `json:"block"`
	Seq   uint64 `json:"seq"`
}

// Document is one document of a projection.
type Document struct {
	At    string          `json:"at"`
	Block uint64          `json:"block"`
	Key   string          `json:"key"`
	Row   json.RawMessage `json:"row"`
	Seq   uint64          `json:"seq"`
}

// GetRequest asks for one document.
type GetRequest struct {
	Projection string `json:"projection"`
	Key        string `json:"key"`
}

// GetResponse is the document.
type GetResponse struct {
	AsOf     AsOf     `json:"asOf"`
	Document Document `json:"document"`
}

// Bounds of a page of a list.
const (
	DefaultPage = 100
	MaxPage     = 1000
)

// ListRequest asks for a page of documents in the order of their keys. The
// filters that are given must all match; a document without the member does not.
type ListRequest struct {
	Projection string `json:"projection"`
	After      string `json:"after,omitempty"`   // key: only documents after it
	Limit      int    `json:"limit,omitempty"`   // DefaultPage when 0, at most MaxPage
	Run        string `json:"run,omitempty"`     // member runId
	State      string `json:"state,omitempty"`   // member state
	Outcome    string `json:"outcome,omitempty"` // member outcome, of decisions
}

// ListResponse is a page. Where Next is given there may be more after it, also
// when the page holds few documents or none: the service bounds how much it
// reads for one page.
type ListResponse struct {
	AsOf      AsOf       `json:"asOf"`
	Documents []Document `json:"documents"`
	Next      string     `json:"next,omitempty"`
}

// DecisionRequest asks for a decision, by the principal and the command id or
// by the sequence.
type DecisionRequest struct {
	Principal  string `json:"principal,omitempty"`
	CommandID  string `json:"commandId,omitempty"`
	CommandSeq uint64 `json:"commandSeq,omitempty"`
}

// DecisionResponse is the decision record as the log has it. That none is found
// is never final: the command may still wait.
type DecisionResponse struct {
	AsOf   AsOf            `json:"asOf"`
	Block  uint64          `json:"block"`
	Final  bool            `json:"final"` // false: the same id may be decided again
	Record json.RawMessage `json:"record"`
}

// PlanRequest asks for a pinned plan, rehydrated. Without PlanID it is the
// run's active plan.
type PlanRequest struct {
	RunID  string `json:"runId"`
	PlanID string `json:"planId,omitempty"`
}

// PlanResponse is the plan after all checks: its text hashes to RunPlanHash.
type PlanResponse struct {
	AsOf           AsOf            `json:"asOf"`
	Form           string          `json:"form"`
	Identity       json.RawMessage `json:"identity,omitempty"`
	Params         json.RawMessage `json:"params,omitempty"`
	PinnedSequence uint64          `json:"pinnedSequence"`
	Plan           json.RawMessage `json:"plan"`
	PlanID         string          `json:"planId"`
	RunID          string          `json:"runId"`
	RunPlanHash    string          `json:"runPlanHash"`
}

// ContractsRequest asks for a page of the open ledgers.
type ContractsRequest struct {
	After string `json:"after,omitempty"` // contract id
	Limit int    `json:"limit,omitempty"`
}

// ContractsResponse is a page of ledgers: their documents of the projection
// missions, keyed by contract.
type ContractsResponse = ListResponse

// DigestResponse is the digest of the five named projections (DESIGN 4).
type DigestResponse struct {
	AsOf        AsOf   `json:"asOf"`
	StateDigest string `json:"stateDigest"`
}

// StatusResponse tells what runs.
type StatusResponse struct {
	Archive      *ArchiveStatus    `json:"archive,omitempty"`
	AsOf         AsOf              `json:"asOf"`
	Build        string            `json:"build"`
	Checkpoint   *CheckpointStatus `json:"checkpoint,omitempty"`
	FreeBytes    uint64            `json:"freeBytes,omitempty"` // on the disk of the data directory
	Generation   string            `json:"generation"`
	LogEnd       uint64            `json:"logEnd"` // last block of the log when the term began
	Mirror       *MirrorStatus     `json:"mirror,omitempty"`
	Phase        string            `json:"phase"`
	Ready        bool              `json:"ready"`
	Reason       string            `json:"reason,omitempty"` // why it is not ready
	RulesVersion int64             `json:"rulesVersion"`
	Scrub        *ScrubStatus      `json:"scrub,omitempty"`
	Shard        int64             `json:"shard"`
	Shards       int64             `json:"shards"`
	Since        string            `json:"since,omitempty"` // RFC 3339: of phase and reason
	Sync         string            `json:"sync,omitempty"`  // of an embedded server: always, interval
	Terms        int               `json:"terms"`
	Writer       string            `json:"writer"`
}

// MirrorStatus tells how far the KV mirror is.
type MirrorStatus struct {
	AsOf  AsOf   `json:"asOf"`
	Phase string `json:"phase"`           // waiting, comparing, live
	Error string `json:"error,omitempty"` // what the last session ended with
}

// CheckpointStatus tells of the newest checkpoint of the store.
type CheckpointStatus struct {
	AsOf  AsOf   `json:"asOf"`            // 0: there is none
	Made  string `json:"made,omitempty"`  // RFC 3339
	Error string `json:"error,omitempty"` // why the last one was not made
}

// ScrubStatus tells when the log and what is derived from it were last read
// through and found in order, each in RFC 3339; "" is not yet.
type ScrubStatus struct {
	Block   uint64 `json:"block"`            // of the log, where its reading is under way
	Passed  string `json:"passed,omitempty"` // the log
	Archive string `json:"archivePassed,omitempty"`
	Store   string `json:"storePassed,omitempty"`
	Mirror  string `json:"mirrorPassed,omitempty"`
}

// ArchiveStatus tells how far the second copy of the log is.
type ArchiveStatus struct {
	Block   uint64 `json:"block"` // last block that is on disk in the archive
	Dir     string `json:"dir"`
	Error   string `json:"error,omitempty"`   // what keeps it from going on
	Lag     uint64 `json:"lag"`               // blocks of the log after that
	Missing uint64 `json:"missing,omitempty"` // damaged blocks before it that are being written again
}

// Decode reads a request strictly into one of the request types. An empty
// payload is an empty request. The error is a BadRequest.
func Decode(data []byte, request any) error {
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}")
	}
	canonical, err := schema.Canonical(data)
	if err != nil {
		return Errorf(BadRequest, "the request is not JSON: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.DisallowUnknownFields()
	if err := d.Decode(request); err != nil {
		return Errorf(BadRequest, "the request: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Errorf(BadRequest, "the request is more than one JSON value")
	}
	return nil
}

// StatusRequest asks what runs; there is nothing to say.
type StatusRequest struct{}

// DigestRequest asks for the digest; there is nothing to say.
type DigestRequest struct{}
