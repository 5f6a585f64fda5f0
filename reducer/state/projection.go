package state

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/schema"
)

// The projections beside the named ones. Their form is ours; no digest covers
// them.
const (
	Missions    = "missions"
	Grants      = "grants"
	Approvals   = "approvals"
	Operations  = "operations"
	Plans       = "plans"
	Graphs      = "graphs"
	Nodes       = "nodes"
	Assessments = "assessments"
	Decisions   = "decisions"
)

// Projections lists every projection, sorted.
func Projections() []string { return slices.Sorted(maps.Keys(projections)) }

// source is the rows of one kind that make the documents of a projection.
type source struct {
	kind  byte
	empty func() row
	// key is the document's key, given the parts of the row's key.
	key func(parts []string) string
	// seek gives the parts after the contract at which a document with a key
	// of at least from begins; ok is false when there is none in this source.
	seek func(contract, from string) (parts []string, ok bool)
	read func(s *State, parts []string, r row) schema.Record
}

type sources []source

// projections is the table of what can be shown.
var projections = map[string]sources{
	Runs:     {plain(kindRun, func() row { return &Run{} }, readStored)},
	Attempts: {plain(kindAttempt, func() row { return &Attempt{} }, readStored)},
	Triggers: {plain(kindTrigger, func() row { return &Trigger{} }, readStored)},
	Waits:    {plain(kindWait, func() row { return &Wait{} }, readWait)},
	Exposed: {
		scoped("contract/", kindExposure, func() row { return &Exposure{} }, readStored),
		scoped("grant/", kindGrant, func() row { return &Grant{} }, readGrantExposure),
	},
	Missions:    {ledgerSource()},
	Grants:      {plain(kindGrant, func() row { return &Grant{} }, readGrant)},
	Approvals:   {plain(kindApproval, func() row { return &Approval{} }, readApproval)},
	Operations:  {plain(kindOperation, func() row { return &Operation{} }, readOperation)},
	Graphs:      {plain(kindGraph, func() row { return &Graph{} }, readGraph)},
	Plans:       {paired(kindPlan, func() row { return &Plan{} }, readPlan)},
	Assessments: {paired(kindVerification, func() row { return &Verification{} }, readAssessment)},
	Decisions:   {decisionSource()},
	Nodes:       {}, // see scanNodes
}

// plain is a source whose key is one id.
func plain(kind byte, empty func() row, read func(*State, []string, row) schema.Record) source {
	return source{
		kind: kind, empty: empty, read: read,
		key:  func(parts []string) string { return parts[1] },
		seek: func(_, from string) ([]string, bool) { return []string{from}, true },
	}
}

// scoped is a source whose key is an id behind a scope.
func scoped(scope string, kind byte, empty func() row, read func(*State, []string, row) schema.Record) source {
	return source{
		kind: kind, empty: empty, read: read,
		key: func(parts []string) string { return scope + parts[len(parts)-1] },
		seek: func(contract, from string) ([]string, bool) {
			id, in := strings.CutPrefix(from, scope)
			if !in {
				return nil, from < scope
			}
			if kind == kindExposure {
				return nil, id <= contract
			}
			return []string{id}, true
		},
	}
}

// paired is a source whose key is a run and an id of the run: both as subject
// tokens with a slash between, so that no id can be taken for two.
func paired(kind byte, empty func() row, read func(*State, []string, row) schema.Record) source {
	return source{
		kind: kind, empty: empty, read: read,
		key:  func(parts []string) string { return PairKey(parts[1], parts[2]) },
		seek: func(_, from string) ([]string, bool) { return SplitPairKey(from), true },
	}
}

// PairKey is the key of a document that belongs to a run: <run>/<id>, both as
// subject tokens.
func PairKey(runID, id string) string {
	return schema.EncodeToken(runID) + "/" + schema.EncodeToken(id)
}

