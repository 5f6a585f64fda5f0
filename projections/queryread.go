package projections

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

func document(d *state.Document) wire.Document {
	return wire.Document{
		At: d.Meta.At.String(), Block: d.Meta.LogSeq, Seq: d.Meta.CommandSeq, Key: d.Key, Row: json.RawMessage(d.Value),
	}
}

func checkProjection(name string) error {
	if all := state.Projections(); !slices.Contains(all, name) {
		return wire.Errorf(wire.BadRequest, "there is no projection %q; there are %s", name, strings.Join(all, ", "))
	}
	return nil
}

func (q *queries) get(_ context.Context, contract string, data []byte) (any, error) {
	var r wire.GetRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, err
	}
	if err := checkProjection(r.Projection); err != nil {
		return nil, err
	}
	return q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		d, ok, err := reader.Get(r.Projection, contract, r.Key)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, wire.Errorf(wire.NotFound, "no %s %q in contract %q", r.Projection, r.Key, contract)
		}
		return wire.GetResponse{AsOf: asOf, Document: document(d)}, nil
	})
}

func (q *queries) list(ctx context.Context, contract string, data []byte) (any, error) {
	var r wire.ListRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, err
	}
	if err := checkProjection(r.Projection); err != nil {
		return nil, err
	}
	if err := checkFilters(&r); err != nil {
		return nil, err
	}
	limit, err := pageLimit(r.Limit)
	if err != nil {
		return nil, err
	}
	return q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		p := page{ctx: ctx, request: &r, limit: limit, bytes: q.o.Limits.Page, rows: q.o.Limits.ScanRows}
		if err := reader.Documents(r.Projection, contract, p.from(), p.add); err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return wire.ListResponse{AsOf: asOf, Documents: p.documents(), Next: p.next}, nil
	})
}

// checkFilters refuses a state or an outcome that no document of the projection
// can have: a misspelt filter is an error and not an empty list.
func checkFilters(r *wire.ListRequest) error {
	states := wire.States[r.Projection]
	switch {
	case r.State != "" && states == nil:
		return wire.Errorf(wire.BadRequest, "documents of %s have no state", r.Projection)
	case r.State != "" && !slices.Contains(states, r.State):
		return wire.Errorf(wire.BadRequest, "%s have no state %q; there are %s", r.Projection, r.State, strings.Join(states, ", "))
	case r.Outcome != "" && r.Projection != state.Decisions:
		return wire.Errorf(wire.BadRequest, "documents of %s have no outcome", r.Projection)
	case r.Outcome != "" && !slices.Contains(wire.Outcomes, r.Outcome):
		return wire.Errorf(wire.BadRequest, "there is no outcome %q; there are %s", r.Outcome, strings.Join(wire.Outcomes, ", "))
	}
	return nil
}

func pageLimit(limit int) (int, error) {
	switch {
	case limit == 0:
		return wire.DefaultPage, nil
	case limit < 0 || limit > wire.MaxPage:
		return 0, wire.Errorf(wire.BadRequest, "limit is 1 to %d", wire.MaxPage)
	}
	return limit, nil
}

// page collects documents until one of its bounds is reached.
type page struct {
	ctx     context.Context
	request *wire.ListRequest
	limit   int // documents still wanted
	bytes   int // still free
	rows    int // that may still be looked at
	last    string
	found   []wire.Document
	next    string
}

// paired are the projections whose keys begin with the run, so that the
// documents of one run stand together.
var paired = []string{state.Assessments, state.Nodes, state.Plans}

func (p *page) ofRun() bool {
	return p.request.Run != "" && slices.Contains(paired, p.request.Projection)
}

// from is the first key to look at.
func (p *page) from() string {
	if p.request.After == "" && p.ofRun() {
		return schema.EncodeToken(p.request.Run) + "/"
	}
	return p.request.After
}

func (p *page) add(d *state.Document) bool {
	if d.Key == p.request.After {
		return true
	}
	if p.limit == 0 || p.rows == 0 || p.bytes <= 0 {
		p.next = p.last
		return false
	}
	p.rows--
	p.last = d.Key
	switch {
	case !p.matches("runId", p.request.Run, d.Value):
		return !p.ofRun() && p.ctx.Err() == nil
	case p.matches("state", p.request.State, d.Value) && p.matches("outcome", p.request.Outcome, d.Value):
		p.limit--
		p.bytes -= len(d.Value)
		p.found = append(p.found, document(d))
	}
	return p.ctx.Err() == nil
}

func (*page) matches(member, want string, value schema.Value) bool {
	if want == "" {
		return true
	}
	found, _ := value.Member(member)
	text, ok := found.Str()
	return ok && text == want
}

// documents is never nil: an empty page is an empty array.
func (p *page) documents() []wire.Document {
	if p.found == nil {
		return []wire.Document{}
	}
	return p.found
}

func (q *queries) contracts(ctx context.Context, _ string, data []byte) (any, error) {
	var r wire.ContractsRequest
	if err := wire.Decode(data, &r); err != nil {
		return nil, err
	}
	limit, err := pageLimit(r.Limit)
	if err != nil {
		return nil, err
	}
	return q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		contracts, err := reader.ContractsAfter(r.After, limit+1)
		if err != nil {
			return nil, err
		}
		answer := wire.ContractsResponse{AsOf: asOf, Documents: []wire.Document{}}
		if len(contracts) > limit {
			contracts = contracts[:limit]
			answer.Next = contracts[limit-1]
		}
		for _, contract := range contracts {
			d, ok, err := reader.Get(state.Missions, contract, contract)
			if err != nil {
				return nil, err
			}
			if ok {
				answer.Documents = append(answer.Documents, document(d))
			}
		}
		return answer, ctx.Err()
	})
}

func (q *queries) status(_ context.Context, _ string, data []byte) (any, error) {
	if err := wire.Decode(data, &wire.StatusRequest{}); err != nil {
		return nil, err
	}
	answer := q.o.Status()
	if v, err := q.o.View(); err == nil {
		answer.AsOf = asOf(v.Cursor())
		return answer, v.Close()
	}
	return answer, nil
}

// digest is the state digest: the hash of all documents of the five named
// projections, sorted, a line each (DESIGN 4).
func (q *queries) digest(ctx context.Context, _ string, data []byte) (any, error) {
	if err := wire.Decode(data, &wire.DigestRequest{}); err != nil {
		return nil, err
	}
	return q.view(func(reader *state.Reader, asOf wire.AsOf) (any, error) {
		sum := sha256.New()
		var line []byte
		for _, projection := range state.Named {
			err := reader.Documents(projection, "", "", func(d *state.Document) bool {
				line = append(d.AppendLine(line[:0]), '\n')
				sum.Write(line)
				return ctx.Err() == nil
			})
			if err != nil {
				return nil, err
			}
		}
		return wire.DigestResponse{AsOf: asOf, StateDigest: hex.EncodeToString(sum.Sum(nil))}, ctx.Err()
	})
}
