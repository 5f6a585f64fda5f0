package wire

// UnsettledRequest asks for a page of the attempts that are not settled, in the
// order of their keys, each with what it waits for.
type UnsettledRequest struct {
	After  string `json:"after,omitempty"` // attempt: only those after it
	Limit  int    `json:"limit,omitempty"` // DefaultPage when 0, at most MaxPage
	Run    string `json:"run,omitempty"`
	State  string `json:"state,omitempty"`  // PREPARED, DISPATCHED or UNKNOWN
	Before string `json:"before,omitempty"` // milliseconds: only those whose last event is of that time or older
}

// UnsettledResponse is a page, as ListResponse is.
type UnsettledResponse struct {
	AsOf     AsOf               `json:"asOf"`
	Attempts []UnsettledAttempt `json:"attempts"`
	Clock    string             `json:"clock"` // milliseconds: the reducer's clock, at which dispatch was judged
	Next     string             `json:"next,omitempty"`
}

// UnsettledAttempt is an attempt and what it waits for. At of the document is the time
// of its last event, by the log.
type UnsettledAttempt struct {
	Document Document `json:"document"`
	Waiting  Waiting  `json:"waiting"`
}

// What an attempt waits for.
const (
	WaitsForDispatch = "dispatch" // nothing stands in the way
	WaitsForChange   = "change"   // a dispatch would be refused now; Code and Message say why
	WaitsForSettle   = "settle"   // the call was allowed, and nobody has said for certain how it ended
)

// Waiting is what an attempt waits for. Of a PREPARED one the reducer's own
// rules say what they would answer to a dispatch now, sent by somebody who may
// send it and whose policy check was made now and allows it.
type Waiting struct {
	For     string `json:"for"`
	Code    string `json:"code,omitempty"`   // of the refusal
	Reason  string `json:"reason,omitempty"` // of the refusal
	NodeID  string `json:"nodeId,omitempty"` // for which a dispatch would be accepted, where the run has a graph
	Message string `json:"message"`          // for people
}
