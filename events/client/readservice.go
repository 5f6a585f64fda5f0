package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aiws-reducer/aiws-reducer/events"
	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/schema"
)

// errContract: a question is about one contract.
var errContract = errors.New("through the service the decisions of one contract are read: name it")

// history reads the decisions of a contract from the service.
func (r *logReader) history(ctx context.Context, yield func(Entry, error) bool) (more bool, err error) {
	if r.o.Contract == "" {
		return true, errContract
	}
	ctx, stop := r.client.whileConnected(ctx)
	defer stop()
	for {
		page, err := r.page(ctx)
		if err != nil && (r.begun && !errors.Is(err, ErrNotPermitted) || busy(err)) {
			err = &lostReader{err}
		}
		if err != nil {
			return true, err
		}
		r.begun = true
		for i := range page.Decisions {
			entry, err := r.entry(&page.Decisions[i])
			if err != nil {
				return true, err
			}
			if !yield(entry, nil) {
				return false, nil
			}
			r.after = entry.Decision.CommandSeq
		}
		switch {
		case page.Next > 0:
			r.after = max(r.after, page.Next)
		case !r.o.Follow:
			return false, nil
		default:
			r.after, r.caught = max(r.after, page.AsOf.Seq), true // all up to there was looked at
		}
	}
}

func (r *logReader) page(ctx context.Context) (page wire.HistoryResponse, err error) {
	request := wire.HistoryRequest{After: r.after, Commands: true, Limit: wire.MaxPage}
	waits := r.caught && time.Now().After(r.crowded)
	switch {
	case waits:
		request.Wait = serviceWait.Milliseconds()
	case r.caught:
		sleep(ctx, crowdedPace)
	}
	err = r.client.askFor(ctx, r.client.o.Request+time.Duration(request.Wait)*time.Millisecond, wire.History, r.o.Contract, request, &page)
	if waits && crowd(err) {
		r.crowded = time.Now().Add(crowdedFor)
		return r.page(ctx)
	}
	return page, err
}

// entry is a decision of the history. The chain of the ledger says that none is
// missing and none was changed.
func (r *logReader) entry(d *wire.Decided) (Entry, error) {
	decision, err := events.ParseDecision(d.Record)
	if err != nil {
		return Entry{}, fmt.Errorf("block %d: %w", d.Block, err)
	}
	if !decision.CheckHash() || r.prev != "" && decision.Prev != r.prev {
		return Entry{}, fmt.Errorf("command %d: %w: it is not chained to the decision before it", decision.CommandSeq, events.ErrDamaged)
	}
	r.prev = decision.Hash
	message := events.Message{Seq: decision.CommandSeq, Body: d.Command}
	if decision.Type != "" {
		message.Subject = schema.Subject{Contract: decision.Contract, Principal: decision.Principal, Type: decision.Type}.String()
	}
	if decision.CommandID != "" {
		message.IDs = []string{decision.CommandID}
	}
	return Entry{Block: d.Block, Entry: events.Entry{Message: message, Decision: decision, Record: d.Record}}, nil
}
