package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The bucket of the KV mirror and the stream beneath it.
const (
	Bucket       = "aiws"
	BucketStream = "KV_" + Bucket
	BucketPrefix = "$KV." + Bucket + "." // of a key, as a subject
)

// Mirrored are the projections whose rows are in the bucket, sorted.
var Mirrored = []string{"attempts", "exposure", "missions", "runs", "triggers", "waits"}

// RowVersion is that of the values in the bucket.
const RowVersion = 1

// Row is a value in the bucket: the row as stored, and which decision changed
// it last. Values in the bucket are in the order of Seq.
type Row struct {
	At    string          `json:"at"`    // the ledger's now at that decision, milliseconds
	Block uint64          `json:"block"` // sequence on the log of the block with that decision
	Row   json.RawMessage `json:"row"`
	Seq   uint64          `json:"seq"` // commandSeq of that decision
	V     int             `json:"v"`
}

// AppendRow appends the canonical value of a row.
func AppendRow(dst []byte, seq, block uint64, at schema.Decimal, row schema.Value) []byte {
	dst = append(at.Append(append(dst, `{"at":"`...)), `","block":`...)
	dst = strconv.AppendUint(dst, block, 10)
	dst = append(append(dst, `,"row":`...), row...)
	dst = strconv.AppendUint(append(dst, `,"seq":`...), seq, 10)
	return fmt.Appendf(dst, `,"v":%d}`, RowVersion)
}

// ParseRow reads a value of the bucket.
func ParseRow(value []byte) (Row, error) {
	var r Row
	if err := json.Unmarshal(value, &r); err != nil {
		return r, fmt.Errorf("mirrored row: %w", err)
	}
	if r.V != RowVersion {
		return r, fmt.Errorf("mirrored row: version %d, this build reads %d", r.V, RowVersion)
	}
	return r, nil
}

// Cursor is the value under CursorKey: all rows are as they were after that
// block, or newer. While the key is missing the rows are being compared.
type Cursor struct {
	Block      uint64 `json:"block"`
	Clean      bool   `json:"clean,omitempty"` // the writer stopped in good order
	Generation string `json:"generation"`      // of the log
	Seq        uint64 `json:"seq"`             // last command of that block
	V          int    `json:"v"`
	Writer     string `json:"writer"` // changes with every writer
}

// CursorKey is the key of a shard's cursor.
func CursorKey(shard int64) string { return fmt.Sprintf("_cursor.%d", shard) }

// exposureScopes are the scopes of the projection exposure: its keys are a scope,
// a slash and an id.
var exposureScopes = []string{"contract", "grant"}

// Key is the key in the bucket of a document of a mirrored projection.
func Key(contract, projection, key string) string {
	if projection == "exposure" {
		if scope, id, ok := strings.Cut(key, "/"); ok && slices.Contains(exposureScopes, scope) {
			return schema.KVToken(contract) + "." + projection + "." + scope + "." + schema.KVToken(id)
		}
	}
	return schema.KVToken(contract) + "." + projection + "." + schema.KVToken(key)
}

// Place is what a key of the bucket says. An id that is long stands there as a
// hash; the row itself names it.
type Place struct {
	Contract, Projection, Key string

	ContractHashed, KeyHashed bool // Contract, or the id in Key, is the hash
}

// ParseKey reads a key of the bucket; ok is false for one that is no row's.
func ParseKey(key string) (p Place, ok bool) {
	tokens := strings.Split(key, ".")
	if len(tokens) < 3 || !slices.Contains(Mirrored, tokens[1]) {
		return p, false
	}
	p.Projection = tokens[1]
	if p.Projection == "exposure" {
		if len(tokens) != 4 || !slices.Contains(exposureScopes, tokens[2]) {
			return p, false
		}
		p.Key = tokens[2] + "/"
	} else if len(tokens) != 3 {
		return p, false
	}
	id := ""
	p.Contract, p.ContractHashed = decodeOrHash(tokens[0])
	id, p.KeyHashed = decodeOrHash(tokens[len(tokens)-1])
	p.Key += id
	return p, true
}

func decodeOrHash(token string) (id string, hashed bool) {
	if id, ok := schema.DecodeToken(token); ok {
		return id, false
	}
	return token, true
}

// idMembers names the member of a row that holds the id of its key.
var idMembers = map[string]string{
	"attempts": "attemptId", "exposure": "id", "missions": "contractId", "runs": "runId", "triggers": "triggerId", "waits": "waitId",
}

// Named is the place with the id from its row where the key has a hash. contract
// is the one that was asked for; "" where it is not known.
func (p Place) Named(contract string, row json.RawMessage) Place {
	if p.ContractHashed && contract != "" {
		p.Contract, p.ContractHashed = contract, false
	}
	if !p.KeyHashed {
		return p
	}
	var members map[string]json.RawMessage
	var id string
	if json.Unmarshal(row, &members) == nil && json.Unmarshal(members[idMembers[p.Projection]], &id) == nil {
		scope, _, _ := strings.Cut(p.Key, "=sha256=")
		p.Key, p.KeyHashed = scope+id, false
	}
	return p
}

// Filter is the keys of a contract and a projection, as a subject of the
// stream beneath the bucket; "" stands for all.
func Filter(contract, projection string) string {
	token := func(id string) string {
		if id == "" {
			return "*"
		}
		return schema.KVToken(id)
	}
	return BucketPrefix + token(contract) + "." + token(projection) + ".>"
}