// SplitPairKey returns the run and the id of a key that PairKey made; the id
// may be missing.
func SplitPairKey(key string) []string {
	var parts []string
	for token := range strings.SplitSeq(key, "/") {
		if part, ok := schema.DecodeLongToken(token); ok {
			parts = append(parts, part)
		}
	}
	return parts
}

func ledgerSource() source {
	return source{
		kind: kindLedger, empty: func() row { return &Ledger{} }, read: readMission,
		key:  func(parts []string) string { return parts[0] },
		seek: func(contract, from string) ([]string, bool) { return nil, from <= contract },
	}
}

func decisionSource() source {
	return source{
		kind: kindDecision, empty: func() row { return &Decided{} }, read: readDecision,
		key: func(parts []string) string {
			var seq uint64
			for i := range len(parts[1]) {
				seq = seq<<8 | uint64(parts[1][i])
			}
			return strconv.FormatUint(seq, 10)
		},
		seek: func(_, from string) ([]string, bool) {
			seq, err := strconv.ParseUint(from, 10, 64)
			if err != nil {
				return nil, from == ""
			}
			return []string{sequencePart(seq)}, true
		},
	}
}

// scan calls f for the documents of one contract in order, from a key on.
func (list sources) scan(r *Reader, projection, contract, from string, f func(*Document) bool) (more bool, err error) {
	for i := range list {
		seek := []string(nil)
		if from != "" {
			var ok bool
			if seek, ok = list[i].seek(contract, from); !ok {
				continue
			}
		}
		more, err := list[i].scan(r, projection, contract, seek, f)
		if err != nil || !more {
			return more, err
		}
	}
	return true, nil
}

func (src *source) scan(r *Reader, projection, contract string, seek []string, f func(*Document) bool) (more bool, err error) {
	prefix := appendKey(nil, src.kind, contract)
	lower := prefix
	for _, part := range seek {
		lower = appendPart(lower[:len(lower):len(lower)], part)
	}
	more = true
	failed := r.state.rows.Scan(lower, after(prefix), false, func(key, value []byte) bool {
		var doc *Document
		if doc, err = src.document(r.state, projection, key, value); err != nil {
			return false
		}
		more = doc == nil || f(doc)
		return more
	})
	if err == nil {
		err = failed
	}
	return more, err
}

func (src *source) document(s *State, projection string, key, value []byte) (*Document, error) {
	parts, err := splitKey(string(key))
	if err != nil {
		return nil, fmt.Errorf("row %q: %w", key, err)
	}
	d := &Document{Projection: projection, Contract: parts[0], Key: src.key(parts)}
	r := src.empty()
	if err := decodeRow(value, &d.Meta, r); err != nil {
		return nil, fmt.Errorf("row %q: %w", key, err)
	}
	record := src.read(s, parts, r)
	if record == nil {
		return nil, s.err
	}
	d.Value = schema.Value(schema.AppendRecord(nil, record))
	return d, s.err
}

// scanNodes shows the nodes of each run that has a graph, in the graph's order:
// a node that nothing happened to has no row.
func (r *Reader) scanNodes(contract, from string, f func(*Document) bool) (more bool, err error) {
	wanted := SplitPairKey(from)
	runFrom := ""
	if len(wanted) > 0 {
		runFrom = wanted[0]
	}
	more = true
	runs := projections[Runs][0]
	_, err = runs.scan(r, Runs, contract, []string{runFrom}, func(d *Document) bool {
		run, _ := r.state.Run(contract, d.Key)
		graph := r.state.Graph(contract, run.GraphID)
		if graph == nil {
			return true
		}
		first := 0
		if len(wanted) == 2 && wanted[0] == d.Key {
			first = max(graph.Find(wanted[1]), 0)
		}
		for i := first; i < len(graph.Nodes) && more; i++ {
			more = f(r.state.nodeDocument(contract, d.Key, graph, i, d.Meta))
		}
		return more
	})
	return more, err
}
