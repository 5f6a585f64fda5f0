package wire

// HeadsRequest asks for a page of the chain heads of all ledgers.
type HeadsRequest struct {
	After string `json:"after,omitempty"` // ledger: only heads after it
	Limit int    `json:"limit,omitempty"` // MaxPage when 0, and at most
}

// HeadsResponse is a page, and the head of the log itself. Where Next is given
// there may be more after it.
type HeadsResponse struct {
	AsOf       AsOf   `json:"asOf"`
	BlockHash  string `json:"blockHash"`
	Generation string `json:"generation"`
	Heads      []Head `json:"heads"`
	Next       string `json:"next,omitempty"`
	StateHash  string `json:"stateHash"`
}

// Head is the end of a ledger's chain of records.
type Head struct {
	Block  uint64 `json:"block"` // of its last record
	Hash   string `json:"hash"`
	Ledger string `json:"ledger"`
	Seq    uint64 `json:"seq"` // of its last record
}

// CheckpointRequest asks for a checkpoint of the store.
type CheckpointRequest struct{}

// CheckpointResponse is the checkpoint, which was checked.
type CheckpointResponse struct {
	AsOf      AsOf   `json:"asOf"`
	BlockHash string `json:"blockHash"`
	Bytes     int64  `json:"bytes"`
	Made      string `json:"made"` // RFC 3339
	StateHash string `json:"stateHash"`
}

// RowsRequest asks for the digest of everything that the store holds.
type RowsRequest struct{}

// RowsResponse is that digest, as package audit computes it from a replay.
type RowsResponse struct {
	AsOf   AsOf   `json:"asOf"`
	Digest string `json:"digest"`
	Rows   uint64 `json:"rows"`
}
