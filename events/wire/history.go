package wire

import "encoding/json"

// HistoryRequest asks for a page of the decisions of a ledger, in the order of
// the log or the newest first. The filters that are given must all match.
type HistoryRequest struct {
	After     uint64 `json:"after,omitempty"`    // commandSeq: only decisions that come after it in the order asked for
	Newest    bool   `json:"newest,omitempty"`   // the newest first
	Limit     int    `json:"limit,omitempty"`    // DefaultPage when 0, at most MaxPage
	Commands  bool   `json:"commands,omitempty"` // also give the commands that were decided
	Run       string `json:"run,omitempty"`      // only what names the run, or an attempt, operation, wait or approval of it
	Outcome   string `json:"outcome,omitempty"`
	Code      string `json:"code,omitempty"`
	Principal string `json:"principal,omitempty"`
	Type      string `json:"type,omitempty"`  // of the command
	Since     string `json:"since,omitempty"` // milliseconds: only what was decided at it or after it, by the ledger's now
	Until     string `json:"until,omitempty"` // milliseconds: only what was decided at it or before it
	Wait      int64  `json:"wait,omitempty"`  // milliseconds: where there is nothing after After, wait so long for something; at most MaxWait
}

// HistoryResponse is a page. Where Next is given there may be more after it,
// also when the page holds few decisions or none: the service bounds how much
// it reads for one page.
type HistoryResponse struct {
	AsOf      AsOf      `json:"asOf"`
	Decisions []Decided `json:"decisions"`
	Next      uint64    `json:"next,omitempty"`
}

// Decided is one decision of the history.
type Decided struct {
	Block   uint64          `json:"block"`
	Command json.RawMessage `json:"command,omitempty"` // the body, where it is JSON and was asked for
	Record  json.RawMessage `json:"record"`            // as the log has it
}
