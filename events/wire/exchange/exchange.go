// Package exchange publishes commands into the inbox, or gives them to the micro
// service, and hears what becomes of them: the inbox's acknowledgement, and the
// decision, which is what counts. It sends nothing twice by itself and gives nothing up: how long to wait and what
// to do then is for the caller.
package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"github.com/aiws-reducer/aiws-reducer/events/wire"
)

// Why the inbox did not take a command, or nobody did. It was certainly not
// stored by the sending that this answers. The service's own errors are
// *wire.Error.
var (
	ErrNoService = errors.New("no service takes the command: no reducer answers there")

	ErrNoInbox  = errors.New("no inbox takes the command: no reducer has made its streams there")
	ErrFull     = errors.New("the inbox is full")
	ErrBusy     = errors.New("the inbox takes commands faster than it can write them")
	ErrTooLarge = errors.New("the inbox takes no command of this size")
	ErrRefused  = errors.New("the inbox refused the command")
)

// Error codes of the JetStream API.
const (
	codeTooLarge    = 10054
	codeStoreFailed = 10077 // the stream is full, as a whole or for one subject
	codeTooMany     = 10167 // more publishes wait for the stream than it keeps
)

// answersKept is how many answers to one command wait for its sender: an
// acknowledgement and a decision for a few sendings of it.
const answersKept = 8

// Answer is one thing heard about a command: stored, not stored (Err), or
// decided (Record).
type Answer struct {
	Record []byte // decision record; nil for an acknowledgement
	Final  bool   // of a decision: false where the same id may be decided again
	Err    error  // the inbox did not take it; or a *wire.Error of the service
}

// Exchange is the sending end of one connection. It is safe for concurrent use.
type Exchange struct {
	nc     *nats.Conn
	prefix string
	sub    *nats.Subscription

	mu      sync.Mutex
	last    uint64
	pending map[uint64]*Pending
}

// New listens for answers on nc.
func New(nc *nats.Conn) (*Exchange, error) {
	e := &Exchange{nc: nc, prefix: nc.NewInbox() + ".", pending: map[uint64]*Pending{}}
	if !strings.HasPrefix(e.prefix, wire.ReplyPrefix) {
		return nil, fmt.Errorf("the connection's inbox prefix makes inboxes such as %q; a reducer answers only to one that begins with %q", e.prefix, wire.ReplyPrefix)
	}
	var err error
	if e.sub, err = nc.Subscribe(e.prefix+"*.*", e.receive); err != nil {
		return nil, fmt.Errorf("listen for decisions: %w", err)
	}
	return e, nil
}

// Close stops listening. Commands that wait hear nothing more.
func (e *Exchange) Close() {
	_ = e.sub.Unsubscribe() // the connection may be gone
}

// Pending is one command that waits for answers.
type Pending struct {
	Answers <-chan Answer

	exchange *Exchange
	id       uint64
	message  *nats.Msg
	answers  chan Answer
	before   error // last error of the connection before the sending
}

// Prepare makes a command ready to be sent into the inbox. Its reply headers are
// set here.
func (e *Exchange) Prepare(subject string, ids []string, body []byte) *Pending {
	p, reply := e.pend()
	p.message = &nats.Msg{
		Subject: subject, Data: body, Reply: reply + ".a",
		Header: nats.Header{wire.HeaderCommandID: ids, wire.HeaderReply: {reply + ".d"}},
	}
	return p
}

// PrepareSubmit makes a command ready to be sent to the service, at a subject of
// [wire.SubmitSubject].
func (e *Exchange) PrepareSubmit(subject string, ids []string, body []byte) *Pending {
	p, reply := e.pend()
	p.message = &nats.Msg{Subject: subject, Data: body, Reply: reply + ".s", Header: nats.Header{wire.HeaderCommandID: ids}}
	return p
}

func (e *Exchange) pend() (p *Pending, reply string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	answers := make(chan Answer, answersKept)
	p = &Pending{exchange: e, id: e.last, answers: answers, Answers: answers}
	e.pending[p.id] = p
	return p, e.prefix + strconv.FormatUint(p.id, 10)
}

// Send publishes the command. Commands of one connection arrive in the order in
// which they were sent.
func (p *Pending) Send() error {
	p.before = p.exchange.nc.LastError()
	if err := p.exchange.nc.PublishMsg(p.message); err != nil {
		return fmt.Errorf("publish to %s: %w", p.message.Subject, err)
	}
	return nil
}

// Forget ends the waiting.
func (p *Pending) Forget() {
	p.exchange.mu.Lock()
	defer p.exchange.mu.Unlock()
	delete(p.exchange.pending, p.id)
}

// Refusal is what the server says about publishing to the command's subject
// when this user may not, or nil. The server tells it beside all answers.
func (p *Pending) Refusal() error {
	err := p.exchange.nc.LastError()
	if err == nil || errors.Is(err, p.before) || !errors.Is(err, nats.ErrPermissionViolation) || !strings.Contains(err.Error(), `"`+p.message.Subject+`"`) {
		return nil
	}
	return err
}

// receive takes one answer, on the subscription's goroutine.
func (e *Exchange) receive(m *nats.Msg) {
	number, kind, _ := strings.Cut(strings.TrimPrefix(m.Subject, e.prefix), ".")
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return
	}
	answer := Answer{Record: m.Data, Final: m.Header.Get(wire.HeaderFinal) != "false"}
	switch kind {
	case "a":
		answer = acknowledgement(m)
	case "s":
		answer.Err = serviceError(m)
	}
	if answer.Err != nil {
		answer.Record = nil
	}
	e.mu.Lock()
	p := e.pending[id]
	e.mu.Unlock()
	if p == nil {
		return // answered before
	}
	select {
	case p.answers <- answer:
	default: // its sender has enough to look at
	}
}

// serviceError is what an answer of the service says instead of a decision, or
// nil.
func serviceError(m *nats.Msg) error {
	code := m.Header.Get(micro.ErrorCodeHeader)
	switch {
	case len(m.Data) == 0 && m.Header.Get("Status") == "503":
		return ErrNoService
	case code == "":
		return nil
	}
	e := &wire.Error{}
	if err := json.Unmarshal(m.Data, e); err != nil || e.Code == "" {
		return fmt.Errorf("%w: the service answers %s: %s", ErrRefused, code, m.Header.Get(micro.ErrorHeader))
	}
	return e
}

func acknowledgement(m *nats.Msg) Answer {
	if len(m.Data) == 0 && m.Header.Get("Status") == "503" {
		return Answer{Err: ErrNoInbox}
	}
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil {
		return Answer{Err: fmt.Errorf("%w: not an answer of a stream: %w", ErrRefused, err)}
	}
	if ack.Error == nil {
		return Answer{}
	}
	kind := ErrRefused
	switch ack.Error.Code {
	case codeStoreFailed:
		kind = ErrFull
	case codeTooMany:
		kind = ErrBusy
	case codeTooLarge:
		kind = ErrTooLarge
	}
	return Answer{Err: fmt.Errorf("%w: %s (JetStream error %d)", kind, ack.Error.Description, ack.Error.Code)}
}
