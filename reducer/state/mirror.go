package state

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// mirrored lists the kinds of row that the KV mirror holds: those of the five
// named projections, as stored, and of missions (DESIGN 2).
var mirrored = map[byte]struct {
	projection string
	scope      string // before the id in the document's key
	empty      func() row
	ofContract bool // the row's key is the contract alone
}{
	kindAttempt:  {projection: Attempts, empty: func() row { return &Attempt{} }},
	kindExposure: {projection: Exposed, scope: "contract/", empty: func() row { return &Exposure{} }, ofContract: true},
	kindGrant:    {projection: Exposed, scope: "grant/", empty: func() row { return &Grant{} }},
	kindLedger:   {projection: Missions, empty: func() row { return &Ledger{} }, ofContract: true},
	kindRun:      {projection: Runs, empty: func() row { return &Run{} }},
	kindTrigger:  {projection: Triggers, empty: func() row { return &Trigger{} }},
	kindWait:     {projection: Waits, empty: func() row { return &Wait{} }},
}

// mirroredKinds is the kinds in the order of their keys.
var mirroredKinds = []byte{kindExposure, kindGrant, kindLedger, kindRun, kindAttempt, kindTrigger, kindWait}

// IsMirrored says whether the row of a key belongs in the KV mirror.
func IsMirrored(key []byte) bool {
	return len(key) > 0 && bytes.IndexByte(mirroredKinds, key[0]) >= 0
}

// Mirrored is the document that a row is in the KV mirror. It depends on the
// row alone, and for a mission on what its ledger was opened with, so it needs
// no snapshot. ok is false for a row that the mirror does not hold.
func (r *Reader) Mirrored(key, value []byte) (doc *Document, ok bool, err error) {
	if !IsMirrored(key) {
		return nil, false, nil
	}
	m := mirrored[key[0]]
	parts, err := splitKey(string(key))
	if err != nil {
		return nil, false, fmt.Errorf("row %q: %w", key, err)
	}
	doc = &Document{Projection: m.projection, Contract: parts[0], Key: m.scope + parts[len(parts)-1]}
	content := m.empty()
	if err := decodeRow(value, &doc.Meta, content); err != nil {
		return nil, false, fmt.Errorf("row %q: %w", key, err)
	}
	var record schema.Record
	if p, named := content.(projected); named {
		record = p.stored(parts)
	} else {
		record = readMission(r.state, parts, content)
	}
	if record == nil {
		return nil, false, r.state.err // _unrouted has no mission
	}
	doc.Value = schema.Value(schema.AppendRecord(nil, record))
	return doc, true, r.state.err
}

// ScanMirrored calls f for each row that the KV mirror holds, in the order of
// the keys, with the decision that changed it last. The key is valid during the
// call only.
func (r *Reader) ScanMirrored(f func(key []byte, changed Meta) bool) error {
	for _, kind := range mirroredKinds {
		more, failed := true, error(nil)
		prefix := []byte{kind}
		err := r.state.rows.Scan(prefix, after(prefix), false, func(key, value []byte) bool {
			if len(value) == 0 || value[0] != rowVersion {
				failed = fmt.Errorf("row %q: %w: version", key, ErrRow)
				return false
			}
			var changed Meta
			c := coder{reading: true, buf: value[1:]}
			if c.meta(&changed); c.err != nil {
				failed = fmt.Errorf("row %q: %w", key, c.err)
				return false
			}
			more = f(key, changed)
			return more
		})
		if err == nil {
			err = failed
		}
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// MirroredKey is the key of the row that a document of the KV mirror shows.
func MirroredKey(projection, contract, key string) (rowKey []byte, ok bool) {
	for _, kind := range mirroredKinds {
		m := mirrored[kind]
		id, in := strings.CutPrefix(key, m.scope)
		switch {
		case m.projection != projection || !in:
		case !m.ofContract:
			return appendKey(nil, kind, contract, id), true
		case id == contract:
			return appendKey(nil, kind, contract), true
		}
	}
	return nil, false
}

// ContractsAfter lists open ledgers in order, at most limit of those behind a
// contract ("" is before all).
func (r *Reader) ContractsAfter(contract string, limit int) ([]string, error) {
	var contracts []string
	lower := []byte{kindTerms}
	upper := after(lower)
	if contract != "" {
		lower = append(appendKey(nil, kindTerms, contract), 0)
	}
	var failed error
	err := r.state.rows.Scan(lower, upper, false, func(key, _ []byte) bool {
		parts, err := splitKey(string(key))
		if err != nil {
			failed = fmt.Errorf("row %q: %w", key, err)
			return false
		}
		contracts = append(contracts, parts[0])
		return len(contracts) < limit
	})
	if err == nil {
		err = failed
	}
	return contracts, err
}
