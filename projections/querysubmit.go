package projections

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
)

// submit publishes a command for a client that may not touch JetStream, and
// answers with the decision. Of the client's headers only the command id goes
// on, so that nothing can be forged through the others.
//
// It runs on the endpoint's goroutine up to the publishing, so that the
// commands of one client keep their order.
func (q *queries) submit(r micro.Request) {
	reply := r.Reply()
	subject, ok := wire.CommandSubject(r.Subject())
	if !ok || reply == "" {
		return
	}
	ids := r.Headers().Values(wire.HeaderCommandID)
	if len(ids) == 0 {
		ids = []string{nuid.Next()}
	}
	principal := strings.Split(subject, ".")[3]
	if err := q.quota.take(principal); err != nil {
		err.ID = ids[0]
		q.refuse(reply, err)
		return
	}
	pending := q.out.Prepare(subject, ids, r.Data())
	if err := pending.Send(); err != nil {
		q.release(principal, pending)
		q.refuse(reply, &wire.Error{Code: wire.Unavailable, Message: err.Error(), ID: ids[0]})
		return
	}
	q.running.Go(func() {
		defer q.release(principal, pending)
		q.decided(reply, ids[0], pending)
	})
}

func (q *queries) release(principal string, p *exchange.Pending) {
	p.Forget()
	q.quota.give(principal)
}

// decided waits for the decision and answers with it.
func (q *queries) decided(reply, id string, p *exchange.Pending) {
	ctx, cancel := context.WithTimeout(q.ctx, q.o.Limits.Submit)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			q.refuse(reply, &wire.Error{Code: wire.Timeout, ID: id, Message: "no decision in " + q.o.Limits.Submit.String() +
				"; the command may still be decided: send it again under the same id, or ask for the decision"})
			return
		case a := <-p.Answers:
			switch {
			case a.Err != nil:
				q.refuse(reply, submitError(a.Err, id))
				return
			case a.Record != nil:
				q.send(&nats.Msg{Subject: reply, Data: a.Record, Header: nats.Header{
					wire.HeaderFinal: {strconv.FormatBool(a.Final)}, wire.HeaderCommandID: {id},
				}})
				return
			}
		}
	}
}

func submitError(err error, id string) *wire.Error {
	e := &wire.Error{Code: wire.Unavailable, Message: err.Error(), ID: id}
	switch {
	case errors.Is(err, exchange.ErrFull):
		e.Code = wire.InboxFull
	case errors.Is(err, exchange.ErrTooLarge):
		e.Code = wire.BadRequest
	}
	return e
}

// quota bounds the commands that wait for a decision, of each principal and of
// all, so that one that never waits takes nothing from the others.
type quota struct {
	total, each int

	mu  sync.Mutex
	all int
	out map[string]int
}

func (q *quota) take(principal string) *wire.Error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.out[principal] >= q.each:
		return wire.Errorf(wire.Quota, "%d commands of this principal wait for a decision; wait for some of them", q.each)
	case q.all >= q.total:
		return wire.Errorf(wire.Busy, "%d commands wait for a decision; send again", q.total)
	}
	q.out[principal]++
	q.all++
	return nil
}

func (q *quota) give(principal string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all--
	if q.out[principal]--; q.out[principal] == 0 {
		delete(q.out, principal)
	}
}
