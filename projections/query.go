package projections

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
	"github.com/aiws-reducer/aiws-reducer/events/wire/exchange"
	"github.com/aiws-reducer/aiws-reducer/reducer/state"
)

// QueryOptions are those of the micro service. Fields that say so may be left
// out.
type QueryOptions struct {
	// Connect makes a connection for the service, which closes it. It is called for
	// each of three: requests, those that stop something, and answers; and again
	// when one of them is lost for good. They may be one and the same.
	Connect func(ctx context.Context) (*nats.Conn, error)
	// View shows the store as of the last block; [Home.View].
	View func() (*View, error)
	// Status tells what the loop does. AsOf is filled in here.
	Status func() wire.StatusResponse
	// Checkpoint makes a checkpoint; [Home.Checkpoint]. Optional.
	Checkpoint func() (*Checkpoint, error)
	// Outlook says what an unsettled attempt waits for. Optional.
	Outlook Outlook

	Shard   int64
	Version string       // semantic version of the service; optional
	Log     *slog.Logger // optional
	Limits  QueryLimits  // zero fields get their defaults
}

// QueryLimits bound what clients can make a reducer do.
type QueryLimits struct {
	Workers  int           // questions worked on at a time; one for each CPU, at least 2
	Waiting  int           // questions that wait for a worker, 256; more are told BUSY, 10,000 a second at most
	Timeout  time.Duration // of a question, waiting included, 5 s
	Digest   time.Duration // of a digest, 30 s; one is made at a time
	Operator time.Duration // of a checkpoint, or of a digest of all rows, 30 min
	ScanRows int           // rows looked at for one page, 50,000
	Page     int           // bytes of a page, 1 MiB, and one document at least

	ScanBlocks int // blocks of the log read for one page, 32

	Submits      int           // commands of submit without a decision, 1,024
	PerPrincipal int           // of them of one principal, 64; more are told QUOTA, 10,000 a second at most
	Submit       time.Duration // how long submit waits for a decision, 10 s

	Waits         int // questions that wait for something to answer with, 1,024
	WaitsContract int // of them about one contract, 256
	WaitsInbox    int // of them with inboxes of one owner, 64
}

func (l QueryLimits) withDefaults() QueryLimits {
	count := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	duration := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	count(&l.Workers, max(2, runtime.GOMAXPROCS(0)))
	count(&l.Waiting, 256)
	count(&l.ScanRows, 50_000)
	count(&l.Page, 1<<20)
	count(&l.ScanBlocks, 32)
	count(&l.Submits, 1024)
	count(&l.PerPrincipal, 64)
	count(&l.Waits, 1024)
	count(&l.WaitsContract, 256)
	count(&l.WaitsInbox, 64)
	duration(&l.Timeout, 5*time.Second)
	duration(&l.Digest, 30*time.Second)
	duration(&l.Operator, 30*time.Minute)
	duration(&l.Submit, 10*time.Second)
	return l
}

const queryRetry = time.Second // pause before the service connects again

