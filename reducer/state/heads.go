package state

import "fmt"

// Head is the end of a ledger's chain of records.
type Head struct {
	Ledger     string
	CommandSeq uint64 // of its last record
	LogSeq     uint64 // of the block that holds it
	Hash       string
}

// Heads lists the heads of the ledgers after one, in the order of their names,
// at most limit of them; _unrouted is one of them.
func (r *Reader) Heads(after string, limit int) ([]Head, error) {
	lower := []byte{kindLedger}
	upper := []byte{kindLedger + 1}
	if after != "" {
		lower = append(appendKey(nil, kindLedger, after), 0)
	}
	var heads []Head
	var failed error
	err := r.state.rows.Scan(lower, upper, false, func(key, value []byte) bool {
		var meta Meta
		var ledger Ledger
		parts, err := splitKey(string(key))
		if err == nil {
			err = decodeRow(value, &meta, &ledger)
		}
		if err != nil {
			failed = fmt.Errorf("row %q: %w", key, err)
			return false
		}
		heads = append(heads, Head{Ledger: parts[0], CommandSeq: meta.CommandSeq, LogSeq: meta.LogSeq, Hash: ledger.Head})
		return len(heads) < limit
	})
	if err == nil {
		err = failed
	}
	return heads, err
}
