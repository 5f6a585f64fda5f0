package projections

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"github.com/nats-io/nuid"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
)

// addSubmit takes commands for clients that may not touch JetStream. They share
// one queue, and what finds it full is dropped unread, whoever sent it.
func (q *queries) addSubmit(service micro.Service) error {
	return q.add(service, wire.Submit, func(r micro.Request) {
		if wire.SubmitQueue(r.Subject()[strings.LastIndexByte(r.Subject(), '.')+1:]) == "" {
			q.submit(r)
		}
	})
}

// addStopping takes the types that stop something, each in a queue and all on a
// connection of their own: whoever may not send them cannot keep others from
// stopping it (RULES 4).
func (q *queries) addStopping(service micro.Service) (err error) {
	for _, t := range wire.Stopping {
		err = errors.Join(err, service.AddEndpoint(string(wire.Submit)+"-"+t, micro.HandlerFunc(onlyInboxes(q.submit)),
			micro.WithEndpointSubject(wire.SubmitPattern(t)),
			// Within the queue group of the endpoint for all types, either would get the command.
			micro.WithEndpointQueueGroup(t),
			micro.WithEndpointPendingLimits(pendingRequests, pendingRequestBytes)))
	}
	return err
}

// submit publishes a command and has its decision answered. Of the client's
// headers only the command id goes on, so that nothing can be forged through the
// others.
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
		if q.refusals.allow(principal) {
			err.ID = ids[0]
			q.refuse(reply, err)
		}
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
			case errors.Is(a.Err, exchange.ErrBusy):
				q.resend(ctx, p)
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

const submitRetry = 20 * time.Millisecond // pause before a command that found the inbox busy is sent again

// resend sends a command again, under its id, that was not taken. When that
// fails too the wait for an answer ends with its deadline.
func (q *queries) resend(ctx context.Context, p *exchange.Pending) {
	select {
	case <-ctx.Done():
	case <-time.After(submitRetry):
		_ = p.Send() // a lost connection ends the service
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

// refusals bounds how often a flood is told so: telling takes longer than
// reading, and what is not read in time is dropped, others' requests too.
type refusals struct {
	mu    sync.Mutex
	until time.Time
	told  map[string]int
}

// What one sender, or the askers of one question, are told in that time.
const (
	refusalsTold = 1_000
	refusalsIn   = 100 * time.Millisecond
)

func (r *refusals) allow(who string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.After(r.until) {
		r.until, r.told = now.Add(refusalsIn), map[string]int{}
	}
	r.told[who]++
	return r.told[who] <= refusalsTold
}