// ServeQueries answers questions until ctx ends, which is no error. A lost
// connection is made again.
func ServeQueries(ctx context.Context, o QueryOptions) error {
	if o.Connect == nil || o.View == nil || o.Status == nil {
		return errors.New("queries: Connect, View and Status are needed")
	}
	if o.Version == "" {
		o.Version = "0.0.0"
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Limits = o.Limits.withDefaults()
	for {
		err := serveOnce(ctx, o)
		if ctx.Err() != nil {
			return nil
		}
		o.Log.Warn("the query service lost its connection", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(queryRetry):
		}
	}
}

// queries is the service. Requests come in on a connection of their own: while a
// flood of them waits there to be read, or the server gives the connection up
// over it, the server still takes the commands that were read, and their
// acknowledgements and decisions still arrive. So do, on another one, commands
// that stop something.
type queries struct {
	o       QueryOptions
	nc      *nats.Conn       // for everything but requests
	log     jetstream.Stream // of decisions; opened when first needed
	bucket  jetstream.Stream // of the KV mirror, likewise
	openLog sync.Mutex
	out     *exchange.Exchange // commands of submit

	ctx     context.Context // ends with the connection or the service
	running sync.WaitGroup
	quota   quota
	waits   waits
	bell    bell

	refusals refusals
}

// lane bounds how many questions are worked on at a time and how many wait.
type lane struct {
	waiting, working chan struct{}
}

func newLane(waiting, working int) *lane {
	return &lane{waiting: make(chan struct{}, waiting), working: make(chan struct{}, working)}
}

// serveOnce answers until ctx ends or a connection is closed.
func serveOnce(ctx context.Context, o QueryOptions) error {
	var conns [3]*nats.Conn
	var closed [len(conns)]chan nats.Status // the connections' own handlers stay what they are
	for i := range conns {
		nc, err := o.Connect(ctx)
		if err != nil {
			return err
		}
		defer nc.Close()
		conns[i], closed[i] = nc, nc.StatusChanged(nats.CLOSED)
	}
	requests, stopping, nc := conns[0], conns[1], conns[2]
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := &queries{
		o: o, nc: nc, ctx: ctx,
		quota: quota{total: o.Limits.Submits, each: o.Limits.PerPrincipal, out: map[string]int{}},
		waits: waits{total: o.Limits.Waits, ledger: o.Limits.WaitsContract, owner: o.Limits.WaitsInbox, of: map[string]int{}},
		bell:  bell{ledgers: map[string]*listeners{}},
	}
	var err error
	if q.out, err = exchange.New(nc); err != nil {
		return err
	}
	defer q.out.Close()
	services, err := q.register(requests, stopping)
	if err == nil {
		q.running.Go(q.ringing)
		select {
		case <-ctx.Done():
		case <-closed[0]:
			err = nats.ErrConnectionClosed
		case <-closed[1]:
			err = nats.ErrConnectionClosed
		case <-closed[2]:
			err = nats.ErrConnectionClosed
		}
	}
	for _, service := range slices.Backward(services) { // each gives back the handlers that it found
		err = errors.Join(err, service.Stop())
	}
	cancel()
	q.running.Wait()
	return err
}

// endpoint is one question: how it is answered and how long that may take.
type endpoint struct {
	name    wire.Endpoint
	answer  func(ctx context.Context, contract string, request []byte) (any, error)
	timeout time.Duration
	lane    *lane
}

// register begins to take requests. What it returns is stopped by the caller,
// with an error, too.
func (q *queries) register(requests, stopping *nats.Conn) ([]micro.Service, error) {
	service, err := q.service(stopping, wire.Service+"-stopping", "AIWS reducer: commands of "+wire.Service+" that stop something, which have a queue of their own each")
	if err != nil {
		return nil, err
	}
	services := []micro.Service{service}
	if err := errors.Join(q.addStopping(service), stopping.Flush()); err != nil {
		return services, err
	}
	service, err = q.service(requests, wire.Service, "AIWS reducer: documents, decisions, plans; and commands for clients without JetStream")
	if err != nil {
		return services, err
	}
	services = append(services, service)
	limits := &q.o.Limits
	rows := newLane(limits.Waiting, limits.Workers)
	logs := newLane(limits.Waiting, 1) // questions that cost more do not take the workers of those that cost little
	for _, e := range []endpoint{
		{wire.Get, q.get, limits.Timeout, rows},
		{wire.List, q.list, limits.Timeout, rows},
		{wire.Decision, q.decision, limits.Timeout, rows},
		{wire.Plan, q.plan, limits.Timeout, rows},
		{wire.ListUnsettled, q.unsettled, limits.Timeout, logs},
		{wire.Contracts, q.contracts, limits.Timeout, rows},
		{wire.Status, q.status, limits.Timeout, newLane(limits.Waiting, 1)}, // answers when the others cannot
		{wire.Digest, q.digest, limits.Digest, newLane(2, 1)},
		{wire.Heads, q.heads, limits.Timeout, rows},
		{wire.MakeCheckpoint, q.checkpoint, limits.Operator, newLane(1, 1)},
		{wire.Rows, q.rows, limits.Operator, newLane(1, 1)},
	} {
		err = errors.Join(err, q.add(service, e.name, func(r micro.Request) { q.ask(&e, r) }))
	}
	for _, w := range []waitable{{wire.History, q.history, logs}, {wire.Changes, q.changes, newLane(limits.Waiting, 1)}} {
		err = errors.Join(err, q.add(service, w.name, func(r micro.Request) { q.askPatiently(&w, r) }))
	}
	return services, errors.Join(err, q.addSubmit(service)) // last: UntilServed waits for it
}

func (q *queries) service(nc *nats.Conn, name, description string) (micro.Service, error) {
	service, err := micro.AddService(nc, micro.Config{
		Name:        name,
		Version:     q.o.Version,
		Description: description,
		Metadata:    map[string]string{"shard": strconv.FormatInt(q.o.Shard, 10)},
	})
	if err != nil {
		return nil, fmt.Errorf("micro service %s: %w", name, err)
	}
	return service, nil
}

// Bounds of the requests that wait in the client library for their turn.
const (
	pendingRequests     = 8_192
	pendingRequestBytes = 64 << 20
)

func (q *queries) add(service micro.Service, name wire.Endpoint, handle func(micro.Request)) error {
	request, response, err := wire.EndpointSchemas(name)
	if err != nil {
		return err
	}
	err = service.AddEndpoint(string(name), micro.HandlerFunc(onlyInboxes(handle)),
		micro.WithEndpointSubject(name.Pattern()),
		micro.WithEndpointPendingLimits(pendingRequests, pendingRequestBytes),
		micro.WithEndpointMetadata(map[string]string{"request_schema": request, "response_schema": response}))
	if err != nil {
		return fmt.Errorf("endpoint %s: %w", name, err)
	}
	return nil
}

// ask answers one question beside the others, when a worker is free.
func (q *queries) ask(e *endpoint, r micro.Request) {
	reply, subject, data := r.Reply(), r.Subject(), r.Data()
	if !q.enter(e, reply) {
		return
	}
	q.running.Go(func() {
		answer, err := q.once(e, q.work, subject, data)
		if err != nil {
			q.refuse(reply, err)
			return
		}
		q.respond(reply, answer)
	})
}

// enter takes a place among the questions that wait for a worker.
func (q *queries) enter(e *endpoint, reply string) bool {
	if reply == "" {
		return false
	}
	select {
	case e.lane.waiting <- struct{}{}:
		return true
	default:
	}
	if q.refusals.allow(string(e.name)) {
		q.refuse(reply, wire.Errorf(wire.Busy, "%d questions wait already; ask again", cap(e.lane.waiting)))
	}
	return false
}

// work answers a question that has entered, when a worker is free.
func (q *queries) work(ctx context.Context, e *endpoint, subject string, request []byte) (any, error) {
	select {
	case e.lane.working <- struct{}{}:
		defer func() { <-e.lane.working }()
		<-e.lane.waiting
	case <-ctx.Done():
		<-e.lane.waiting
		return nil, errNoWorker
	}
	return q.answer(ctx, e, subject, request)
}

// again is work on a question that was worked on before.
func (q *queries) again(ctx context.Context, e *endpoint, subject string, request []byte) (any, error) {
	select {
	case e.lane.working <- struct{}{}:
		defer func() { <-e.lane.working }()
	case <-ctx.Done():
		return nil, errNoWorker
	}
	return q.answer(ctx, e, subject, request)
}

var errNoWorker = wire.Errorf(wire.Busy, "no worker was free in time; ask again")

func (q *queries) answer(ctx context.Context, e *endpoint, subject string, request []byte) (any, error) {
	contract := ""
	if !e.name.Global() {
		var ok bool
		if contract, ok = wire.QueryContract(subject); !ok {
			return nil, wire.Errorf(wire.BadRequest, "the subject names no contract; an id in a subject has each byte outside A-Z a-z 0-9 _ - written =XX")
		}
	}
	answer, err := e.answer(ctx, contract, request)
	if err != nil && ctx.Err() != nil {
		return nil, wire.Errorf(wire.Timeout, "it took longer than %s", e.timeout)
	}
	return answer, err
}

// view calls f with the state as of the last block.
func (q *queries) view(f func(reader *state.Reader, asOf wire.AsOf) (any, error)) (answer any, err error) {
	v, err := q.o.View()
	if err != nil {
		return nil, wire.Errorf(wire.Unavailable, "%v", err)
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	return f(state.NewReader(v), asOf(v.Cursor()))
}

func asOf(c state.Cursor) wire.AsOf { return wire.AsOf{Block: c.LogSeq, Seq: c.CommandSeq} }

func (q *queries) respond(reply string, answer any) {
	data, err := marshal(answer)
	if err == nil && int64(len(data)) > q.nc.MaxPayload() {
		err = fmt.Errorf("the answer has %d bytes, the server takes %d", len(data), q.nc.MaxPayload())
	}
	if err != nil {
		q.refuse(reply, err)
		return
	}
	q.send(&nats.Msg{Subject: reply, Data: data})
}

// refuse answers with an error: in the headers of a NATS micro service, and as
// JSON.
func (q *queries) refuse(reply string, err error) {
	e := queryError(err)
	if e.Code == wire.Internal || e.Code == wire.Integrity {
		q.o.Log.Error("a question was not answered", "code", e.Code, "error", err)
	}
	data, err := marshal(e)
	if err != nil {
		q.o.Log.Error("an error was not answered", "error", err)
		return
	}
	q.send(&nats.Msg{Subject: reply, Data: data, Header: nats.Header{
		micro.ErrorCodeHeader: {strconv.Itoa(e.Code.Status())},
		micro.ErrorHeader:     {e.Message},
	}})
}

func (q *queries) send(m *nats.Msg) {
	if err := q.nc.PublishMsg(m); err != nil && q.ctx.Err() == nil {
		q.o.Log.Warn("an answer was not sent", "error", err)
	}
}

// queryError puts any error in the terms of the service.
func queryError(err error) *wire.Error {
	var known *wire.Error
	var store *StoreError
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, state.ErrRow):
		return wire.Errorf(wire.Integrity, "%v", err)
	case errors.As(err, &store):
		return wire.Errorf(wire.Unavailable, "%v", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return wire.Errorf(wire.Timeout, "%v", err)
	}
	return wire.Errorf(wire.Internal, "%v", err)
}

// marshal leaves the canonical texts inside as they are.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
